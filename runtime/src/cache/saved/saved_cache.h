// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SavedCache: reads and saves the file of one informer, on threads that may block.
//
//   SavedReader --batches--> Reflector;   store's snapshot --> SavedWriter
//
// The strand decodes what was read. If it is behind, the reading thread decodes as well, so that a restart uses two
// cores. Its objects share text and subtrees among themselves only: what both have is in memory twice.
#ifndef KGEN_SRC_CACHE_SAVED_SAVED_CACHE_H_
#define KGEN_SRC_CACHE_SAVED_SAVED_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/saved/binding.h"
#include "cache/saved/files.h"
#include "cache/saved/saved_file.h"
#include "core/memory/mutex.h"
#include "kgen/cache/snapshot.h"
#include "kgen/codec/decode.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/object_key.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"
#include "kgen/core/waiter.h"

namespace kgen::cache {

// Where and how often an informer saves its cache.
struct SavedSettings {
  Shared<SavedFiles> files;
  SavedBinding binding;
  Nanos every;
};

// One task at a time reads or saves.
//
// Thread safety: all members on the informer's strand; the destructor on any thread.
// Lifetime: its running task keeps it alive.
class SavedCache final : public SharedObject {
 public:
  SavedCache(SavedSettings settings, std::string informer, Shared<Executor> executor, Shared<Strand> strand,
             Shared<Observer> observer);

  struct Reading {
    // What the objects are decoded to.
    const TypeTable& table;
    DecodeOptions options;
    std::function<void(SavedBatch)> on_batch;
    std::function<void(Result<SavedState>)> on_end;  // exactly once, last; see SavedReader::Read()
  };
  // Reads the file; calls `on_end` at once if it cannot begin. While four batches have been handed out for which
  // Taken() was not called, decodes the next one itself; while eight have, waits. An object that is not as its type
  // expects is never decoded here, so that whoever takes it reports that.
  void Read(Reading reading);
  // `text`: of the batch, whose elements are no longer used.
  void Taken(SavedText text) noexcept;
  void EndReading() noexcept;  // calls neither function any more
  // Tells the observer that the file is not used. It says nothing about a file that does not exist.
  void ReportRefused(const Error& error);

  // The file that was read has the content of this snapshot, so changes can be added to it.
  void Continue(AnySnapshot snapshot);
  // Saves the snapshot. `on_saved` is called with the snapshot that was saved before, or with the error, which the
  // observer then knows. Only if !busy().
  using OnSaved = std::function<void(Result<AnySnapshot> before)>;
  void Save(AnySnapshot snapshot, std::string cluster, bool resumable, OnSaved on_saved);

  bool busy() const noexcept { return busy_; }
  // Ends the reading; a running save goes on. None of the functions above is called any more. When neither runs, which
  // may be at once, the lock of the file is given back, and then `on_idle` is called.
  void Stop(Task on_idle);
  Nanos every() const noexcept { return settings_.every; }
  std::string Path() const { return settings_.files->Path(settings_.binding.FileName()); }

 private:
  Result<void> Begin(const char* what, Task work);
  // On a thread that may block.
  class BatchDecoder;
  void ReadFile(const TypeTable& table, const DecodeOptions& options);
  bool HandOut(SavedBatch batch, BatchDecoder& decoder);
  SavedText TakeSpare() noexcept;
  void SaveFile(AnySnapshot snapshot, const std::string& cluster, bool resumable, std::int64_t now);
  // On the strand.
  void ReadEnded();
  void SaveEnded();
  void Ended();
  void ReportSave(const Result<AnySnapshot>& saved);

  const SavedSettings settings_;
  const std::string informer_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<Observer> observer_;
  const Shared<ReservedPost> ended_post_;
  const Shared<Waiter> room_;  // notified by Taken() and EndReading()
  // Used by the running task, or else by the strand. Absent once stopped.
  std::optional<SavedWriter> writer_;

  bool busy_ = false;
  bool stopped_ = false;
  std::function<void(SavedBatch)> on_batch_;
  std::function<void(Result<SavedState>)> on_end_;
  OnSaved on_saved_;
  Task on_idle_;
  SavedState read_;
  std::size_t failures_ = 0;  // of saves, in a row
  TimePoint failed_since_{};
  // Written by the task before it posts that it has ended.
  Result<SavedState> read_result_ = SavedState();
  Result<AnySnapshot> save_result_ = AnySnapshot();

  Mutex mutex_;
  int handed_out_ KGEN_GUARDED_BY(mutex_) = 0;
  SavedText spare_ KGEN_GUARDED_BY(mutex_);  // of the batch that was taken last
  bool end_reading_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_SAVED_SAVED_CACHE_H_
