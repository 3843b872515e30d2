// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SimulatedFiles: a folder in memory that loses what was not synced, for tests of saved caches.
#ifndef KGEN_TESTS_SUPPORT_SIMULATED_FILES_H_
#define KGEN_TESTS_SUPPORT_SIMULATED_FILES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/saved/files.h"

namespace kgen::test_support {

// Each of Append(), Sync(), Create(), Extend() and Remove() is one operation, and Rename() is two: the change of the
// folder, and its sync. `choose` makes all choices: 0 <= choose(n) < n.
//
// Thread safety: one thread at a time.
class SimulatedFiles final : public cache::SavedFiles {
 public:
  // `pause` is called before each operation; it may let time pass.
  explicit SimulatedFiles(std::function<std::uint32_t(std::uint32_t)> choose, std::function<void()> pause = {})
      : choose_(std::move(choose)), pause_(std::move(pause)) {}

  // The process crashes in the operation of that number, counted from 1: it happens in part, and nothing works until
  // EndProcess() or Restart(). A number that has passed: at once.
  void CrashAt(std::uint64_t operation) {
    crash_at_ = operation;
    off_ = operation <= operations_;
  }
  bool crashed() const { return off_; }
  std::uint64_t operations() const { return operations_; }
  // The next process: locks are free, what is open does nothing any more, and the files are as they were left.
  void EndProcess();
  // The power fails, and the next process begins. Each file keeps what was synced. Of the rest, any part may be there,
  // with zeros or older bytes in between. A change of the folder that was not synced may have happened or not.
  void Restart();

  // While this is set, only a part of what is appended fits.
  void FillDisk(bool full) { full_ = full; }
  // While this is set, reading fails after some bytes.
  void FailReads(bool fails) { reads_fail_ = fails; }

  std::vector<std::string> Names() const;
  std::string Content(const std::string& name) const;  // "" if there is none
  void SetContent(const std::string& name, std::string content);

  std::string Path(const std::string& name) const override { return "simulated/" + name; }
  Result<std::unique_ptr<cache::SavedInput>> Open(const std::string& name) override;
  Result<std::unique_ptr<cache::SavedOutput>> Create(const std::string& name) override;
  Result<std::unique_ptr<cache::SavedOutput>> Extend(const std::string& name, std::uint64_t size,
                                                     std::string_view end) override;
  Result<void> Rename(const std::string& from, const std::string& to) override;
  Result<void> Remove(const std::string& name) override;
  Result<std::unique_ptr<cache::SavedLock>> Lock(const std::string& name) override;

 private:
  class Input;
  class Output;
  class Lease;
  struct File {
    std::string content;
    std::string synced;
  };
  using Folder = std::map<std::string, std::shared_ptr<File>>;
  using Change = std::function<void(Folder&)>;

  // Returns an error if the process has crashed or is not the current one.
  Result<void> Check(std::uint64_t process) const;
  // Begins an operation, in which the process may crash.
  Result<void> Begin(std::uint64_t process);
  // Returns whether the operation that has begun happens. If the process crashes in it, that is open.
  bool Happens() { return !off_ || Coin(); }
  Result<void> ChangeFolder(Change change);
  Result<void> Append(std::uint64_t process, File& file, std::string_view bytes);
  Result<void> Sync(std::uint64_t process, File& file);
  std::string Torn(const File& file);
  bool Coin() { return choose_(2) == 0; }

