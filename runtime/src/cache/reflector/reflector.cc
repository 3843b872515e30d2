// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/reflector.h"

#include <algorithm>
#include <utility>

#include "client/request/accept.h"
#include "core/metadata_table.h"
#include "core/observers/notify_observer.h"

namespace kgen::cache {
namespace {

// Differs between processes, because no two of them start an informer of the same name in the same microsecond.
std::uint64_t SeedOf(Clock& clock, std::string_view name) {
  std::uint64_t seed = 1469598103934665603u;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return seed ^ SeedFrom(clock);
}

Shared<client::ReconnectGate> GateOf(const ListWatch& source, const Shared<Executor>& executor) {
  Shared<client::ReconnectGate> gate = source.gate();
  return gate ? std::move(gate) : MakeShared<client::ReconnectGate>(executor);
}

}  // namespace

Reflector::Reflector(Shared<ListWatch> source, const TypeTable& table, DeltaFifo& fifo, Shared<Executor> executor,
                     Shared<Strand> strand, Shared<Observer> observer, InformerSettings settings, Hooks hooks,
                     Shared<SavedCache> saved)
    : source_(std::move(source)),
      table_(table),
      fifo_(fifo),
      executor_(std::move(executor)),
      strand_(std::move(strand)),
      observer_(std::move(observer)),
      settings_(std::move(settings)),
      hooks_(std::move(hooks)),
      saved_(std::move(saved)),
      name_(source_->Describe()),
      gate_(GateOf(*source_, executor_)),
      timer_(executor_, strand_),
      resync_timer_(executor_, strand_),
      resync_(settings_.resync),
      jitter_(SeedOf(*executor_->clock(), name_)),
      intake_(table, name_, observer_, {.drop_managed_fields = settings_.drop_managed_fields}, settings_.transform,
              [this](const ObjectKey& key) { return hooks_.stored ? hooks_.stored(key) : AnyRef(); }),
      version_unusable_(settings_.first_list_newest) {
  if (settings_.shard_by) SetRanges({});
}

void Reflector::Start() {
  if (started_ || std::holds_alternative<Stopped>(state_)) return;
  started_ = true;
  HistoryCheck::Hooks hooks;
  hooks.version = [this] { return version_; };
  hooks.done = [this](Result<std::optional<std::string>> verdict) { OnHistoryChecked(std::move(verdict)); };
  const auto seed = static_cast<std::uint64_t>(jitter_.Between(0, std::int64_t{1} << 62));
  check_ =
      MakeShared<HistoryCheck>(source_, detail::ListedKind(table_), executor_, strand_, gate_, seed, std::move(hooks));
  if (holds_nothing()) return Changed();
  if (saved_) return Restore();
  Go(&Reflector::StartRound);
}

void Reflector::Stop() {
  if (std::holds_alternative<Stopped>(state_)) return;
  const Shared<Reflector> keep(this);
  Become(Stopped());
  if (check_) check_->Stop();
  if (saved_) saved_->EndReading();
  resync_timer_.Cancel();
  hooks_ = {};
}

void Reflector::Sweep() {
  intake_.StartSweep();
  SweepOn();
}

ReflectorStatus Reflector::status() const {
  using Shown = InformerState;
  ReflectorStatus status;
  if (started_ && std::holds_alternative<Idle>(state_)) status.state = Shown::kIdle;
  if (std::holds_alternative<Restoring>(state_)) status.state = Shown::kRestoring;
  if (std::holds_alternative<Asking>(state_) || std::holds_alternative<Listing>(state_)) {
    status.state = Shown::kListing;
  }
  if (std::holds_alternative<Streaming>(state_)) status.state = Shown::kStreaming;
  if (std::holds_alternative<Stopped>(state_)) status.state = Shown::kStopped;
  if (const auto* watching = std::get_if<Watching>(&state_)) {
    status.state = watching->watch.opened ? Shown::kWatching : Shown::kOpening;
  }
  if (const auto* waiting = std::get_if<Waiting>(&state_)) {
    constexpr Shown kReasons[] = {Shown::kQueued, Shown::kDisconnected, Shown::kBackingOff};
    status.state = kReasons[static_cast<int>(waiting->reason)];
  }
  status.failures = failures_;
  status.refusals = refusals_;
  status.refused_since = refused_since_;
  status.current_as_of = current_as_of_;
  status.last_error = last_error_;
  status.resource_version = version_;
  status.lists = lists_;
  status.watches = watches_;
  status.events = events_;
  return status;
}

// ------------------------------------------------------------------------------------------ rounds and waiting

void Reflector::Go(Step step) {
  Go(step, has_been_open_ ? client::ReconnectGate::Purpose::kAgain : client::ReconnectGate::Purpose::kFirst);
}

void Reflector::Go(Step step, client::ReconnectGate::Purpose purpose) {
  Become(Waiting{Waiting::Reason::kTurn, step});
  Turn turn = gate_->Enter(
      purpose, strand_, [self = Shared<Reflector>(this)] { self->OnTurn(); },
      [self = Shared<Reflector>(this)] { self->OnGateClosed(); });
  if (turn.granted()) return (this->*step)(std::move(turn));
  std::get<Waiting>(state_).turn = std::move(turn);
  check_due_ = true;
  OnGateClosed();
  Changed();
}

// A reflector that waits for its turn reports why there is no connection, even if another reflector noticed it.
void Reflector::OnGateClosed() {
  auto* waiting = std::get_if<Waiting>(&state_);
  std::optional<Error> error = gate_->error();
  if (waiting == nullptr || !error) return;
  waiting->reason = Waiting::Reason::kConnection;
  last_error_ = std::move(error);
  Changed();
}

// The turn was granted. It belongs to the current state, because leaving a state drops its turn.
void Reflector::OnTurn() {
  auto* waiting = std::get_if<Waiting>(&state_);
  if (waiting == nullptr) return;
  timer_.Cancel();
  Turn turn = std::move(waiting->turn);
  (this->*waiting->next)(std::move(turn));
}

void Reflector::Wait(Nanos delay, Step step, bool wakes) {
  Become(Waiting{Waiting::Reason::kDelay, step});
  check_due_ = true;  // with no stream open, a restart of the server would go unnoticed
  if (wakes) {
    std::get<Waiting>(state_).turn = gate_->Enter(client::ReconnectGate::Purpose::kOnSuccess, strand_,
                                                  [self = Shared<Reflector>(this)] { self->OnTurn(); });
  }
  timer_.After(delay, TimerKind::kProgress,
               [self = Shared<Reflector>(this)] { self->Go(std::get<Waiting>(self->state_).next); });
  Changed();
}

void Reflector::StartRound(Turn turn) {
  streaming_attempts_ = 0;
  resync_timer_.Cancel();
  check_->Stop();  // a list reveals it as well, and the watch after it is not a resumed one
  if (saved_) return SendQuestion(std::move(turn));
  SendAnyList(std::move(turn));
}

void Reflector::SendAnyList(Turn turn) {
  if (settings_.streaming_list && source_->SupportsStreamingList()) return SendStreaming(std::move(turn));
  SendList(std::move(turn));
}

void Reflector::EndRound(bool watch, const Error& error) { OpeningFailed(watch, error, &Reflector::StartRound); }

// The server refused the request, or sent an invalid response. The cause decides whether to repeat the request or to
// start a new round: if the server asks to wait or is still starting, a new list would gain nothing.
void Reflector::OpeningFailed(bool watch, const Error& error, Step same) {
  const bool asked = error.retry_after_seconds() > 0 || error.code() == Code::kTooManyRequests;
  const bool starting = MayBeStarting(error) && gate_->reconnected_lately();
  const Step next = asked || starting ? same : &Reflector::StartRound;
  if (next == &Reflector::StartRound) resync_timer_.Cancel();
  CountFailure(error);
  const Nanos delay = DelayAfter(error);
  Report(watch, error, delay);
  Wait(delay, next, MayBeStarting(error));
}

Nanos Reflector::DelayAfter(const Error& error) {
  if (error.retry_after_seconds() > 0) return AskedFor(error.retry_after_seconds(), jitter_);
  if (MayBeStarting(error) && gate_->reconnected_lately()) return WhileStarting(jitter_);
  return backoff_.Next(jitter_);
}

void Reflector::Park(bool watch, const Error& error, Step step) {
  check_due_ = true;  // even if the gate is open again
  CountFailure(error);
  Report(watch, error, gate_->UntilProbe());
  Go(step);
}

void Reflector::HistoryGone(const Error& error) {
  constexpr bool kWatch = true;
  CountFailure(error);
  if (++expirations_ == 1) {
    Report(kWatch, error, Nanos(0));
    return Go(&Reflector::StartRound, client::ReconnectGate::Purpose::kRelist);
  }
  resync_timer_.Cancel();
  const Nanos delay = backoff_.Next(jitter_);
  Report(kWatch, error, delay);
  Wait(delay, &Reflector::StartRound, false);
}

// Called only while a watch is resumed or waits to be; a new round stops the check. Without a verdict the watch goes
// on, and the next lost connection starts another check; but a state that was saved is not believed then.
void Reflector::OnHistoryChecked(Result<std::optional<std::string>> verdict) {
  if (!verdict) {
    const Error error = verdict.error().With("failed to check whether the data of the server was replaced");
    Report(false, error, Nanos(0));
    return stale_ ? Go(&Reflector::StartRound) : void();
  }
  check_due_ = false;
  if (!*verdict) return MayBeCurrent();
  const Error error(Code::kExpired, **verdict);
  history_replaced_ = version_unusable_ = true;
  CountFailure(error);
  Report(true, error, Nanos(0));
  Go(&Reflector::StartRound);
}

void Reflector::CountFailure(const Error& error) {
  ++failures_;
  if (!IsRefusal(error)) {
    refusals_ = 0;
  } else if (refusals_++ == 0) {
    refused_since_ = Now();
  }
  last_error_ = error;
}

// A watch is open, so the cache is current, unless it was restored.
void Reflector::CountSuccess() {
  has_been_open_ = true;
  failures_ = refusals_ = 0;
  last_error_.reset();
  NoteCurrent();
  if (const std::size_t failures = std::exchange(reported_, 0)) {
    const Observer::Recovered event{.source = name_, .key = {}, .failures = failures, .after = Now() - reported_since_};
    NotifyObserver(observer_, [&](Observer& o) { o.OnRecovered(event); });
  }
  Changed();
}

void Reflector::Report(bool watch, const Error& error, Nanos retry_in) {
  if (reported_++ == 0) reported_since_ = Now();
  const bool gave_up = refusals_ >= kRefusalsToGiveUp && Now() - refused_since_ >= kRefusedToGiveUp;
  const Observer::ListOrWatchFailed event{name_, watch, &error, std::max(failures_, 1), retry_in, gave_up};
  if (hooks_.on_failure) hooks_.on_failure(error.code());
  NotifyObserver(observer_, [&](Observer& o) { o.OnListOrWatchFailed(event); });
}

void Reflector::Discard(ListedObjects& items) {
  first_list_ = false;
  if (!hooks_.discard || items.empty()) return;
  hooks_.discard(std::exchange(items, {}));
}

void Reflector::Changed() {
  if (hooks_.on_status) hooks_.on_status();
}

// -------------------------------------------------------------------------------------------------- the stream

Reflector::Request& Reflector::Request::operator=(Request&& other) noexcept {
  if (this != &other) {
    Close();
    turn_ = std::move(other.turn_);
    stream_ = std::move(other.stream_);
    call_ = std::move(other.call_);
  }
  return *this;
}

void Reflector::Request::Sent(Shared<Stream> stream, Shared<StreamCall> call) {
  End();
  stream_ = std::move(stream);
  call_ = std::move(call);
}

void Reflector::Request::End() noexcept {
  if (stream_) stream_->Detach();
  stream_ = {};
  if (const Shared<StreamCall> call = std::exchange(call_, {})) call->Cancel();
}

void Reflector::Request::Close() noexcept {
  End();
  turn_.Leave();
}

void Reflector::Open(Request& request, bool watch, const ListOptions& options) {
  encoding_ = Encoding::kJson;
  const auto stream = MakeShared<Stream>(Shared<Reflector>(this));
  request.Sent(stream, watch ? source_->Watch(options, strand_, stream) : source_->List(options, strand_, stream));
}

void Reflector::Settle(Request& request, const Error& error) {
  if (IsNoConnection(error)) {
    request.turn().NoConnection(error);
  } else if (error.status() != nullptr) {
    request.turn().Refused();
  }
}

// The server decides whether it sends protobuf.
void Reflector::OnContentType(std::string_view type) {
  if (!client::IsProtobuf(type) || std::holds_alternative<Asking>(state_)) return;
  encoding_ = Encoding::kProtobuf;
  if (auto* listing = std::get_if<Listing>(&state_)) {
    MakeSplitter(*listing);
  } else if (auto* streaming = std::get_if<Streaming>(&state_)) {
    streaming->decoder = MakeDecoder(encoding_);
  } else {
    std::get<Watching>(state_).decoder = MakeDecoder(encoding_);
  }
}

// Nothing is lost: a list starts anew, and a watch continues behind the last event that was taken.
void Reflector::UseJson(bool watch, const Error& error, Step step) {
  source_->UseJson();
  Report(watch, error.With(name_ + " come as JSON from now on, because their protobuf cannot be used"), Nanos(0));
  if (auto* listing = std::get_if<Listing>(&state_)) listing->list.span.End({.error = &error});
  Go(step);
}

void Reflector::OnOpen() {
  if (auto* listing = std::get_if<Listing>(&state_)) {
    listing->list.answered = true;
    return listing->request.turn().Opened();
  }
  if (auto* asking = std::get_if<Asking>(&state_)) {
    asking->answered = true;
    return asking->request.turn().Opened();
  }
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    streaming->watch.opened = Now();
    return streaming->request.turn().Opened();
  }
  auto& watching = std::get<Watching>(state_);
  watching.watch.opened = Now();
  watching.request.turn().Opened();
  if (stale_ && !current_by_) current_by_ = Now() + kBookmarkDeadline;
  ArmWatchDeadline(watching.watch);
  StartCheck();
  CountSuccess();
}

