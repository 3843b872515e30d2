// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include "cache/saved/record.h"
#include "cache/saved/saved_file.h"
#include "cache/store/deliberate_bugs.h"
#include "kgen/core/try.h"

namespace kgen::cache {
namespace {

// Memory for a payload that does not zero it, and that grows only when a record needs it.
class PayloadBuffer {
 public:
  explicit PayloadBuffer(const SavedReader::Spare& spare) : spare_(spare) {}

  char* Reserve(std::size_t size) {
    if (size > text_.capacity) text_ = spare_();
    if (size > text_.capacity) text_ = Allocate(size);
    return text_.bytes.get();
  }
  SavedText Take() noexcept { return std::exchange(text_, {}); }

 private:
  // Most records are a little larger than a usual payload, and each by something else.
  static SavedText Allocate(std::size_t size) {
    size = std::max(size, kUsualPayload + kUsualPayload / 4);
    return {std::make_unique_for_overwrite<char[]>(size), size};
  }

  const SavedReader::Spare& spare_;
  SavedText text_;
};

struct Record {
  RecordKind kind = RecordKind::kNone;
  std::string_view payload;
};

// Reads the records of a file and verifies their checks.
class RecordReader {
 public:
  RecordReader(std::unique_ptr<SavedInput> file, const SavedReader::Spare& spare)
      : file_(std::move(file)), buffer_(spare) {}

  Result<bool> ReadMagic() {
    char magic[kSavedMagic.size()];
    KGEN_TRY(const bool complete, Fill(magic, sizeof magic));
    return complete && std::string_view(magic, sizeof magic) == kSavedMagic;
  }

  // Returns the next record, whose payload is valid until the next call. Its kind is kNone if no whole record follows;
  // why() then says in what way.
  Result<Record> Next() {
    char head[kRecordHead];
    KGEN_TRY(const bool has_head, Fill(head, kRecordHead));
    if (!has_head) return Bad(ended_inside_ ? "the file ends within a record" : "the file ends");
    const auto size = static_cast<std::size_t>(PayloadReader({head, 4}).Number(4));
    if (size > kLargestPayload) return Bad("a record is too large");
    char* const record = buffer_.Reserve(kRecordHead + size + kRecordCheck);
    std::copy(head, head + kRecordHead, record);
    KGEN_TRY(const bool whole, Fill(record + kRecordHead, size + kRecordCheck));
    if (!whole) return Bad("the file ends within a record");
    check_ = RecordCheck({record, kRecordHead + size}, check_);
    if (PayloadReader({record + kRecordHead + size, kRecordCheck}).Number(kRecordCheck) != check_) {
      return Bad("a record is damaged");
    }
    return Record{static_cast<RecordKind>(record[4]), {record + kRecordHead, size}};
  }

  // Returns the memory of the last record, which keeps its payload valid.
  SavedText TakeMemory() noexcept { return buffer_.Take(); }

  std::string_view why() const noexcept { return why_; }
  std::uint64_t position() const noexcept { return position_; }
  std::uint64_t check() const noexcept { return check_; }

 private:
  Record Bad(std::string_view why) noexcept {
    why_ = why;
    return {};
  }

  // Returns false if the file ends before. Counts what was read.
  Result<bool> Fill(char* to, std::size_t size) {
    std::size_t filled = 0;
    while (filled < size) {
      KGEN_TRY(const std::size_t count, file_->Read(to + filled, size - filled));
      ended_inside_ = filled != 0;
      if (count == 0) return false;
      filled += count;
    }
    position_ += size;
    return true;
  }

