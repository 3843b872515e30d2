// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// SavedFiles: the folder with the files of saved caches, as far as these need it. The implementation of the simulator
// loses what was not synced.
#ifndef KGEN_SRC_CACHE_SAVED_FILES_H_
#define KGEN_SRC_CACHE_SAVED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// A file that is read from its beginning to its end.
class SavedInput {
 public:
  virtual ~SavedInput() = default;
  // Reads up to `size` bytes. Returns their number, 0 at the end. Errors: kConfig, with the path and the cause.
  virtual Result<std::size_t> Read(char* to, std::size_t size) = 0;
};

// A file that is written at its end.
class SavedOutput {
 public:
  virtual ~SavedOutput() = default;
  // After an error the content is unknown, and the file must be written anew.
  virtual Result<void> Append(std::string_view bytes) = 0;
  // Returns when everything that was appended survives a crash of the machine.
  virtual Result<void> Sync() = 0;
};

// Keeps other processes from saving under the same name for as long as it lives.
class SavedLock {
 public:
  virtual ~SavedLock() = default;
};

// Thread safety: any thread that may block; calls for one name come one at a time.
// Errors of all members: kNotFound if there is no such file or folder, else kConfig; with the path, the cause and what
// to do. All of them refuse a folder that belongs to another user, or that everybody may read or write.
class SavedFiles : public SharedObject {
 public:
  // Returns the path of a file, for messages.
  virtual std::string Path(const std::string& name) const = 0;
  // Opens a file for reading. Fails if it is no regular file, if it belongs to another user, or if everybody may read
  // or write it: its content decides what the program believes. Access of the group is accepted, because volumes with
  // an fsGroup have it.
  virtual Result<std::unique_ptr<SavedInput>> Open(const std::string& name) = 0;
  // Makes an empty file, in place of an existing one, that only the user may read and write.
  virtual Result<std::unique_ptr<SavedOutput>> Create(const std::string& name) = 0;
  // Opens a file to write behind its first `size` bytes, and cuts off what follows these. Fails if they do not end with
  // `end`: another process has written the file since it was read.
  virtual Result<std::unique_ptr<SavedOutput>> Extend(const std::string& name, std::uint64_t size,
                                                      std::string_view end) = 0;
  // Renames a file, in place of an existing one. Returns when that survives a crash of the machine.
  virtual Result<void> Rename(const std::string& from, const std::string& to) = 0;
  // Succeeds if there is no such file.
  virtual Result<void> Remove(const std::string& name) = 0;
  // Fails if another process has the lock. Makes the folder if only its last part is missing.
  virtual Result<std::unique_ptr<SavedLock>> Lock(const std::string& name) = 0;
};

// Returns the files of a folder of this machine. Does not look at it before the first call.
Shared<SavedFiles> MakeSavedFiles(std::string folder);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_SAVED_FILES_H_