void Reflector::OnBytes(std::string_view bytes) {
  if (auto* asking = std::get_if<Asking>(&state_)) return OnAnswerBytes(*asking, bytes);
  auto* listing = std::get_if<Listing>(&state_);
  if (listing == nullptr) return OnWatchBytes(bytes);
  listing->list.last_bytes = Now();
  const Result<void> fed = listing->splitter->Feed(bytes);
  if (fed) return;
  if (NeedsJson(fed.error())) return UseJson(false, fed.error(), &Reflector::SendList);
  ListFailed(*listing, fed.error());
}

void Reflector::OnEnd(Result<void> end) {
  if (auto* asking = std::get_if<Asking>(&state_)) return OnAnswer(*asking, end);
  if (auto* listing = std::get_if<Listing>(&state_)) return OnListEnd(*listing, std::move(end));
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    return StreamingEnded(*streaming, Describe(streaming->watch, std::move(end)));
  }
  auto& watching = std::get<Watching>(state_);
  WatchEnded(watching, Describe(watching.watch, std::move(end)));
}

void Reflector::ArmDeadline(Nanos delay, TimerKind kind) {
  timer_.After(std::max(delay, Nanos(0)), kind, [self = Shared<Reflector>(this)] { self->OnDeadline(); });
}

void Reflector::OnDeadline() {
  if (std::holds_alternative<Asking>(state_)) {
    return QuestionFailed({}, Error(Code::kTimeout, "no answer for a minute"));
  }
  if (auto* listing = std::get_if<Listing>(&state_)) return OnListDeadline(*listing);
  if (auto* streaming = std::get_if<Streaming>(&state_)) return OnStreamingDeadline(*streaming);
  if (auto* watching = std::get_if<Watching>(&state_)) return OnWatchDeadline(*watching);
}

}  // namespace kgen::cache
