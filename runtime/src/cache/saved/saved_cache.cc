// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/saved/saved_cache.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"

namespace kgen::cache {
namespace {

constexpr int kMostHandedOut = 4;

}  // namespace

SavedCache::SavedCache(SavedSettings settings, std::string informer, Shared<Executor> executor, Shared<Strand> strand,
                       Shared<Observer> observer)
    : settings_(std::move(settings)),
      informer_(std::move(informer)),
      executor_(std::move(executor)),
      strand_(std::move(strand)),
      observer_(std::move(observer)),
      ended_post_(executor_->ReservePost(strand_)),
      room_(executor_->MakeWaiter("the objects of the saved cache of " + informer_)),
      writer_(std::in_place, settings_.files, settings_.binding) {}

// ---------------------------------------------------------------------------------------------------- reading

void SavedCache::Read(Reading reading) {
  reading_ = std::move(reading);
  auto begun = Begin("read the saved cache of ", [self = Shared<SavedCache>(this)] { self->ReadFile(); });
  if (begun) return;
  read_result_ = Fail(begun.error().With("the saved cache " + Path() + " is not used: failed to start reading it"));
  ReadEnded();
}

// Executors may throw, at least if there is no memory. An informer goes on without its file.
Result<void> SavedCache::Begin(const char* what, Task work) {
  try {
    executor_->Blocking(what + informer_, std::move(work));
  } catch (const std::bad_alloc&) {
    return Fail(detail::OutOfMemory());
  } catch (const std::exception& thrown) {
    return Fail(Code::kInternal, std::string("the executor threw ") + thrown.what());
  }
  busy_ = true;
  return {};
}

void SavedCache::ReadFile() {
  try {
    read_result_ = SavedReader::Read(*settings_.files, settings_.binding,
                                     [this](SavedBatch batch) { return HandOut(std::move(batch)); });
  } catch (const std::bad_alloc&) {
    read_result_ = Fail(detail::OutOfMemory());
  }
  ended_post_->Post([self = Shared<SavedCache>(this)] { self->ReadEnded(); });
}

bool SavedCache::HandOut(SavedBatch batch) {
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (end_reading_) return false;
      if (handed_out_ < kMostHandedOut) {
        ++handed_out_;
        break;
      }
    }
    if (!room_->Wait()) return false;
  }
  executor_->Post(strand_, [self = Shared<SavedCache>(this), batch = std::move(batch)]() mutable {
    const auto on_batch = self->reading_.on_batch;  // a copy: the call may end the reading
    if (on_batch) on_batch(std::move(batch));
  });
  return true;
}

void SavedCache::Taken() noexcept {
  {
    const MutexLock lock(mutex_);
    --handed_out_;
  }
  room_->Notify();
}

void SavedCache::EndReading() noexcept {
  reading_ = {};
  {
    const MutexLock lock(mutex_);
    end_reading_ = true;
  }
  room_->Notify();
}

void SavedCache::ReadEnded() {
  Result<SavedState> read = std::exchange(read_result_, SavedState());
  if (read) read_ = *read;
  const auto on_end = std::exchange(reading_, {}).on_end;
  Ended();
  if (on_end) on_end(std::move(read));
}

void SavedCache::ReportRefused(const Error& error) {
  if (error.code() == Code::kNotFound) return;
  const std::string path = Path();
  const Observer::SavedCacheFailed event{.informer = informer_, .path = path, .error = &error};
  NotifyObserver(observer_, [&](Observer& o) { o.OnSavedCacheFailed(event); });
}

// ----------------------------------------------------------------------------------------------------- saving

void SavedCache::Continue(AnySnapshot snapshot) {
  if (writer_) writer_->Continue(read_, std::move(snapshot));
}

void SavedCache::Save(AnySnapshot snapshot, std::string cluster, bool resumable, OnSaved on_saved) {
  using std::chrono::nanoseconds;
  const std::int64_t now =
      std::chrono::duration_cast<nanoseconds>(executor_->clock()->WallNow().time_since_epoch()).count();
  on_saved_ = std::move(on_saved);
  auto begun = Begin("save the cache of ",
                     [self = Shared<SavedCache>(this), snapshot = std::move(snapshot), cluster = std::move(cluster),
                      resumable, now]() mutable { self->SaveFile(std::move(snapshot), cluster, resumable, now); });
  if (begun) return;
  save_result_ = Fail(begun.error().With("the cache is not saved: failed to start"));
  SaveEnded();
}

void SavedCache::SaveFile(AnySnapshot snapshot, const std::string& cluster, bool resumable, std::int64_t now) {
  try {
    save_result_ = writer_->Save(std::move(snapshot), cluster, resumable, now);
  } catch (const std::bad_alloc&) {
    save_result_ = Fail(detail::OutOfMemory());
  }
  ended_post_->Post([self = Shared<SavedCache>(this)] { self->SaveEnded(); });
}

void SavedCache::SaveEnded() {
  Result<AnySnapshot> saved = std::exchange(save_result_, AnySnapshot());
  const OnSaved on_saved = std::exchange(on_saved_, {});
  ReportSave(saved);
  Ended();
  if (on_saved) on_saved(std::move(saved));
}

void SavedCache::ReportSave(const Result<AnySnapshot>& saved) {
  const TimePoint now = executor_->clock()->Now();
  if (saved) {
    const std::size_t failures = std::exchange(failures_, 0);
    if (failures == 0) return;
    const Observer::Recovered event{
        .source = "saved cache", .key = informer_, .failures = failures, .after = now - failed_since_};
    return NotifyObserver(observer_, [&](Observer& o) { o.OnRecovered(event); });
  }
  if (failures_++ == 0) failed_since_ = now;
  const std::string path = Path();
  const Observer::SavedCacheFailed event{
      .informer = informer_, .path = path, .saving = true, .error = &saved.error(), .retry_in = settings_.every};
  NotifyObserver(observer_, [&](Observer& o) { o.OnSavedCacheFailed(event); });
}

// ------------------------------------------------------------------------------------------------------- both

void SavedCache::Stop(Task on_idle) {
  stopped_ = true;
  on_idle_ = std::move(on_idle);
  on_saved_ = {};
  EndReading();
  if (!busy_) Ended();
}

void SavedCache::Ended() {
  busy_ = false;
  if (!stopped_) return;
  writer_.reset();
  if (Task on_idle = std::exchange(on_idle_, nullptr)) on_idle();
}

}  // namespace kgen::cache