  const std::unique_ptr<SavedInput> file_;
  PayloadBuffer buffer_;
  std::uint64_t position_ = 0;
  std::uint64_t check_ = kFirstCheck;
  bool ended_inside_ = false;
  std::string_view why_;
};

// Return false if the payload is not what a writer writes.
bool ReadItems(const Record& record, std::vector<SavedItem>& items) {
  PayloadReader payload(record.payload);
  while (!payload.AtEnd()) {
    SavedItem& item = items.emplace_back();
    if (record.kind == RecordKind::kObjects) {
      const std::uint64_t encoding = payload.Number(1);
      item.bytes = payload.Text();
      if (item.bytes.empty() || encoding > static_cast<std::uint64_t>(Encoding::kProtobuf)) return false;
      item.encoding = static_cast<Encoding>(encoding);
    } else {
      item.key.namespace_ = payload.Text();
      item.key.name = payload.Text();
    }
  }
  return !payload.failed();
}

bool ReadCommit(std::string_view text, SavedState& state) {
  PayloadReader payload(text);
  state.version = payload.Text();
  state.cluster = payload.Text();
  state.resumable = payload.Number(1) == 1;
  state.saved_at = static_cast<std::int64_t>(payload.Number(8));
  state.objects = payload.Number(8);
  return !payload.failed() && payload.AtEnd();
}

Result<void> CheckHeader(RecordReader& records, const SavedBinding& binding) {
  KGEN_TRY(const bool ours, records.ReadMagic());
  if (!ours) return Fail(Code::kDecode, "it does not begin as a saved cache does");
  KGEN_TRY(const Record record, records.Next());
  if (record.kind != RecordKind::kHeader) {
    return Fail(Code::kDecode, "it has no header: " + std::string(records.why()));
  }
  PayloadReader payload(record.payload);
  if (const auto format = payload.Number(4); format != kSavedFormat) {
    return Fail(Code::kDecode, "it has format " + std::to_string(format) + ", and this program reads format " +
                                   std::to_string(kSavedFormat));
  }
  KGEN_TRY(const SavedBinding saved, SavedBinding::FromJson(payload.Rest()));
  if (const std::string difference = saved.DifferenceTo(binding); !difference.empty()) {
    return Fail(Code::kDecode, difference);
  }
  return {};
}

Result<SavedState> ReadRecords(RecordReader& records, const SavedReader::OnBatch& on_batch) {
  std::optional<SavedState> last;
  std::string_view why = "a record is damaged";
  for (;;) {
    KGEN_TRY(const Record record, records.Next());
    SavedBatch batch;
    if (record.kind == RecordKind::kObjects || record.kind == RecordKind::kDeletions) {
      if (!ReadItems(record, batch.items)) break;
      batch.text = records.TakeMemory();
    } else if (record.kind == RecordKind::kCommit) {
      SavedState& committed = batch.committed.emplace();
      if (!ReadCommit(record.payload, committed)) break;
      committed.bytes = records.position();
      committed.base_bytes = last ? last->base_bytes : records.position();
      committed.check = records.check();
      last = committed;
    } else {
      if (!records.why().empty()) why = records.why();
      break;
    }
    if (!on_batch(std::move(batch))) return Fail(Code::kCancelled, "reading was ended");
  }
  // Behind a commit, this is what a crash leaves while changes are appended.
  if (last && Injected(Bug::kTakesTornTail)) (void)on_batch({.text = {}, .items = {}, .committed = last});
  if (last) return *std::move(last);
  return Fail(Code::kDecode, "it has no complete state: " + std::string(why));
}

}  // namespace

Result<SavedState> SavedReader::Read(SavedFiles& files, const SavedBinding& binding, const OnBatch& on_batch,
                                     const Spare& spare) {
  const std::string name = binding.FileName();
  KGEN_TRY(std::unique_ptr<SavedInput> file, files.Open(name));
  RecordReader records(std::move(file), spare);
  Result<void> header = CheckHeader(records, binding);
  Result<SavedState> state = header ? ReadRecords(records, on_batch) : Fail(std::move(header).error());
  if (!state && state.error().code() == Code::kDecode) {
    return Fail(Code::kDecode, "the saved cache " + files.Path(name) + " is not used: " + state.error().message());
  }
  return state;
}

}  // namespace kgen::cache
