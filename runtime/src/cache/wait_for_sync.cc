// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/wait_for_sync.h"

#include <algorithm>
#include <string>
#include <utility>

#include "cache/reflector/watch_errors.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/custom_resource.h"
#include "kgen/cache/any_informer.h"
#include "kgen/core/executor.h"
#include "net/duration_text.h"

namespace kgen::cache {
namespace {

std::string_view RefusalWord(Code code) {
  if (code == Code::kUnauthorized) return "unauthorized";
  if (code == Code::kForbidden) return "forbidden";
  return code == Code::kInvalid ? "invalid request" : "not found";
}

std::string Attempts(int n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

std::string Name(const InformerStatus& status) {
  return status.kind.empty() ? status.name : status.name + " (" + status.kind + ")";
}

// Describes an informer that has not synced, without its last error.
std::string Describe(const InformerStatus& status) {
  if (status.refusals > 0) {
    const Code code = status.last_error->code();  // refusals are errors
    std::string text =
        Name(status) + ": " + std::string(RefusalWord(code)) + " after " + Attempts(status.refusals, "attempt");
    if (code != Code::kNotFound) return text;
    const std::string_view question = detail::AskForCrd(status.name, status.last_error->message());
    if (!question.empty()) text.append(", ").append(question);
    return text;
  }
  std::string text = Name(status) + ": " + std::string(ToString(status.state));
  if (status.failures > 0) text += " after " + Attempts(status.failures, "failure");
  if (status.stale) text += "; it holds a saved cache, and waits for a bookmark or a list";
  return text;
}

}  // namespace

class SyncState {
 public:
  SyncState(const Shared<Clock>& clock, std::vector<Shared<Informer>> informers, SyncOptions options,
            const Shared<Waiter>& waker)
      : clock_(clock),
        informers_(std::move(informers)),
        options_(std::move(options)),
        deadline_(options_.give_up_after == kNoLimit ? Waiter::kNoDeadline
                                                     : Later(clock->Now(), options_.give_up_after)) {
    for (const Shared<Informer>& informer : informers_) {
      watches_.push_back(informer->OnStatusChange([waker] { waker->Notify(); }));
    }
    for (const Registration* handler : options_.handlers) {
      if (!handler->listener()) continue;
      handlers_.push_back(handler->listener()->NotifySynced([waker] { waker->Notify(); }, options_.stale));
    }
  }

  std::optional<Result<void>> Poll(const std::stop_token& stop) {
    if (stop.stop_requested() && Done()) return Fail(Code::kCancelled, "a stop was requested");
    if (Done()) return Success();
    const TimePoint now = clock_->Now();
    const Result<void> possible = StillPossible(now);
    // Informers often stop with the caller's token. Whichever is seen first, the wait counts as cancelled.
    if (stop.stop_requested()) return Fail(WhyNot(Error(Code::kCancelled, "stopped")));
    if (!possible) return possible;
    if (now >= deadline_) return EndedBy(Error(Code::kTimeout, "the deadline passed"));
    look_again_ = std::min(deadline_, LookAgain(now));
    return std::nullopt;
  }
  TimePoint look_again() const noexcept { return look_again_; }
  Result<void> EndedBy(const Error& ended) const {
    if (Done()) return Success();  // a sync at the last moment counts
    return Fail(WhyNot(ended));
  }

 private:
  bool Done() const {
    return std::ranges::all_of(informers_, [this](const auto& informer) { return Counts(*informer); }) &&
           std::ranges::all_of(options_.handlers, [this](const auto* handler) { return Counts(*handler); });
  }

  // Fails if waiting longer is pointless: an informer was not started, has stopped, or was refused by the server for
  // too long.
  Result<void> StillPossible(TimePoint now) const {
    for (const Shared<Informer>& informer : informers_) {
      if (Counts(*informer)) continue;
      const InformerStatus status = informer->Progress();
      if (!status.started && !status.stopped) {
        return Fail(Code::kInvalidArgument,
                    Others(status.name) + Name(status) +
                        ": the informer has not been started; call Start() of its factory first");
      }
      if (status.stopped)
        return Fail(Code::kStopped,
                    Others(status.name) + Name(status) + ": the informer was stopped before it had synced");
      if (status.last_error && status.last_error->code() == Code::kInvalidArgument) {  // of its options
        return Fail(status.last_error->With(Others(status.name) + Name(status)));
      }
      if (!options_.patient && status.refusals >= kRefusalsToGiveUp && now >= GiveUpAt(status)) {
        return Fail(status.last_error->With(Others(status.name) + Describe(status)));
      }
    }
    for (const Registration* handler : options_.handlers) {
      if (Result<void> registered = handler->status(); !registered) return registered;
      if (Counts(*handler)) continue;
      if (!handler->listener() || handler->listener()->closed()) {
        return Fail(
            Code::kStopped,
            HandlerName(*handler) + " was removed, or its informer stopped, before it had handled its initial events");
      }
      if (!handler->listener()->started()) {
        return Fail(Code::kInvalidArgument,
                    HandlerName(*handler) + ": its informer has not been started; call Start() of its factory again");
      }
    }
    return {};
  }

