// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// How a controller starts and ends. In between it holds no thread: what it waits for posts a task to a strand.
#include <algorithm>
#include <optional>
#include <utility>

#include "cache/wait_for_sync.h"
#include "controller/caches/cache_handler.h"
#include "controller/caches/kind_cache.h"
#include "controller/manager/controller_runner.h"
#include "core/execution/blocking_result.h"
#include "core/execution/post_timer.h"
#include "core/execution/post_waiter.h"
#include "core/out_of_memory.h"

namespace kgen::controller {

// One run of a controller. The steps are tasks of the strand, one after the other.
//
// Lifetime: kept alive by the controller, which it keeps alive, until End() or Abandon().
class ControllerRunner::Running final : public SharedObject {
 public:
  Running(Shared<ControllerRunner> runner, std::stop_token stop, Done done)
      : runner_(std::move(runner)),
        executor_(runner_->environment_.executor),
        stop_(runner_->stop_.get_token()),
        forward_(std::move(stop), Forward{runner_}),
        done_(std::move(done)),
        strand_(executor_->MakeStrand("start controller " + runner_->name_)),
        timer_(executor_, strand_) {}

  // Adds the handlers, and leaves the rest to Advance().
  void Begin() {
    for (const Watch& watch : runner_->watches_) {
      registrations_.push_back(watch.cache.AddEventHandler(
          [runner = runner_, &watch](const AnyEvent& event) { runner->OnEvent(watch, event, nullptr); },
          {.name = "controller " + runner_->name_}));
      if (Result<void> added = registrations_.back().status(); !added) return EndSoon(std::move(added));
    }
    waker_ = kgen::detail::MakePostWaiter(*executor_, strand_, Step{Shared<Running>(this)});
    waker_->Notify();
  }

  // Nothing runs any more, and nothing that was posted will.
  void Abandon() {
    runner_->queue_.queue().Abandon();
    Release();
  }

 private:
  struct Step {
    Shared<Running> running;
    void operator()() const { running->Run(); }
  };
  struct Forward {
    Shared<ControllerRunner> runner;
    void operator()() const { runner->stop_.request_stop(); }
  };
  struct Wake {
    Shared<Waiter> waker;
    void operator()() const noexcept { waker->Notify(); }
  };

  // On the strand. Only once every handler has its initial events does the queue hold every object of the first lists,
  // so that priorities mean something and the first call sees full caches.
  void Advance() {
    if (processing_) return;
    const std::optional<Result<void>> ready = Ready();
    timer_.Cancel();
    if (!ready) {
      const TimePoint again = synced_ ? synced_->look_again() : Waiter::kNoDeadline;
      if (again != Waiter::kNoDeadline) timer_.Set(again, TimerKind::kHousekeeping, Step{Shared<Running>(this)});
      return;
    }
    synced_.reset();
    parts_.clear();
    processing_ = true;
    const Result<void> started = *ready ? Process() : *ready;
    if (started) return;
    runner_->queue_.ShutDown();
    EndSoon(stop_.stop_requested() ? Result<void>() : started);
  }

  // Whether every handler has its initial events; nothing while that is awaited.
  std::optional<Result<void>> Ready() {
    if (blocking_) return blocking_->Get();
    const auto changes = [](const Watch& watch) { return watch.cache.kind_cache()->changes(); };
    if (std::ranges::any_of(runner_->watches_, changes)) {  // then what is awaited may change, and a thread waits
      blocking_ = kgen::detail::BlockingResult::Start(
          *executor_, "start of controller " + runner_->name_,
          [self = Shared<Running>(this)] { return self->WaitForEach(); }, waker_);
      return std::nullopt;
    }
    if (!synced_) {
      SyncOptions options{.give_up_after = runner_->environment_.sync_timeout};
      const Shared<ShardedWork>& shards = runner_->environment_.shards;
      for (std::size_t i = 0; i < registrations_.size(); ++i) {
        // What is divided is added when a range starts.
        if (shards && shards->Divides(runner_->watches_[i].cache.kind())) continue;
        for (CacheHandler::Of& part : registrations_[i].handler()->all()) parts_.push_back(std::move(part));
      }
      for (const CacheHandler::Of& part : parts_) options.handlers.push_back(&part.held->registration);
      synced_.emplace(executor_->clock(), std::vector<Shared<cache::Informer>>(), std::move(options), waker_);
      on_stop_.emplace(stop_, Wake{waker_});
    }
    return synced_->Poll(stop_);
  }

