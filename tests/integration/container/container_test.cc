// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An image that `./dev container` has built: its program runs as the image says, in the image's own root folder, which
// cannot be written to, against the network endpoint of the in-memory cluster. Nothing here starts a container: chroot
// and a mount namespace stand for what a runtime does with `runAsNonRoot` and `readOnlyRootFilesystem`.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "kgen/core/executor.h"
#include "kgen/testing/cluster.h"
#include "tests/integration/eventually.h"
#include "tests/programs/program.h"

namespace kgen::integration {
namespace {

using test_support::Program;
using testing::Cluster;

// What `./dev container` says about the image.
std::string Setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Makes the root folder read-only, and checks that it is, before the program starts.
constexpr const char* kRun = R"(
root=$1 user=$2; shift 2
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" || exit 98
! touch "$root/written" 2>/dev/null || exit 99
exec env -i KUBECONFIG=/kubeconfig /usr/sbin/chroot --userspec="$user" --groups= "$root" "$@"
)";

class ImageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(root_.empty()) << "run `./dev container`, which builds the image and names it in KGEN_TEST_IMAGE";
    ASSERT_FALSE(entrypoint_.empty()) << "the image has no ENTRYPOINT";
    const auto kubeconfig = cluster_.Serve();
    ASSERT_TRUE(kubeconfig) << kubeconfig.error();
    std::ofstream(root_ + "/kubeconfig") << *kubeconfig;
  }

  std::unique_ptr<Program> Start() const {
    std::vector<std::string> words = {"--mount", "sh", "-c", kRun, "run", root_, user_, entrypoint_};
    std::istringstream arguments(Setting("KGEN_TEST_IMAGE_ARGUMENTS"));
    for (std::string word; arguments >> word;) words.push_back(word);
    return std::make_unique<Program>("/usr/bin/unshare", words, std::vector<std::string>{});
  }
  // Whether the program has opened a watch, through which its caches also get their first list.
  bool FollowsTheServer() {
    return Eventually([&] { return cluster_.census().watches > 0; }, std::chrono::seconds(60),
                      std::chrono::milliseconds(1));
  }

  const std::string root_ = Setting("KGEN_TEST_IMAGE");
  const std::string user_ = Setting("KGEN_TEST_IMAGE_USER");
  const std::string entrypoint_ = Setting("KGEN_TEST_IMAGE_ENTRYPOINT");
  Cluster cluster_{{.simulated = false}};
};

TEST_F(ImageTest, NamesAUserByNumberWhoIsNotRoot) {
  const std::size_t colon = user_.find(':');
  ASSERT_NE(colon, std::string::npos) << "USER is '" << user_ << "', not UID:GID";
  for (const std::string& id : {user_.substr(0, colon), user_.substr(colon + 1)}) {
    EXPECT_TRUE(!id.empty() && id.find_first_not_of("0123456789") == std::string::npos && id[0] != '0') << user_;
  }
}

TEST_F(ImageTest, GivesNoFileOfTheProgramToItsUser) {
  for (const char* path : {"/", "/program"}) {
    const auto mode = std::filesystem::status(root_ + path).permissions();
    EXPECT_EQ(mode & std::filesystem::perms::others_write, std::filesystem::perms::none) << path;
  }
  EXPECT_TRUE(std::filesystem::exists(root_ + entrypoint_)) << entrypoint_;
}

TEST_F(ImageTest, RunsWithoutWritingToItsFileSystemAndStopsAtASignal) {
  std::vector<std::chrono::milliseconds> times;
  for (int round = 0; round < 5; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto program = Start();
    EXPECT_TRUE(FollowsTheServer()) << program->errors();
    times.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin));
    program->Signal(SIGTERM);
    ASSERT_EQ(program->Wait(), 0) << program->errors();
    ASSERT_TRUE(Eventually([&] { return cluster_.census().watches == 0; }));
  }
  std::ranges::sort(times);
  std::cout << "first watch " << times[times.size() / 2].count() << " ms after the start, in the median of five\n";
}

}  // namespace
}  // namespace kgen::integration
