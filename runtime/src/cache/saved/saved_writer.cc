// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "cache/saved/record.h"
#include "cache/saved/saved_file.h"
#include "cache/store/deliberate_bugs.h"
#include "cache/store/store_state.h"
#include "codec/protobuf_encoder.h"
#include "codec/sharing/member_hashes.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/try.h"

namespace kgen::cache {
namespace {

// Below this, a log is not worth a new base although it is longer than the base.
constexpr std::uint64_t kSmallLog = 64u << 10;

constexpr std::size_t kLargestObject = DecodeOptions().max_bytes;
static_assert(kRecordHead + kUsualPayload + 5 + kLargestObject < kLargestPayload);

// Returns the objects by key. Objects with similar names share much text, which whoever reads the file then finds in
// the processor's cache.
std::vector<std::pair<KeyView, const AnyRef*>> InOrder(const ObjectMap& objects) {
  std::vector<std::pair<KeyView, const AnyRef*>> ordered;
  ordered.reserve(objects.size());
  ObjectMap::Cursor cursor(objects);
  while (const ObjectLeaf* const leaf = cursor.Next()) ordered.emplace_back(leaf->key(), &leaf->object());
  std::ranges::sort(ordered, [](const auto& a, const auto& b) {
    const int namespaces = a.first.namespace_.compare(b.first.namespace_);
    return namespaces != 0 ? namespaces < 0 : a.first.name < b.first.name;
  });
  return ordered;
}

}  // namespace

// Writes records at the end of a file.
class SavedWriter::Output {
 public:
  // `position` and `check`: where the file ends, and the check of its last record.
  Output(std::unique_ptr<SavedOutput> file, std::uint64_t position, std::uint64_t check)
      : file_(std::move(file)), position_(position), check_(check) {}

  Result<void> Begin(const SavedBinding& binding) {
    if (auto done = Append(kSavedMagic); !done) return done;
    Start(RecordKind::kHeader);
    AppendNumber(kSavedFormat, 4, record_);
    record_ += binding.ToJson();
    return Flush();
  }

  Result<void> Put(const AnyRef& object) {
    if (auto done = Continue(RecordKind::kObjects); !done) return done;
    const std::size_t start = record_.size() + 1;
    const bool protobuf = codec::IsFromProtobuf(object);
    AppendNumber(static_cast<std::uint64_t>(protobuf ? Encoding::kProtobuf : Encoding::kJson), 1, record_);
    AppendNumber(0, 4, record_);
    if (!protobuf || !codec::AppendProtobuf(object.object(), object.table(), record_)) {
      record_[start - 1] = static_cast<char>(Encoding::kJson);
      detail::EncodeStruct(object.object(), object.table(), record_);
    }
    const std::size_t size = record_.size() - start - 4;
    if (size > kLargestObject) {
      const meta::v1::ObjectMeta& meta = *object.metadata();
      return Fail(Code::kConfig, "the cache is not saved: " + ObjectKey(meta.namespace_, meta.name).str() + " has " +
                                     std::to_string(size) + " bytes in the file, and objects are read up to " +
                                     std::to_string(kLargestObject));
    }
    PutNumber(size, 4, record_.data() + start);
    return {};
  }

  Result<void> Delete(const KeyView& key) {
    if (auto done = Continue(RecordKind::kDeletions); !done) return done;
    AppendText(key.namespace_, record_);
    AppendText(key.name, record_);
    return {};
  }

  // Completes `state` with what the file says of itself.
  Result<void> Commit(SavedState& state) {
    if (auto done = Flush(); !done) return done;
    Start(RecordKind::kCommit);
    AppendText(state.version, record_);
    AppendText(state.cluster, record_);
    AppendNumber(state.resumable ? 1 : 0, 1, record_);
    AppendNumber(static_cast<std::uint64_t>(state.saved_at), 8, record_);
    AppendNumber(state.objects, 8, record_);
    if (auto done = Flush(); !done) return done;
    if (auto done = file_->Sync(); !done) return done;
    state.bytes = position_;
    state.check = check_;
    return {};
  }

 private:
  void Start(RecordKind kind) {
    record_.assign(kRecordHead, '\0');
    record_[4] = static_cast<char>(kind);
  }

  // Makes the record that is being written one of this kind, with room for another element.
  Result<void> Continue(RecordKind kind) {
    const bool full = record_.size() >= kRecordHead + kUsualPayload;
    if (!record_.empty() && !full && record_[4] == static_cast<char>(kind)) return {};
    if (auto done = Flush(); !done) return done;
    Start(kind);
    return {};
  }