  Result<void> WaitForEach() const {
    const Shared<Clock> clock = executor_->clock();
    const TimePoint deadline = Later(clock->Now(), runner_->environment_.sync_timeout);
    for (const CacheRegistration& each : registrations_) {
      if (Result<void> handled = each.WaitForSync(stop_, deadline - clock->Now()); !handled) return handled;
    }
    return {};
  }

  void Run() {
    try {
      Advance();
    } catch (const std::bad_alloc&) {
      EndSoon(Fail(kgen::detail::OutOfMemory("start")));
    }
  }

  // The queue destroys the function, which may refer to whoever waits for the end, before it calls what ends this.
  Result<void> Process() {
    const Shared<ControllerRunner>& runner = runner_;
    if (runner->environment_.shards) shards_.emplace(runner->environment_.shards, *runner);
    auto reconcile = [runner, stop = stop_, function = std::exchange(runner->reconcile_, {})](const void* key) {
      return runner->ReconcileOne(*static_cast<const ObjectKey*>(key), stop, function);
    };
    return runner->queue_.queue().Start(runner->environment_.settings.max_concurrent_reconciles, stop_,
                                        std::move(reconcile),
                                        [self = Shared<Running>(this)] { self->EndSoon(Result<void>()); });
  }

  // Removing a handler waits for its running call.
  void EndSoon(Result<void> result) {
    executor_->Blocking("end of controller " + runner_->name_,
                        [self = Shared<Running>(this), result = std::move(result)]() mutable {
                          Done done = std::move(self->done_);
                          self->Release();
                          if (std::optional<Error> why = self->runner_->Misplaced()) result = Fail(*std::move(why));
                          done(std::move(result));
                        });
  }

  void Release() {
    on_stop_.reset();
    shards_.reset();
    synced_.reset();
    parts_.clear();
    timer_.Cancel();
    registrations_.clear();
    Shared<Running> self;  // destroyed without the lock
    {
      const MutexLock lock(runner_->mutex_);
      self = std::move(runner_->running_);
    }
    waker_ = {};
    runner_->reconcile_ = {};
  }

  const Shared<ControllerRunner> runner_;
  const Shared<Executor> executor_;
  const std::stop_token stop_;
  const std::stop_callback<Forward> forward_;
  Done done_;
  const Shared<Strand> strand_;
  kgen::detail::PostTimer timer_;
  Shared<Waiter> waker_;
  std::vector<CacheRegistration> registrations_;
  // While the initial events are awaited, by `parts_`, or by a thread.
  std::optional<cache::SyncWatch> synced_;
  std::vector<CacheHandler::Of> parts_;
  Shared<kgen::detail::BlockingResult> blocking_;
  std::optional<ShardedWork::Attached> shards_;  // while it processes
  bool processing_ = false;                      // they have been handled, or will not be
  std::optional<std::stop_callback<Wake>> on_stop_;
};

ControllerRunner::~ControllerRunner() = default;

void ControllerRunner::Start(const std::stop_token& stop, Done done) {
  const auto running = MakeShared<Running>(Shared<ControllerRunner>(this), stop, std::move(done));
  {
    const MutexLock lock(mutex_);
    running_ = running;
  }
  running->Begin();
}

void ControllerRunner::Abandon() {
  Shared<Running> running;
  {
    const MutexLock lock(mutex_);
    running = running_;
  }
  if (running) running->Abandon();
}

}  // namespace kgen::controller
