// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/history_check.h"

#include <charconv>
#include <utility>

#include "cache/reflector/watch_errors.h"
#include "client/request/accept.h"

namespace kgen::cache {
namespace {

using namespace std::chrono_literals;

constexpr int kAttempts = 5;
constexpr Nanos kDeadline = 1min;

std::optional<std::uint64_t> Number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool IsOlderVersion(std::string_view found, std::string_view known) noexcept {
  const std::optional<std::uint64_t> a = Number(found);
  const std::optional<std::uint64_t> b = Number(known);
  return a && b && *a < *b;
}

class HistoryCheck::Sink final : public StreamSink {
 public:
  explicit Sink(Shared<HistoryCheck> owner) noexcept : owner_(std::move(owner)) {}
  void Detach() noexcept { owner_ = {}; }
  void OnContentType(std::string_view type) override {
    if (const Shared<HistoryCheck> owner = owner_) owner->MakeSplitter(client::IsProtobuf(type));
  }
  void OnOpen() override {
    if (const Shared<HistoryCheck> owner = owner_) owner->OnOpen();
  }
  void OnBytes(std::string_view bytes) override {
    if (const Shared<HistoryCheck> owner = owner_) owner->OnBytes(bytes);
  }
  void OnEnd(Result<void> end) override {
    if (const Shared<HistoryCheck> owner = owner_) owner->OnEnd(std::move(end));
  }

 private:
  Shared<HistoryCheck> owner_;
};

HistoryCheck::HistoryCheck(Shared<ListWatch> source, const KindInfo* kind, Shared<Executor> executor,
                           Shared<Strand> strand, Shared<client::ReconnectGate> gate, std::uint64_t seed, Hooks hooks)
    : source_(std::move(source)),
      kind_(kind),
      executor_(std::move(executor)),
      strand_(std::move(strand)),
      gate_(std::move(gate)),
      hooks_(std::move(hooks)),
      jitter_(seed),
      timer_(executor_, strand_) {}

void HistoryCheck::Start() {
  if (std::exchange(running_, true)) return;
  attempts_ = 0;
  backoff_.Reset();
  Ask();
}

void HistoryCheck::Stop() {
  const Shared<HistoryCheck> keep(this);
  running_ = false;
  Close();
}

void HistoryCheck::Close() {
  timer_.Cancel();
  if (sink_) sink_->Detach();
  sink_ = {};
  if (const Shared<StreamCall> call = std::exchange(call_, {})) call->Cancel();
  turn_.Leave();
  splitter_.reset();
}

void HistoryCheck::Ask() {
  turn_ = gate_->Enter(client::ReconnectGate::Purpose::kBackground, strand_,
                       [self = Shared<HistoryCheck>(this)] { self->Send(); });
  if (turn_.granted()) Send();
}

void HistoryCheck::Send() {
  known_ = hooks_.version();
  opened_ = false;
  MakeSplitter(false);
  sink_ = MakeShared<Sink>(Shared<HistoryCheck>(this));
  timer_.After(kDeadline, TimerKind::kProgress,
               [self = Shared<HistoryCheck>(this)] { self->Failed(Error(Code::kTimeout, "no answer for a minute")); });
  ListOptions options;
  options.limit = 1;
  call_ = source_->List(options, strand_, sink_);
}

void HistoryCheck::MakeSplitter(bool protobuf) {
  encoding_ = protobuf ? Encoding::kProtobuf : Encoding::kJson;
  splitter_.emplace([](std::string_view) -> Result<void> { return {}; }, ListSplitter::kMaxItemBytes, encoding_);
}

void HistoryCheck::OnOpen() {
  opened_ = true;
  turn_.Opened();
}

void HistoryCheck::OnBytes(std::string_view bytes) {
  if (const Result<void> fed = splitter_->Feed(bytes); !fed) Failed(fed.error());
}

Result<std::string> HistoryCheck::ReadVersion(Result<void> end) {
  if (!end) return Fail(std::move(end).error());
  Result<meta::v1::ListMeta> meta = splitter_->Finish();
  if (!meta) return Fail(std::move(meta).error());
  if (Result<void> list = CheckListKind(splitter_->envelope(), kind_, splitter_->has_items()); !list)
    return Fail(std::move(list).error());
  return meta->resourceVersion.str();
}

void HistoryCheck::OnEnd(Result<void> end) {
  const Result<std::string> found = ReadVersion(std::move(end));
  if (!found) return Failed(found.error());
  const Shared<HistoryCheck> keep(this);
  Close();
  running_ = false;
  if (!IsOlderVersion(*found, known_)) return hooks_.done(std::nullopt);
  hooks_.done("the server is at version " + *found + ", before version " + known_ +
              " of this cache: its data was replaced, for example restored from an older copy");
}

void HistoryCheck::Failed(const Error& error) {
  const Shared<HistoryCheck> keep(this);
  if (!opened_ && IsNoConnection(error)) {
    turn_.NoConnection(error);
  } else if (error.status() != nullptr) {
    turn_.Refused();
  }
  Close();
  if (encoding_ == Encoding::kProtobuf && error.code() == Code::kDecode) source_->UseJson();
  if (++attempts_ >= kAttempts) {
    running_ = false;
    return hooks_.done(Fail(error));
  }
  if (!opened_ && IsNoConnection(error)) return Ask();
  const Nanos delay =
      error.retry_after_seconds() > 0 ? AskedFor(error.retry_after_seconds(), jitter_) : backoff_.Next(jitter_);
  timer_.After(delay, TimerKind::kProgress, [self = Shared<HistoryCheck>(this)] { self->Ask(); });
}

}  // namespace kgen::cache