  const std::function<std::uint32_t(std::uint32_t)> choose_;
  const std::function<void()> pause_;
  Folder folder_;
  Folder synced_folder_;
  std::vector<Change> changes_;  // from the one to the other
  std::set<std::string> locks_;
  std::uint64_t process_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t crash_at_ = std::numeric_limits<std::uint64_t>::max();
  bool off_ = false;
  bool full_ = false;
  bool reads_fail_ = false;
};

class SimulatedFiles::Input final : public cache::SavedInput {
 public:
  Input(Shared<SimulatedFiles> files, std::shared_ptr<File> file)
      : files_(std::move(files)), process_(files_->process_), file_(std::move(file)) {}
  Result<std::size_t> Read(char* to, std::size_t size) override {
    if (auto works = files_->Check(process_); !works) return Fail(works.error());
    if (files_->reads_fail_ && files_->Coin()) return Fail(Code::kConfig, "cannot read: a simulated error");
    // A read may be short. Reads of real files are not, but the interface allows it.
    const std::size_t most = std::min(size, file_->content.size() - position_);
    const std::size_t count =
        most == 0 ? 0 : most - files_->choose_(static_cast<std::uint32_t>(std::min(most, std::size_t{4})));
    std::copy_n(file_->content.data() + position_, count, to);
    position_ += count;
    return count;
  }

 private:
  const Shared<SimulatedFiles> files_;
  const std::uint64_t process_;
  const std::shared_ptr<File> file_;
  std::size_t position_ = 0;
};

class SimulatedFiles::Output final : public cache::SavedOutput {
 public:
  Output(Shared<SimulatedFiles> files, std::shared_ptr<File> file)
      : files_(std::move(files)), process_(files_->process_), file_(std::move(file)) {}
  Result<void> Append(std::string_view bytes) override { return files_->Append(process_, *file_, bytes); }
  Result<void> Sync() override { return files_->Sync(process_, *file_); }

 private:
  const Shared<SimulatedFiles> files_;
  const std::uint64_t process_;
  const std::shared_ptr<File> file_;
};

class SimulatedFiles::Lease final : public cache::SavedLock {
 public:
  Lease(Shared<SimulatedFiles> files, std::string name)
      : files_(std::move(files)), process_(files_->process_), name_(std::move(name)) {}
  ~Lease() override {
    if (files_->process_ == process_) files_->locks_.erase(name_);
  }

 private:
  const Shared<SimulatedFiles> files_;
  const std::uint64_t process_;
  const std::string name_;
};

inline void SimulatedFiles::EndProcess() {
  ++process_;
  locks_.clear();
  off_ = false;
  crash_at_ = std::numeric_limits<std::uint64_t>::max();
}

inline void SimulatedFiles::Restart() {
  EndProcess();
  folder_ = std::exchange(synced_folder_, {});
  for (const Change& change : changes_) {
    if (Coin()) change(folder_);
  }
  changes_.clear();
  for (const auto& [name, file] : folder_) file->synced = file->content = Torn(*file);
  synced_folder_ = folder_;
}

inline std::string SimulatedFiles::Torn(const File& file) {
  const std::string& now = file.content;
  const std::string& before = file.synced;
  const auto differs = std::mismatch(now.begin(), now.end(), before.begin(), before.end()).first;
  const std::size_t kept = static_cast<std::size_t>(differs - now.begin());
  const std::size_t longest = std::max(now.size(), before.size());
  if (kept == longest) return now;
  const std::size_t end = Coin() ? now.size() : kept + choose_(static_cast<std::uint32_t>(longest - kept + 1));
  // Either all of it is there up to some byte, or some pieces are.
  const std::size_t piece = Coin() ? longest : std::max<std::size_t>(16, (longest - kept) / 256);
  std::string torn = now.substr(0, kept);
  while (torn.size() < end) {
    const std::string& from = piece == longest || choose_(4) != 0 ? now : before;
    const std::size_t stop = std::min(end, torn.size() + piece);
    if (torn.size() < from.size()) torn.append(from, torn.size(), stop - torn.size());
    torn.resize(stop);  // with zeros
  }
  return torn;
}

inline Result<void> SimulatedFiles::Check(std::uint64_t process) const {
  if (off_) return Fail(Code::kConfig, "the process has crashed");
  if (process != process_) return Fail(Code::kConfig, "the process has ended");
  return {};
}

inline Result<void> SimulatedFiles::Begin(std::uint64_t process) {
  if (pause_) pause_();
  if (auto works = Check(process); !works) return works;
  off_ = ++operations_ >= crash_at_;
  return {};
}

inline Result<void> SimulatedFiles::ChangeFolder(Change change) {
  if (auto begun = Begin(process_); !begun) return begun;
  if (Happens()) {
    change(folder_);
    changes_.push_back(std::move(change));
  }
  return Check(process_);
}

inline Result<void> SimulatedFiles::Append(std::uint64_t process, File& file, std::string_view bytes) {
  if (auto begun = Begin(process); !begun) return begun;
  const std::size_t part = off_ || full_ ? choose_(static_cast<std::uint32_t>(bytes.size() + 1)) : bytes.size();
  file.content.append(bytes.substr(0, part));
  if (full_) return Fail(Code::kConfig, "cannot write: the simulated disk is full");
  return Check(process);
}

inline Result<void> SimulatedFiles::Sync(std::uint64_t process, File& file) {
  if (auto begun = Begin(process); !begun) return begun;
  if (Happens()) file.synced = file.content;
  return Check(process);
}

inline std::vector<std::string> SimulatedFiles::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : folder_) names.push_back(name);
  return names;
}