  Result<void> Flush() {
    if (record_.empty()) return {};
    PutNumber(record_.size() - kRecordHead, 4, record_.data());
    check_ = RecordCheck(record_, check_);
    AppendNumber(check_, kRecordCheck, record_);
    Result<void> done = Append(record_);
    record_.clear();
    return done;
  }

  Result<void> Append(std::string_view bytes) {
    position_ += bytes.size();
    return file_->Append(bytes);
  }

  const std::unique_ptr<SavedOutput> file_;
  std::uint64_t position_;
  std::uint64_t check_;
  std::string record_;
};

SavedWriter::SavedWriter(Shared<SavedFiles> files, SavedBinding binding)
    : files_(std::move(files)), binding_(std::move(binding)), name_(binding_.FileName()), new_name_(name_ + ".new") {}
SavedWriter::~SavedWriter() = default;

void SavedWriter::Continue(SavedState state, AnySnapshot snapshot) {
  last_.state = std::move(state);
  last_.snapshot = std::move(snapshot);
}

Result<AnySnapshot> SavedWriter::Save(AnySnapshot snapshot, std::string cluster, bool resumable, std::int64_t now) {
  // Whatever fails below, the next call writes a new base.
  Saved last = std::exchange(last_, {});
  if (!lock_) {
    KGEN_TRY(lock_, files_->Lock(name_ + ".lock"));
    // A crash may have left it, as large as a base.
    if (auto done = files_->Remove(new_name_); !done) return Fail(std::move(done).error());
  }
  Saved next;
  next.state = {.version = snapshot.version(),
                .cluster = std::move(cluster),
                .resumable = resumable,
                .saved_at = now,
                .objects = snapshot.size()};
  next.snapshot = std::move(snapshot);
  next.output = OutputFor(last);
  if (auto done = next.output ? AppendChanges(last, next) : WriteBase(next); !done)
    return Fail(std::move(done).error());
  last_ = std::move(next);
  return std::move(last.snapshot);
}

std::unique_ptr<SavedWriter::Output> SavedWriter::OutputFor(Saved& last) {
  const SavedState& state = last.state;
  const std::uint64_t log = state.bytes - state.base_bytes;
  if (state.bytes == 0 || log > std::max(state.base_bytes, kSmallLog)) return {};
  if (last.output) return std::move(last.output);
  std::string end;
  AppendNumber(state.check, kRecordCheck, end);
  auto file = files_->Extend(name_, state.bytes, end);
  if (!file) return {};  // a new base replaces whatever is there
  return std::make_unique<Output>(*std::move(file), state.bytes, state.check);
}

Result<void> SavedWriter::WriteBase(Saved& next) {
  const auto write = [&]() -> Result<void> {
    KGEN_TRY(std::unique_ptr<SavedOutput> file, files_->Create(new_name_));
    next.output = std::make_unique<Output>(std::move(file), 0, kFirstCheck);
    if (auto done = next.output->Begin(binding_); !done) return done;
    for (const auto& [key, object] : InOrder(next.snapshot.state().objects)) {
      if (auto done = next.output->Put(*object); !done) return done;
    }
    return next.output->Commit(next.state);
  };
  if (Result<void> done = write(); !done) {
    next.output.reset();
    (void)files_->Remove(new_name_);  // the disk may be full
    return done;
  }
  next.state.base_bytes = next.state.bytes;
  return files_->Rename(new_name_, name_);
}

Result<void> SavedWriter::AppendChanges(const Saved& last, Saved& next) {
  const ObjectMap& before = last.snapshot.state().objects;
  const ObjectMap& after = next.snapshot.state().objects;
  Result<void> done;
  before.ForEachNotShared(after, [&](const ObjectLeaf& leaf) {
    if (Injected(Bug::kSavesNoDeletions)) return;
    if (done && after.Find(leaf.key(), leaf.hash()) == nullptr) done = next.output->Delete(leaf.key());
  });
  after.ForEachNotShared(before, [&](const ObjectLeaf& leaf) {
    if (!done) return;
    const ObjectLeaf* const saved = before.Find(leaf.key(), leaf.hash());
    if (saved == nullptr || saved->object() != leaf.object()) done = next.output->Put(leaf.object());
  });
  next.state.base_bytes = last.state.base_bytes;
  return done ? next.output->Commit(next.state) : done;
}

}  // namespace kgen::cache
