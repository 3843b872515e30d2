// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/saved/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/files/file_handle.h"
#include "kgen/core/try.h"

namespace kgen::cache {
namespace {

using detail::FileHandle;

std::string_view Advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free space there, or choose another WarmStart::folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a WarmStart::folder that the user of this process owns and may write";
    case ENOENT:
    case ENOTDIR:
      return "; make the folder, or choose another WarmStart::folder";
    case ELOOP:
      return "; it must not be a symbolic link: remove it";
    case EIO:
      return "; the disk may be failing";
    default:
      return "";
  }
}

std::unexpected<Error> Failed(std::string_view doing, const std::string& path, int error) {
  return Fail(
      error == ENOENT ? Code::kNotFound : Code::kConfig,
      std::string(doing) + ' ' + path + ": " + std::generic_category().message(error) + std::string(Advice(error)));
}

// Repeats a call that a signal interrupts.
template <typename F>
auto Retry(F&& f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

// Returns an error if the file or folder may have been written by others.
Result<void> CheckOwner(const std::string& path, const struct stat& status) {
  if (status.st_uid != ::geteuid()) {
    return Fail(Code::kConfig, path + " belongs to user " + std::to_string(status.st_uid) + ", not to user " +
                                   std::to_string(::geteuid()) +
                                   " of this process, so it is not used; change its owner or remove it");
  }
  if ((status.st_mode & 0007) != 0) {
    return Fail(Code::kConfig, path + " is open to all users of the machine, so it is not used; run: chmod o= " + path);
  }
  return {};
}

Result<void> CheckFile(const std::string& path, int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return Failed("cannot examine", path, errno);
  if (!S_ISREG(status.st_mode)) return Fail(Code::kConfig, path + " is not a regular file; remove it");
  return CheckOwner(path, status);
}

Result<void> SyncHandle(const std::string& path, int handle) {
  if (Retry([&] { return ::fsync(handle); }) != 0) return Failed("cannot write to the disk", path, errno);
  return {};
}

class FileInput final : public SavedInput {
 public:
  FileInput(std::string path, FileHandle file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<std::size_t> Read(char* to, std::size_t size) override {
    const ssize_t count = Retry([&] { return ::read(file_.get(), to, size); });
    if (count < 0) return Failed("cannot read", path_, errno);
    return static_cast<std::size_t>(count);
  }

 private:
  const std::string path_;
  const FileHandle file_;
};

class FileOutput final : public SavedOutput {
 public:
  FileOutput(std::string path, FileHandle file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = Retry([&] { return ::write(file_.get(), bytes.data(), bytes.size()); });
      if (count < 0) return Failed("cannot write", path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
  }
  Result<void> Sync() override { return SyncHandle(path_, file_.get()); }

 private:
  const std::string path_;
  const FileHandle file_;
};

class FileLock final : public SavedLock {
 public:
  explicit FileLock(FileHandle file) : file_(std::move(file)) {}

 private:
  const FileHandle file_;
};

class FolderFiles final : public SavedFiles {
 public:
  explicit FolderFiles(std::string folder) : folder_(std::move(folder)) {}

  std::string Path(const std::string& name) const override { return folder_ + '/' + name; }

  Result<std::unique_ptr<SavedInput>> Open(const std::string& name) override {
    const std::string path = Path(name);
    Result<FileHandle> folder = Folder();
    if (!folder) return Fail(folder.error());
    FileHandle file = OpenIn(*folder, name, O_RDONLY);
    if (file.get() < 0) return Failed("cannot open", path, errno);
    if (auto mine = CheckFile(path, file.get()); !mine) return Fail(mine.error());
    return std::make_unique<FileInput>(path, std::move(file));
  }

  Result<std::unique_ptr<SavedOutput>> Create(const std::string& name) override {
    // An existing file may have another owner, be a link, or be open in another process.
    if (auto removed = Remove(name); !removed) return Fail(removed.error());
    KGEN_TRY(const FileHandle folder, Folder());
    FileHandle file = OpenIn(folder, name, O_WRONLY | O_CREAT | O_EXCL);
    if (file.get() < 0) return Failed("cannot create", Path(name), errno);
    return std::make_unique<FileOutput>(Path(name), std::move(file));
  }

  Result<std::unique_ptr<SavedOutput>> Extend(const std::string& name, std::uint64_t size,
                                              std::string_view end) override {
    const std::string path = Path(name);
    KGEN_TRY(const FileHandle folder, Folder());
    FileHandle file = OpenIn(folder, name, O_RDWR);
    if (file.get() < 0) return Failed("cannot open", path, errno);
    if (auto mine = CheckFile(path, file.get()); !mine) return Fail(mine.error());
    std::string found(end.size(), '\0');
    const auto begin = static_cast<off_t>(size - end.size());
    const ssize_t count = Retry([&] { return ::pread(file.get(), found.data(), found.size(), begin); });
    if (count < 0) return Failed("cannot read", path, errno);
    if (static_cast<std::size_t>(count) != end.size() || found != end) {
      return Fail(Code::kConfig, path + " was written by another process meanwhile");
    }
    if (Retry([&] { return ::ftruncate(file.get(), static_cast<off_t>(size)); }) != 0 ||
        ::lseek(file.get(), 0, SEEK_END) < 0) {
      return Failed("cannot write", path, errno);
    }
    return std::make_unique<FileOutput>(path, std::move(file));
  }

  Result<void> Rename(const std::string& from, const std::string& to) override {
    KGEN_TRY(const FileHandle folder, Folder());
    if (::renameat(folder.get(), from.c_str(), folder.get(), to.c_str()) != 0) {
      return Failed("cannot rename " + from + " to", Path(to), errno);
    }
    return SyncHandle(folder_, folder.get());
  }

  Result<void> Remove(const std::string& name) override {
    KGEN_TRY(const FileHandle folder, Folder());
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
      return Failed("cannot remove", Path(name), errno);
    }
    return {};
  }

  Result<std::unique_ptr<SavedLock>> Lock(const std::string& name) override {
    if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) return Failed("cannot make", folder_, errno);
    KGEN_TRY(const FileHandle folder, Folder());
    const std::string path = Path(name);
    FileHandle file = OpenIn(folder, name, O_WRONLY | O_CREAT);
    if (file.get() < 0) return Failed("cannot open", path, errno);
    if (auto mine = CheckFile(path, file.get()); !mine) return Fail(mine.error());
    if (Retry([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) == 0) {
      return std::make_unique<FileLock>(std::move(file));
    }
    if (errno != EWOULDBLOCK) return Failed("cannot lock", path, errno);
    return Fail(Code::kConfig, path + " is locked: another informer saves there, in this process or in another one; " +
                                   "give each process its own WarmStart::folder");
  }

 private:
  Result<FileHandle> Folder() const {
    FileHandle folder(Retry([&] { return ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (folder.get() < 0) return Failed("cannot open", folder_, errno);
    struct stat status{};
    if (::fstat(folder.get(), &status) != 0) return Failed("cannot examine", folder_, errno);
    if (auto mine = CheckOwner(folder_, status); !mine) return Fail(mine.error());
    return folder;
  }

  // Without O_NONBLOCK, opening a FIFO could block.
  static FileHandle OpenIn(const FileHandle& folder, const std::string& name, int flags) {
    constexpr int kAlways = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    return FileHandle(Retry([&] { return ::openat(folder.get(), name.c_str(), flags | kAlways, 0600); }));
  }

  const std::string folder_;
};

}  // namespace

Shared<SavedFiles> MakeSavedFiles(std::string folder) { return MakeShared<FolderFiles>(std::move(folder)); }

}  // namespace kgen::cache