inline std::string SimulatedFiles::Content(const std::string& name) const {
  const auto found = folder_.find(name);
  return found != folder_.end() ? found->second->content : "";
}

inline void SimulatedFiles::SetContent(const std::string& name, std::string content) {
  folder_[name] = std::make_shared<File>(File{content, content});
  synced_folder_ = folder_;
  changes_.clear();
}

inline Result<std::unique_ptr<cache::SavedInput>> SimulatedFiles::Open(const std::string& name) {
  if (auto works = Check(process_); !works) return Fail(works.error());
  const auto found = folder_.find(name);
  if (found == folder_.end()) return Fail(Code::kNotFound, "no such file: " + Path(name));
  return std::make_unique<Input>(Shared<SimulatedFiles>(this), found->second);
}

inline Result<std::unique_ptr<cache::SavedOutput>> SimulatedFiles::Create(const std::string& name) {
  auto file = std::make_shared<File>();
  if (auto done = ChangeFolder([name, file](Folder& folder) { folder[name] = file; }); !done) {
    return Fail(done.error());
  }
  return std::make_unique<Output>(Shared<SimulatedFiles>(this), std::move(file));
}

inline Result<std::unique_ptr<cache::SavedOutput>> SimulatedFiles::Extend(const std::string& name, std::uint64_t size,
                                                                          std::string_view end) {
  if (auto begun = Begin(process_); !begun) return Fail(begun.error());
  const auto found = folder_.find(name);
  if (found == folder_.end()) return Fail(Code::kNotFound, "no such file: " + Path(name));
  std::string& content = found->second->content;
  if (content.size() < size || !std::string_view(content).substr(0, size).ends_with(end)) {
    return Fail(Code::kConfig, Path(name) + " was written by another process meanwhile");
  }
  if (Happens()) content.resize(size);
  if (auto works = Check(process_); !works) return Fail(works.error());
  return std::make_unique<Output>(Shared<SimulatedFiles>(this), found->second);
}

inline Result<void> SimulatedFiles::Rename(const std::string& from, const std::string& to) {
  if (!folder_.contains(from)) return Fail(Code::kNotFound, "no such file: " + Path(from));
  auto renamed = ChangeFolder([from, to, file = folder_[from]](Folder& folder) {
    folder.erase(from);
    folder[to] = file;
  });
  if (!renamed) return renamed;
  if (auto begun = Begin(process_); !begun) return begun;
  if (Happens()) {
    synced_folder_ = folder_;
    changes_.clear();
  }
  return Check(process_);
}

inline Result<void> SimulatedFiles::Remove(const std::string& name) {
  return ChangeFolder([name](Folder& folder) { folder.erase(name); });
}

inline Result<std::unique_ptr<cache::SavedLock>> SimulatedFiles::Lock(const std::string& name) {
  if (auto works = Check(process_); !works) return Fail(works.error());
  if (!locks_.insert(name).second) return Fail(Code::kConfig, Path(name) + " is locked");
  return std::make_unique<Lease>(Shared<SimulatedFiles>(this), name);
}

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_SIMULATED_FILES_H_
