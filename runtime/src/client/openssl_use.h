// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenSSL and the end of the process. OpenSSL takes itself down in an exit handler, and there is no way to bring it
// back; the threads of the default executor are never joined, and a static object of the user may hold a connection
// for even longer. So whatever is not sure to run before that handler asks first:
//
//   const OpenSslUse use;
//   if (use) SSL_CTX_free(context); else OpenSslUse::Abandon(context);
//
// The I/O thread of the process is joined before the handler runs (event_loop.cc) and need not ask.
#ifndef KGEN_SRC_CLIENT_OPENSSL_USE_H_
#define KGEN_SRC_CLIENT_OPENSSL_USE_H_

#include "core/mutex.h"

namespace kgen::net {

// While one lives, OpenSSL lives: the exit of the process waits for it, so nothing below it may wait for a file, for a
// peer or for user code. Any thread; uses of several threads wait for each other; one inside another is right.
class OpenSslUse {
 public:
  // The analysis would report that the mutex is still held at the end: `lock_` releases it in the destructor.
  OpenSslUse() KGEN_NO_THREAD_SAFETY_ANALYSIS;
  OpenSslUse(const OpenSslUse&) = delete;
  OpenSslUse& operator=(const OpenSslUse&) = delete;

  // False: OpenSSL is gone, or is about to be. None of its functions may be called.
  explicit operator bool() const noexcept { return alive_; }

  // The first use is what OpenSSL's handler is registered by. Who must end before it (but after every use) registers
  // its own end later than this: handlers are called in reverse order.
  static void Prepare();

  // Leaves an object of OpenSSL that came too late to be freed to the system, where leak checkers find it.
  static void Abandon(void* object);

 private:
  const MutexLock<RecursiveMutex> lock_;
  const bool alive_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_CLIENT_OPENSSL_USE_H_
