// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/openssl_use.h"

#include <openssl/ssl.h>

#include <vector>

#include "core/execution/thread.h"
#include "core/memory/fork.h"
#include "core/memory/mutex.h"

namespace kgen::net {
namespace {

// The state is never destroyed, because it is used until the process ends.
struct State {
  RecursiveMutex mutex;
  bool gone KGEN_GUARDED_BY(mutex) = false;
  std::vector<void*> abandoned KGEN_GUARDED_BY(mutex);
};

State& TheState() {
  static State& state = *new State;
  return state;
}

thread_local constinit int uses = 0;  // of the calling thread, one within the other
thread_local constinit bool keeps_objects = false;

struct EndAtExit {
  ~EndAtExit() {
    const MutexLock lock(TheState().mutex);
    TheState().gone = true;
  }
};

}  // namespace

void OpenSslUse::Prepare() {
  // OpenSSL registers its exit handler here. Ours is registered later, so it is called first. If other code has used
  // OpenSSL, its handler may already have run.
  static const bool kInitialized = OPENSSL_init_ssl(0, nullptr) == 1;
  static const EndAtExit kEndAtExit;
  if (kInitialized) return;
  const MutexLock lock(TheState().mutex);
  TheState().gone = true;
}

void OpenSslUse::KeepObjectsOfThread() noexcept { keeps_objects = true; }

OpenSslUse::OpenSslUse() : lock_((Prepare(), TheState().mutex)), alive_(!TheState().gone && !detail::ForkedChild()) {
  ++uses;
}

OpenSslUse::~OpenSslUse() {
  if (--uses == 0 && alive_ && !keeps_objects && detail::IsStartedThread()) OPENSSL_thread_stop();
}

void OpenSslUse::Abandon(void* object) {
  const MutexLock lock(TheState().mutex);
  TheState().abandoned.push_back(object);
}

}  // namespace kgen::net
