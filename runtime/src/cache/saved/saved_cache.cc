// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/saved/saved_cache.h"

#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "kgen/core/object_meta.h"

namespace kgen::cache {
namespace {

constexpr int kMostHandedOut = 4;
constexpr int kMostDecoded = 8;  // with those that were handed out as they were read

}  // namespace

// Decodes batches on the thread that reads them.
class SavedCache::BatchDecoder {
 public:
  BatchDecoder(const TypeTable& table, const DecodeOptions& options) : decoder_(table), options_(options) {
    options_.mismatches = &mismatches_;
  }

  void Decode(SavedBatch& batch) {
    for (SavedItem& item : batch.items) {
      if (item.bytes.empty()) continue;
      options_.encoding = item.encoding;
      Result<AnyRef> object = decoder_.DecodeAdded(item.bytes, options_);
      const bool named = object && object->metadata() != nullptr && !object->metadata()->name.empty();
      if (named && mismatches_.empty()) item.object = *std::move(object);
      mismatches_.clear();
    }
  }

 private:
  ObjectDecoder decoder_;
  DecodeOptions options_;
  std::vector<FieldMismatch> mismatches_;
};

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
  on_batch_ = std::move(reading.on_batch);
  on_end_ = std::move(reading.on_end);
  auto begun = Begin("read the saved cache of ", [self = Shared<SavedCache>(this), &table = reading.table,
                                                  options = reading.options] { self->ReadFile(table, options); });
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

void SavedCache::ReadFile(const TypeTable& table, const DecodeOptions& options) {
  // Dropped after the end is posted, because to drop its tables takes a while.
  std::optional<BatchDecoder> decoder;
  try {
    decoder.emplace(table, options);
    read_result_ = SavedReader::Read(
        *settings_.files, settings_.binding, [&](SavedBatch batch) { return HandOut(std::move(batch), *decoder); },
        [this] { return TakeSpare(); });
  } catch (const std::bad_alloc&) {
    read_result_ = Fail(detail::OutOfMemory());
  }
  {
    const MutexLock lock(mutex_);
    end_reading_ = true;  // what is taken from now on is no longer needed
    spare_ = {};
  }
  ended_post_->Post([self = Shared<SavedCache>(this)] { self->ReadEnded(); });
}

bool SavedCache::HandOut(SavedBatch batch, BatchDecoder& decoder) {
  bool decoded = false;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      if (end_reading_) return false;
      if (handed_out_ < (decoded ? kMostDecoded : kMostHandedOut)) {
        ++handed_out_;
        break;
      }
    }
    if (!std::exchange(decoded, true)) {
      decoder.Decode(batch);
    } else if (!room_->Wait()) {
      return false;
    }
  }
  executor_->Post(strand_, [self = Shared<SavedCache>(this), batch = std::move(batch)]() mutable {
    const auto on_batch = self->on_batch_;  // a copy: the call may end the reading
    if (on_batch) on_batch(std::move(batch));
  });
  return true;
}

void SavedCache::Taken(SavedText text) noexcept {
  {
    const MutexLock lock(mutex_);
    --handed_out_;
    if (!end_reading_) std::swap(spare_, text);
  }
  room_->Notify();
}

SavedText SavedCache::TakeSpare() noexcept {
  const MutexLock lock(mutex_);
  return std::exchange(spare_, {});
}

void SavedCache::EndReading() noexcept {
  on_batch_ = {};
  on_end_ = {};
  {
    const MutexLock lock(mutex_);
    end_reading_ = true;
  }
  room_->Notify();
}

void SavedCache::ReadEnded() {
  Result<SavedState> read = std::exchange(read_result_, SavedState());
  if (read) read_ = *read;
  on_batch_ = {};
  const auto on_end = std::exchange(on_end_, {});
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
