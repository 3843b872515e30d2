// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The files of this machine: whose files are accepted, and what the messages say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "tests/runtime/cache/saved/saved_fixture.h"

namespace kgen::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string name = ::testing::TempDir() + "kgen-files-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "cannot make a folder like " << name;
    parent_ = name;
    folder_ = name + "/saved";
    files_ = MakeSavedFiles(folder_);
  }
  ~FilesTest() override { std::filesystem::remove_all(parent_); }

  std::string Path(const std::string& name) const { return folder_ + '/' + name; }
  void MakeFolder() { ASSERT_EQ(::mkdir(folder_.c_str(), 0700), 0); }
  void Write(const std::string& name, const std::string& content) {
    const auto output = Must(files_->Create(name));
    Must(output->Append(content));
    Must(output->Sync());
  }
  std::string Read(const std::string& name) {
    const auto input = Must(files_->Open(name));
    std::string content;
    char piece[7];
    while (const std::size_t count = Must(input->Read(piece, sizeof piece))) content.append(piece, count);
    return content;
  }
  std::string OpenFailure(const std::string& name) {
    const auto opened = files_->Open(name);
    return opened ? "" : opened.error().ToString();
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
  }

  std::string parent_;
  std::string folder_;
  Shared<SavedFiles> files_;
};

TEST_F(FilesTest, AreReadAsTheyWereWritten) {
  MakeFolder();
  Write("a", "a text of more than seven bytes");
  EXPECT_EQ(Read("a"), "a text of more than seven bytes");
  Write("a", "another");
  EXPECT_EQ(Read("a"), "another");
}

TEST_F(FilesTest, OfAnInformerAreWrittenAndReadAgain) {
  SavedStore store;
  for (int i = 0; i < 2000; ++i) store.Put("n" + std::to_string(i), R"(,"more":")" + std::string(500, 'x') + '"');
  auto writer = std::make_unique<SavedWriter>(files_, kBinding);
  Must(SaveIn(*writer, store.Snapshot()));
  store.Remove("n1");
  Must(SaveIn(*writer, store.Snapshot()));
  const Found found = Must(ReadBack(*files_));
  EXPECT_EQ(found.objects, store.objects);
  writer = std::make_unique<SavedWriter>(files_, kBinding);  // the lock is free
  writer->Continue(found.state, store.Snapshot());
  store.Put("n2");
  Must(SaveIn(*writer, store.Snapshot()));
  EXPECT_EQ(Must(ReadBack(*files_)).objects, store.objects);
}

TEST_F(FilesTest, AreOpenToTheUserAlone) {
  const mode_t mask = ::umask(0);
  const auto lock = Must(files_->Lock("a.lock"));
  Write("a", "text");
  ::umask(mask);
  EXPECT_EQ(ModeOf(folder_), 0700U);
  EXPECT_EQ(ModeOf(Path("a")), 0600U);
  EXPECT_EQ(ModeOf(Path("a.lock")), 0600U);
}

TEST_F(FilesTest, AreExtendedBehindTheGivenEnd) {
  MakeFolder();
  Write("a", "0123456789 and a tail");
  const auto output = Must(files_->Extend("a", 10, "789"));
  EXPECT_EQ(Read("a"), "0123456789");
  Must(output->Append("more"));
  Must(output->Append(""));
  Must(output->Append("!"));
  EXPECT_EQ(Read("a"), "0123456789more!");
  EXPECT_FALSE(files_->Extend("a", 10, "xyz"));
  EXPECT_FALSE(files_->Extend("a", 100, "more!"));
  EXPECT_FALSE(files_->Extend("b", 10, "789"));
  EXPECT_EQ(Read("a"), "0123456789more!") << "a file that is not extended stays";
}

