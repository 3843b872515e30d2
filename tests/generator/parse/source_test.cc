// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kgen::generator::parse {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class Sources : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kgen-sources-XXXXXX").native();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.native();
  }

  // Names relative to the folder and texts, in order: "a.yaml=text b.yaml=text".
  std::string Load(const std::vector<std::string>& paths, const SourceOptions& options = {}) {
    std::string out;
    for (const Source& source : LoadSources(paths, diagnostics_, options)) {
      std::string name = source.name;
      if (name.starts_with(folder_.native())) name = name.substr(folder_.native().size() + 1);
      out += (out.empty() ? "" : " ") + name + "=" + source.text;
      EXPECT_EQ(diagnostics_.FileName(source.file), source.name);
    }
    return out;
  }

  fs::path folder_;
  Diagnostics diagnostics_;
};

TEST_F(Sources, ReadsEachFileOnceInOrder) {
  const std::string a = Write("a", "1");
  const std::string b = Write("b", "2");
  EXPECT_EQ(Load({b, a, b, folder_ / "." / "a"}), "b=2 a=1");
}

// Contract: generator IN-07.
TEST_F(Sources, ReadsTheFilesOfAFolderWithKnownExtensionsInByteOrder) {
  for (const char* name : {"b.yml", "a.yaml", "B.json", "sub/z.yaml", "sub.yaml", "note.txt", "README.md", "x.yamlx"})
    Write(name, "1");
  Write("c.json.gz", Gzip("2"));
  EXPECT_EQ(Load({folder_}), "B.json=1 a.yaml=1 b.yml=1 c.json.gz=2 sub.yaml=1 sub/z.yaml=1");
}

// Contract: generator IN-07, SEC-06.
TEST_F(Sources, FollowsNoLinkOutOfAFolder) {
  Write("in/a.yaml", "1");
  Write("out/b.yaml", "2");
  fs::create_symlink(folder_ / "out" / "b.yaml", folder_ / "in" / "b.yaml");
  fs::create_directory_symlink(folder_ / "out", folder_ / "in" / "more");
  EXPECT_EQ(Load({folder_ / "in"}), "in/a.yaml=1");
}

// Contract: generator IN-05.
TEST_F(Sources, UncompressesByContentNotByName) {
  EXPECT_EQ(Load({Write("plain.yaml", Gzip("a: 1"))}), "plain.yaml=a: 1");
  EXPECT_EQ(Load({Write("two.gz", Gzip("a: 1\n") + Gzip("b: 2"))}), "two.gz=a: 1\nb: 2");
}

// Contract: generator ERR-13.
TEST_F(Sources, RefusesDamagedAndCutCompressedFiles) {
  const std::string whole = Gzip(std::string(10000, 'x') + "end");
  EXPECT_EQ(Load({Write("cut.gz", whole.substr(0, whole.size() / 2))}), "");
  std::string damaged = whole;
  damaged[12] ^= 0x55;
  damaged[13] ^= 0x55;
  EXPECT_EQ(Load({Write("damaged.gz", damaged)}), "");
  EXPECT_THAT(diagnostics_.Render(), HasSubstr("cut.gz: error: the compressed file is cut off [input-gzip]"));
  EXPECT_EQ(diagnostics_.error_count(), 2u);
}

// Contract: generator SEC-07.
TEST_F(Sources, LimitsTheUncompressedSize) {
  EXPECT_EQ(Load({Write("bomb.gz", Gzip(std::string(1 << 20, ' ')))}, {.max_bytes = 1000}), "");
  EXPECT_THAT(diagnostics_.Render(), HasSubstr("more than 1000 bytes when uncompressed [input-gzip]"));
  EXPECT_EQ(Load({Write("big.yaml", std::string(1001, 'x'))}, {.max_bytes = 1000}), "");
  EXPECT_THAT(diagnostics_.Render(), HasSubstr("big.yaml: error: more than 1000 bytes [input-too-large]"));
}

// Contract: generator IN-06.
TEST_F(Sources, ReadsStandardInputOnce) {
  std::istringstream in("a: 1");
  EXPECT_EQ(Load({"-", "-"}, {.standard_input = &in}), "<stdin>=a: 1");
}

// Contract: generator ERR-09.
TEST_F(Sources, ReportsEachFaultOfAnInputByItsOwnMessage) {
  fs::create_directories(folder_ / "empty");
  const std::vector<std::string> paths = {folder_ / "no.yaml", folder_ / "empty", Write("void.yaml", " \n"),
                                          Write("binary", std::string("\x7F"
                                                                      "ELF\0\1",
                                                                      6))};
  EXPECT_EQ(Load(paths), "");
  const std::string said = diagnostics_.Render();
  EXPECT_THAT(said, HasSubstr("no.yaml: error: no such file or folder [input-missing]"));
  EXPECT_THAT(said, HasSubstr("empty: error: the folder contains no file with a known extension [input-empty]"));
  EXPECT_THAT(said, HasSubstr("void.yaml: error: the file is empty [input-empty]"));
  EXPECT_THAT(said, HasSubstr("binary: error: this is a binary file, neither YAML nor JSON [input-binary]"));
}

}  // namespace
}  // namespace kgen::generator::parse
