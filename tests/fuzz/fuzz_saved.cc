// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of a saved cache. If the first one is odd, the checks of the records are made right, so that
// the rest of the reader is reached.
//
//   * The file is refused, or gives a state that ends within it.
//   * What follows the last commit makes no difference.
//   * However the file is cut, it gives a state that it had before, or none.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/saved/record.h"
#include "cache/saved/saved_file.h"

namespace {

using kgen::Code;
using kgen::Result;
using kgen::cache::kFirstCheck;
using kgen::cache::kRecordCheck;
using kgen::cache::kRecordHead;
using kgen::cache::kSavedMagic;
using kgen::cache::SavedItem;
using kgen::cache::SavedState;

void Require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// One file, which is only read.
class OneFile final : public kgen::cache::SavedFiles {
 public:
  explicit OneFile(std::string_view content) : content_(content) {}
  std::string Path(const std::string& name) const override { return name; }
  Result<std::unique_ptr<kgen::cache::SavedInput>> Open(const std::string&) override {
    return std::make_unique<Input>(content_);
  }
  Result<std::unique_ptr<kgen::cache::SavedOutput>> Create(const std::string&) override { return ReadOnly(); }
  Result<std::unique_ptr<kgen::cache::SavedOutput>> Extend(const std::string&, std::uint64_t,
                                                           std::string_view) override {
    return ReadOnly();
  }
  Result<void> Rename(const std::string&, const std::string&) override { return ReadOnly(); }
  Result<void> Remove(const std::string&) override { return ReadOnly(); }
  Result<std::unique_ptr<kgen::cache::SavedLock>> Lock(const std::string&) override { return ReadOnly(); }

 private:
  class Input final : public kgen::cache::SavedInput {
   public:
    explicit Input(std::string_view left) : left_(left) {}
    Result<std::size_t> Read(char* to, std::size_t size) override {
      const std::size_t count = std::min(size, left_.size());
      std::copy_n(left_.begin(), count, to);
      left_.remove_prefix(count);
      return count;
    }

   private:
    std::string_view left_;
  };
  static std::unexpected<kgen::Error> ReadOnly() { return kgen::Fail(Code::kConfig, "read-only"); }

  const std::string_view content_;
};

struct Outcome {
  std::optional<SavedState> state;
  std::vector<std::uint64_t> commits;  // where they end
  std::string items;                   // up to the last one
};

Outcome Read(std::string_view content) {
  Outcome outcome;
  std::string items;
  OneFile files(content);
  const kgen::cache::SavedBinding binding{.server = "api.test:6443", .resource = "samples.test/v1"};
  auto state = kgen::cache::SavedReader::Read(files, binding, [&](const kgen::cache::SavedBatch& batch) {
    for (const SavedItem& item : batch.items) {
      Require(item.bytes.empty() || item.key.name.empty(), "an object and a deletion in one");
      items.append(item.key.str()).append("=").append(item.bytes).append("\n");
    }
    if (!batch.committed) return true;
    Require(batch.items.empty(), "a commit with elements");
    outcome.commits.push_back(batch.committed->bytes);
    outcome.items = items;
    return true;
  });
  if (!state) {
    Require(state.error().code() == Code::kDecode, "an error of another code");
    Require(outcome.commits.empty(), "a commit in a file that is refused");
    return outcome;
  }
  outcome.state = *std::move(state);
  Require(!outcome.commits.empty() && outcome.state->bytes == outcome.commits.back(), "a state without its commit");
  Require(outcome.state->base_bytes == outcome.commits.front(), "another base than the first commit");
  Require(outcome.state->bytes <= content.size(), "a state beyond the end");
  return outcome;
}

void MakeChecksRight(std::string& content) {
  std::uint64_t check = kFirstCheck;
  std::size_t at = kSavedMagic.size();
  while (at + kRecordHead <= content.size()) {
    const std::uint64_t size = kgen::cache::PayloadReader(std::string_view(content).substr(at, 4)).Number(4);
    if (size + kRecordCheck > content.size() - at - kRecordHead) return;
    const std::size_t end = at + kRecordHead + static_cast<std::size_t>(size);
    check = kgen::cache::RecordCheck(std::string_view(content).substr(at, end - at), check);
    kgen::cache::PutNumber(check, kRecordCheck, content.data() + end);
    at = end + kRecordCheck;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::string content(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) MakeChecksRight(content);
  const Outcome whole = Read(content);
  if (whole.state) {
    const Outcome again = Read(std::string_view(content).substr(0, whole.state->bytes));
    Require(again.state && again.commits == whole.commits && again.items == whole.items, "a tail makes a difference");
  }
  const Outcome cut = Read(std::string_view(content).substr(0, content.size() * (data[0] / 2) / 128));
  Require(cut.commits.size() <= whole.commits.size() &&
              std::equal(cut.commits.begin(), cut.commits.end(), whole.commits.begin()) &&
              whole.items.starts_with(cut.items),
          "a part of a file gives what the file never had");
  return 0;
}
