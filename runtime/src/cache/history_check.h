// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HistoryCheck: asks, beside a watch that was resumed after a lost connection or a wait, whether the server still has
// the history that the cache follows.
//
// When etcd is restored from an older copy, versions go back. A watch that resumes from a version of the lost future is
// accepted by the server and stays silent until the new history has overtaken it, and the cache shows a world that no
// longer exists. A consistent list (no resourceVersion, limit=1) tells: with an intact history its version is at least
// that of anything that was received before the list was sent.
//
// What it cannot see: a restored server that has already overtaken the cache's version when it is asked. Versions that
// are no numbers give no verdict.
#ifndef KGEN_RUNTIME_CACHE_HISTORY_CHECK_H_
#define KGEN_RUNTIME_CACHE_HISTORY_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cache/backoff.h"
#include "cache/list_watch.h"
#include "cache/strand_timer.h"
#include "client/gate.h"
#include "codec/list_splitter.h"

namespace kgen::cache {

// Whether `found` comes before `known`: both are numbers, and it is the smaller one.
bool IsOlderVersion(std::string_view found, std::string_view known) noexcept;

// Thread safety: all members on the strand.
// Lifetime: its requests and timers keep it alive until Stop().
class HistoryCheck final : public SharedObject {
 public:
  // Neither is called after Stop(); both may call it.
  struct Hooks {
    std::function<std::string()> version;  // of the cache, at that moment
    // Nothing: the history is the one that we know, or the versions say nothing. A text: it was replaced, and how that
    // was seen. An error: the server could not be asked, five times.
    std::function<void(Result<std::optional<std::string>> verdict)> done;
  };
  HistoryCheck(Shared<ListWatch> source, const KindInfo* kind, Shared<Executor> executor, Shared<Strand> strand,
               Shared<client::Gate> gate, std::uint64_t seed, Hooks hooks);

  void Start();  // nothing if it is under way
  void Stop();   // idempotent

 private:
  class Sink;
  void Ask();
  void Send();
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
  const Shared<client::Gate> gate_;
  const Hooks hooks_;
  Jitter jitter_;
  Backoff backoff_;
  StrandTimer timer_;  // a wait, or the deadline of the list
  bool running_ = false;
  bool opened_ = false;
  int attempts_ = 0;
  std::string known_;  // when the list was sent
  client::Gate::Turn turn_;
  Shared<Sink> sink_;
  Shared<StreamCall> call_;
  std::optional<ListSplitter> splitter_;
};

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_HISTORY_CHECK_H_
