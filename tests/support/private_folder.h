// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PrivateFolder: a folder that only this user can read, and that is removed with what is in it.
#ifndef KGEN_TESTS_SUPPORT_PRIVATE_FOLDER_H_
#define KGEN_TESTS_SUPPORT_PRIVATE_FOLDER_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::test_support {

class PrivateFolder {
 public:
  PrivateFolder() : path_((std::filesystem::temp_directory_path() / "kgen-test-XXXXXX").native()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + path_);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const noexcept { return path_; }
  // The names of the files that end so, sorted.
  std::vector<std::string> Files(std::string_view ending) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      std::string name = entry.path().filename().native();
      if (name.ends_with(ending)) names.push_back(std::move(name));
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  std::string path_;
};

}  // namespace kgen::test_support

#endif  // KGEN_TESTS_SUPPORT_PRIVATE_FOLDER_H_