TEST_F(FilesTest, AreRenamedAndRemoved) {
  MakeFolder();
  Write("a", "first");
  Write("b", "second");
  Must(files_->Rename("b", "a"));
  EXPECT_EQ(Read("a"), "second");
  EXPECT_EQ(files_->Open("b").error().code(), Code::kNotFound);
  Must(files_->Remove("a"));
  Must(files_->Remove("a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_THAT(files_->Rename("a", "b").error().message(),
              AllOf(HasSubstr("cannot rename a to " + Path("b")), HasSubstr("No such file")));
}

TEST_F(FilesTest, InAFolderThatDoesNotExistAreNotFound) {
  EXPECT_EQ(files_->Open("a").error().code(), Code::kNotFound);
  const auto lock = Must(files_->Lock("a.lock"));  // makes the folder
  EXPECT_EQ(files_->Open("a").error().code(), Code::kNotFound);
  const auto deeper = MakeSavedFiles(parent_ + "/no/such")->Lock("a.lock");
  ASSERT_FALSE(deeper);
  EXPECT_THAT(deeper.error().message(),
              AllOf(HasSubstr("cannot make " + parent_ + "/no/such: No such file"), HasSubstr("; make the folder")));
}

TEST_F(FilesTest, OfAnotherUserAreRefused) {
  MakeFolder();
  Write("a", "text");
  if (::chown(Path("a").c_str(), 12345, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "only root can give files away";
  EXPECT_THAT(OpenFailure("a"), HasSubstr(Path("a") + " belongs to user 12345, not to user "));
  EXPECT_FALSE(files_->Extend("a", 4, "text"));
  Write("a", "mine");  // replaces it
  EXPECT_EQ(Read("a"), "mine");
  ASSERT_EQ(::chown(folder_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_THAT(OpenFailure("a"), HasSubstr(folder_ + " belongs to user 12345, not to user "));
  EXPECT_FALSE(files_->Create("b"));
  EXPECT_FALSE(files_->Lock("a.lock"));
  EXPECT_FALSE(files_->Remove("a"));
}

TEST_F(FilesTest, ThatEverybodyMayOpenAreRefused) {
  MakeFolder();
  Write("a", "text");
  for (const mode_t mode : {0604, 0602, 0601, 0666}) {
    ASSERT_EQ(::chmod(Path("a").c_str(), mode), 0);
    EXPECT_THAT(OpenFailure("a"), AllOf(HasSubstr(Path("a") + " is open to all users of the machine"),
                                        HasSubstr("run: chmod o= " + Path("a"))));
  }
  ASSERT_EQ(::chmod(Path("a").c_str(), 0660), 0);  // a volume with an fsGroup
  EXPECT_EQ(Read("a"), "text");
  ASSERT_EQ(::chmod(folder_.c_str(), 0701), 0);
  EXPECT_THAT(OpenFailure("a"), HasSubstr(folder_ + " is open to all users of the machine"));
  EXPECT_FALSE(files_->Create("b"));
  EXPECT_FALSE(files_->Lock("a.lock"));
  ASSERT_EQ(::chmod(folder_.c_str(), 02770), 0);
  EXPECT_EQ(Read("a"), "text");
}

TEST_F(FilesTest, ThatAreNoRegularFilesAreRefused) {
  MakeFolder();
  Write("a", "text");
  ASSERT_EQ(::symlink(Path("a").c_str(), Path("link").c_str()), 0);
  EXPECT_THAT(OpenFailure("link"), HasSubstr("must not be a symbolic link"));
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(OpenFailure("fifo"), HasSubstr(Path("fifo") + " is not a regular file; remove it"));
  ASSERT_EQ(::mkdir(Path("folder").c_str(), 0700), 0);
  EXPECT_THAT(OpenFailure("folder"), HasSubstr(Path("folder") + " is not a regular file; remove it"));
  EXPECT_FALSE(files_->Lock("link"));
  EXPECT_FALSE(files_->Lock("folder"));
  EXPECT_FALSE(files_->Extend("link", 4, "text"));
  EXPECT_FALSE(files_->Create("folder"));
  Write("link", "a file in place of the link");
  Write("fifo", "a file in place of the FIFO");
  EXPECT_EQ(Read("a"), "text");
  EXPECT_EQ(Read("fifo"), "a file in place of the FIFO");
}

TEST_F(FilesTest, AFileInPlaceOfTheFolderIsReported) {
  std::ofstream(folder_) << "text";
  EXPECT_THAT(OpenFailure("a"), AllOf(HasSubstr("cannot open " + folder_), HasSubstr("Not a directory")));
  EXPECT_FALSE(files_->Lock("a.lock"));
}

TEST_F(FilesTest, AreLockedOnce) {
  auto first = Must(files_->Lock("a.lock"));
  const auto second = MakeSavedFiles(folder_)->Lock("a.lock");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(),
              AllOf(HasSubstr(Path("a.lock") + " is locked"), HasSubstr("WarmStart::folder")));
  Must(files_->Lock("b.lock"));
  first.reset();
  Must(files_->Lock("a.lock"));
}

TEST_F(FilesTest, ThatCannotTakeAllThatIsWrittenAreReported) {
  MakeFolder();
  struct rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit tight{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto output = Must(files_->Create("a"));
  const auto done = output->Append("a text of more than ten bytes");  // ten are written, and then none
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("cannot write " + Path("a") + ": File too large"));
  EXPECT_EQ(Read("a"), "a text of ");
}

}  // namespace
}  // namespace kgen::cache
