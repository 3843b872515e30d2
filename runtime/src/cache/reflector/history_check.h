// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HistoryCheck: while a watch runs that was resumed after a lost connection or a delay, asks whether the server still
// has the history that the cache follows.
//
// When etcd is restored from a backup, resource versions go back. The server accepts a watch that resumes from a
// version that the restore has lost, but sends no events until the new history has passed that version. Until then the
// cache shows a state that no longer exists. A consistent list (no resourceVersion, limit=1) reveals this: if the
// history is intact, the version of the list is at least the version of anything received before the list was sent.
//
// It does not detect a restored server that has already passed the cache's version when the check runs. Versions that
// are not numbers give no verdict.
#ifndef KGEN_SRC_CACHE_REFLECTOR_HISTORY_CHECK_H_
#define KGEN_SRC_CACHE_REFLECTOR_HISTORY_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cache/reflector/backoff.h"
#include "cache/reflector/list_watch.h"
#include "cache/reflector/strand_timer.h"
#include "client/request/reconnect_gate.h"
#include "codec/list_splitter.h"

namespace kgen::cache {

// True if both versions are numbers and `found` is the smaller one.
bool IsOlderVersion(std::string_view found, std::string_view known) noexcept;

// Thread safety: all members on the strand.
// Lifetime: its requests and timers keep it alive until Stop().
class HistoryCheck final : public SharedObject {
 public:
  // No hook is called after Stop(); a hook may call Stop().
  struct Hooks {
    std::function<std::string()> version;  // the current version of the cache
    // nullopt: the history is intact, or the versions cannot tell. A text: the history was replaced, and how that was
    // detected. An error: the request failed five times.
    std::function<void(Result<std::optional<std::string>> verdict)> done;
  };
  HistoryCheck(Shared<ListWatch> source, const KindInfo* kind, Shared<Executor> executor, Shared<Strand> strand,
               Shared<client::ReconnectGate> gate, std::uint64_t seed, Hooks hooks);

  void Start();  // does nothing if a check is running
  void Stop();   // idempotent

 private:
  class Sink;
  void Ask();
  void Send();
  void MakeSplitter(bool protobuf);
  void OnOpen();
  void OnBytes(std::string_view bytes);
  void OnEnd(Result<void> end);
  void Failed(const Error& error);
  void Close();
  Result<std::string> ReadVersion(Result<void> end);

  const Shared<ListWatch> source_;
  const KindInfo* const kind_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<client::ReconnectGate> gate_;
  const Hooks hooks_;
  Jitter jitter_;
  Backoff backoff_;
  StrandTimer timer_;  // a delay, or the deadline of the list
  bool running_ = false;
  bool opened_ = false;
  Encoding encoding_ = Encoding::kJson;  // of the answer
  int attempts_ = 0;
  std::string known_;  // the version of the cache when the list was sent
  client::ReconnectGate::Turn turn_;
  Shared<Sink> sink_;
  Shared<StreamCall> call_;
  std::optional<ListSplitter> splitter_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_HISTORY_CHECK_H_
