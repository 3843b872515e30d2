// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// OpenSslUse: guards calls of OpenSSL at the end of the process. OpenSSL shuts down in an exit handler and cannot be
// initialized again. But the threads of the default executor are never joined, and a static object of the user may hold
// a connection for even longer. So code that may run after that handler must check first:
//
//   const OpenSslUse use;
//   if (use) SSL_CTX_free(context); else OpenSslUse::Abandon(context);
//
// The I/O thread of the process is joined before the handler runs (event_loop.cc) and need not check.
//
// OpenSSL also keeps objects for each thread, such as random generators, and frees them when the thread ends, but no
// longer once its handler has run. The threads of an executor may end later than that, so they free these objects at
// the end of each use.
#ifndef KGEN_SRC_NET_OPENSSL_USE_H_
#define KGEN_SRC_NET_OPENSSL_USE_H_

#include "core/memory/mutex.h"

namespace kgen::net {

// OpenSSL stays usable while an OpenSslUse exists. The exit of the process waits for it, so code in its scope must not
// wait for a file, for a peer or for user code. May be used on any thread, by one thread at a time: others wait. May be
// nested.
class OpenSslUse {
 public:
  // The analysis would report that the mutex is still held at the end. The destructor of `lock_` releases it.
  OpenSslUse() KGEN_NO_THREAD_SAFETY_ANALYSIS;
  ~OpenSslUse();
  OpenSslUse(const OpenSslUse&) = delete;
  OpenSslUse& operator=(const OpenSslUse&) = delete;

  // False if OpenSSL has shut down or is about to, and in a forked child (core/memory/fork.h), where another thread may
  // have held its locks. Then none of its functions may be called.
  explicit operator bool() const noexcept { return alive_; }

  // Initializes OpenSSL, which registers its exit handler. Code that must end before that handler registers its own
  // handler after this call, because handlers are called in reverse order.
  static void Prepare();

  // Lets OpenSSL keep its objects for the calling thread, which must end before the exit handler of OpenSSL runs.
  static void KeepObjectsOfThread() noexcept;

  // Keeps an object of OpenSSL that can no longer be freed reachable, so that leak checkers do not report it.
  static void Abandon(void* object);

 private:
  const MutexLock<RecursiveMutex> lock_;
  const bool alive_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_OPENSSL_USE_H_
