// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The file of one saved cache: a base with all objects, then a log of changes.
//
//   file   := "kgencach" record*
//   record := size (4 bytes) | kind (1 byte) | payload | check (8 bytes)       numbers are little-endian
//
// The first record has the version of the format and the binding. Records with objects and deletions follow, and take
// effect with the next commit record. The check of a record is a hash of its bytes and of the check before it, so a
// record that was changed, moved or left out is noticed. It detects damage, not somebody who may write the file.
//
// A new base is written beside the old file and renamed over it, so a crash leaves one of the two. A crash while
// changes are appended leaves a tail without a commit: SavedReader stops before it, and SavedWriter cuts it off.
//
// Objects that were decoded from protobuf are saved as protobuf, which is a third smaller and faster to read. All
// others are saved as JSON, as Encode() writes them, because that keeps everything that was received: unknown members,
// null, the spelling of numbers and times.
#ifndef KGEN_SRC_CACHE_SAVED_SAVED_FILE_H_
#define KGEN_SRC_CACHE_SAVED_SAVED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/saved/binding.h"
#include "cache/saved/files.h"
#include "kgen/cache/snapshot.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen::cache {

// A state of the cache that is complete in the file.
struct SavedState {
  std::string version;  // resource version up to which the state includes all changes
  std::string cluster;  // UID of the namespace kube-system; "" if it could not be read
  // False if the server has objects that could not be decoded when this was saved: the watch must not be resumed.
  bool resumable = false;
  std::int64_t saved_at = 0;  // nanoseconds of the wall clock since 1970
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;       // of the file up to the end of its commit
  std::uint64_t base_bytes = 0;  // of these, up to the end of the first commit
  std::uint64_t check = 0;       // of its commit record
};

// One element of a file, in its order.
struct SavedItem {
  ObjectKey key{};           // of a deletion
  std::string_view bytes{};  // of an object; empty for a deletion
  Encoding encoding = Encoding::kJson;
  AnyRef object{};  // null unless whoever reads the file has decoded it
};

// The memory of a batch, which a reader may use again: the kernel takes about as long to map new memory as to fill it.
struct SavedText {
  std::unique_ptr<char[]> bytes{};
  std::size_t capacity = 0;
};

// Elements of a file, in their order, or, without elements, the state that these complete. Owns the text of the
// elements, which moves with it.
struct SavedBatch {
  SavedText text;
  std::vector<SavedItem> items;
  std::optional<SavedState> committed;
};

// Reads a file. `on_batch` may receive elements that no commit follows, because the file ends or is damaged before it,
// so the caller keeps them apart until the commit.
//
// Thread safety: one thread, which may block.
class SavedReader {
 public:
  // Receives a batch of about 256 KiB. Returns false to end the reading.
  using OnBatch = std::function<bool(SavedBatch)>;
  // Returns memory of an earlier batch, or none.
  using Spare = std::function<SavedText()>;

  // Reads the whole file and returns its last state. It ends with the last commit before the end of the file or a
  // damaged record, as a crash leaves one. Memory: one record, of at most 17 MiB.
  // Errors: kNotFound (no file), kConfig (files.h), kDecode (another format or binding, no commit), kCancelled
  // (`on_batch` returned false). The message names the file and says what is wrong.
  static Result<SavedState> Read(
      SavedFiles& files, const SavedBinding& binding, const OnBatch& on_batch,
      const Spare& spare = [] { return SavedText(); });
};

// Writes a file: Save() for each state, after Continue() if the first one was read from the file.
//
// Thread safety: one thread at a time, which may block.
class SavedWriter {
 public:
  SavedWriter(Shared<SavedFiles> files, SavedBinding binding);
  ~SavedWriter();

  // Continues the file that SavedReader has read to `state`, which is the content of `snapshot`.
  void Continue(SavedState state, AnySnapshot snapshot);

  // Saves the state. Adds the differences to what was saved last to the log; without a last one, or when the log is
  // longer than the base, writes a new base. Blocks for as long as that takes: 100,000 pods of 9 KB take about two
  // seconds of CPU. Returns the snapshot that was saved before, for the caller to drop.
  // Errors: as SavedFiles; kConfig for an object that is too large to be read again. The file then has this state or
  // the one that was saved before, and the next call writes a new base.
  Result<AnySnapshot> Save(AnySnapshot snapshot, std::string cluster, bool resumable, std::int64_t now);

 private:
  class Output;
  // What the file has.
  struct Saved {
    SavedState state;
    AnySnapshot snapshot;
    std::unique_ptr<Output> output;
  };

  // Returns where to append the changes since `last`; null if a new base must be written.
  std::unique_ptr<Output> OutputFor(Saved& last);
  Result<void> WriteBase(Saved& next);
  Result<void> AppendChanges(const Saved& last, Saved& next);

  const Shared<SavedFiles> files_;
  const SavedBinding binding_;
  const std::string name_;
  const std::string new_name_;  // of a base while it is written
  std::unique_ptr<SavedLock> lock_;
  Saved last_;
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_SAVED_SAVED_FILE_H_