  // When to check again even if nothing has changed: an informer that was refused often enough may by then have been
  // refused for long enough to give up.
  TimePoint LookAgain(TimePoint now) const {
    TimePoint next = Waiter::kNoDeadline;
    if (options_.patient) return next;
    for (const InformerStatus& status : Missing()) {
      if (status.refusals >= kRefusalsToGiveUp && GiveUpAt(status) > now) next = std::min(next, GiveUpAt(status));
    }
    return next;
  }

  // The error of a wait that ended too early: lists all informers that have not synced.
  Error WhyNot(const Error& ended) const {
    std::string text;
    for (const InformerStatus& status : Missing()) {
      text += Separator(text) + Describe(status);
      if (status.last_error) text += " (" + status.last_error->ToString() + ")";
    }
    for (const Registration* handler : options_.handlers) {
      if (Counts(*handler)) continue;
      text += Separator(text) + HandlerName(*handler) + ": " + std::to_string(handler->Backlog()) + " events wait";
    }
    return Error(ended.code(), "not synced: " + text + "; " + ended.message());
  }

  Result<void> Success() const {
    if (!options_.complete) return {};
    std::string text;
    for (const Shared<Informer>& informer : informers_) {
      const InformerStatus status = informer->Progress();
      if (status.refused > 0)
        text +=
            Separator(text) + Name(status) + ": " + std::to_string(status.refused) + " objects could not be decoded";
    }
    if (text.empty()) return {};
    return Fail(Code::kDecode, text);
  }

  bool Counts(const Informer& informer) const {
    return informer.HasSynced() || (options_.stale && informer.Progress().stale);
  }
  bool Counts(const Registration& handler) const {
    return handler.HasSynced() || (options_.stale && handler.listener() && handler.listener()->HasHandledSaved());
  }
  static TimePoint GiveUpAt(const InformerStatus& status) { return status.refused_since + kRefusedToGiveUp; }
  static std::string Separator(const std::string& text) { return text.empty() ? "" : "; "; }
  static std::string HandlerName(const Registration& handler) {
    const std::string name = handler.name();
    return name.empty() ? "a handler" : "handler " + name;
  }

  std::vector<InformerStatus> Missing() const {
    std::vector<InformerStatus> missing;
    for (const Shared<Informer>& informer : informers_) {
      if (!Counts(*informer)) missing.push_back(informer->Progress());
    }
    std::sort(missing.begin(), missing.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return missing;
  }

  // Describes the other informers that have not synced, as a prefix for the message about the one that ends the wait.
  std::string Others(const std::string& but) const {
    std::string text;
    for (const InformerStatus& status : Missing()) {
      if (status.name != but) text += Describe(status) + "; ";
    }
    return text;
  }

  const Shared<Clock> clock_;
  const std::vector<Shared<Informer>> informers_;
  const SyncOptions options_;
  const TimePoint deadline_;
  TimePoint look_again_ = Waiter::kNoDeadline;
  std::vector<Shared<Informer::Watch>> watches_;
  std::vector<Shared<Listener::SyncedWatch>> handlers_;
};

SyncWatch::SyncWatch(const Shared<Clock>& clock, std::vector<Shared<Informer>> informers, SyncOptions options,
                     const Shared<Waiter>& waker)
    : state_(std::make_unique<SyncState>(clock, std::move(informers), std::move(options), waker)) {}
SyncWatch::SyncWatch(SyncWatch&&) noexcept = default;
SyncWatch& SyncWatch::operator=(SyncWatch&&) noexcept = default;
SyncWatch::~SyncWatch() = default;
std::optional<Result<void>> SyncWatch::Poll(const std::stop_token& stop) { return state_->Poll(stop); }
TimePoint SyncWatch::look_again() const noexcept { return state_->look_again(); }
Result<void> SyncWatch::EndedBy(const Error& ended) const { return state_->EndedBy(ended); }

Result<void> WaitForSync(Executor& executor, std::stop_token stop, const std::vector<Shared<Informer>>& informers,
                         const SyncOptions& options) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  if (options.give_up_after < Nanos(0)) {
    return Fail(Code::kInvalidArgument, "SyncOptions::give_up_after is " + net::DurationText(options.give_up_after) +
                                            ", but a time is not negative; kgen::kNoLimit means for ever");
  }
  const Shared<Waiter> waiter = executor.MakeWaiter("sync of caches");
  SyncWatch watch(executor.clock(), informers, options, waiter);
  for (;;) {
    if (std::optional<Result<void>> synced = watch.Poll(stop)) return *std::move(synced);
    const Result<void> waited = waiter->Wait(stop, watch.look_again());
    if (!waited && waited.error().code() != Code::kTimeout) return watch.EndedBy(waited.error());
  }
}

}  // namespace kgen::cache

namespace kgen {

Result<void> detail::WaitForSync(std::stop_token stop, const std::vector<AnyInformer>& informers) {
  std::vector<Shared<cache::Informer>> all;
  for (const AnyInformer& informer : informers) all.push_back(informer.informer());
  const Shared<Executor> executor = all.empty() ? DefaultExecutor() : all.front()->executor();
  return cache::WaitForSync(*executor, std::move(stop), all, {});
}

}  // namespace kgen
