// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What kgen decodes from protobuf beside what it decodes from JSON, for objects that the Go types of Kubernetes wrote
// in both (objects/main.go).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "codec/protobuf_encoder.h"
#include "codec/protobuf_envelope.h"
#include "core/blocks.h"
#include "k8s/scheme.h"
#include "kgen/codec/decode.h"
#include "tests/integration/same_object.h"
#include "tests/support/paths.h"

namespace kgen {
namespace {

using integration::ExpectEqual;

struct CloseProgram {
  void operator()(std::FILE* program) const { EXPECT_EQ(::pclose(program), 0); }
};

// The output of a Go program of this folder.
class Output {
 public:
  explicit Output(const std::string& command) : program_(::popen((Folder() + "/" + command).c_str(), "r")) {
    EXPECT_NE(program_, nullptr);
  }

  static std::string Folder() {
    const char* const folder = std::getenv("KGEN_TEST_PROTOBUF");
    return folder == nullptr ? "" : folder;
  }

  bool ReadField(std::string& field) {
    unsigned char size[4];
    if (std::fread(size, 1, 4, program_.get()) != 4) return false;
    field.resize(std::size_t{size[0]} << 24 | std::size_t{size[1]} << 16 | std::size_t{size[2]} << 8 | size[3]);
    return std::fread(field.data(), 1, field.size(), program_.get()) == field.size();
  }
  std::string ReadAll() {
    std::string all(1 << 20, '\0');
    all.resize(std::fread(all.data(), 1, all.size(), program_.get()));
    return all;
  }

 private:
  std::unique_ptr<std::FILE, CloseProgram> program_;
};

class DecoderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Output::Folder().empty()) GTEST_SKIP() << "no programs in Go: ./dev integration builds them";
    for (const TypeTable* table : k8s::Kinds()) {
      const KindInfo& kind = *table->kind;
      const std::string group(kind.group);
      tables_[(group.empty() ? "" : group + "/") + std::string(kind.version) + " " + std::string(kind.kind)] = table;
    }
  }

  // Returns how many kinds were compared.
  std::size_t Compare(Output& output) {
    std::set<std::string> kinds;
    std::string api_version, kind, text, binary;
    while (output.ReadField(api_version) && output.ReadField(kind) && output.ReadField(text) &&
           output.ReadField(binary) && !HasFailure()) {
      const auto table = tables_.find(api_version + " " + kind);
      if (table == tables_.end()) continue;  // a type of a subresource
      kinds.insert(table->first);
      CompareObject(*table->second, text, binary);
    }
    return kinds.size();
  }

 private:
  static void CompareObject(const TypeTable& table, const std::string& text, const std::string& binary) {
    constexpr DecodeOptions kProtobuf = {.encoding = Encoding::kProtobuf};
    ObjectDecoder decoder(table);
    const auto envelope = codec::ReadEnvelope(binary);
    ASSERT_TRUE(envelope) << envelope.error().message();
    const auto expected = decoder.Decode(text);
    ASSERT_TRUE(expected) << text << ": " << expected.error().message();
    const auto decoded = decoder.Decode(envelope->raw, kProtobuf);
    ASSERT_TRUE(decoded) << text << ": " << decoded.error().message();
    ExpectEqual(*expected, *decoded, table.name);
    const auto encoded = codec::EncodeProtobuf(decoded->object(), table);
    ASSERT_TRUE(encoded) << encoded.error().message();
    const auto again = decoder.Decode(*encoded, kProtobuf);
    ASSERT_TRUE(again) << text << ": " << again.error().message();
    EXPECT_TRUE(detail::EqualStruct(decoded->object(), again->object(), table)) << text;
  }

  std::map<std::string, const TypeTable*> tables_;
};

TEST_F(DecoderTest, RandomObjectsOfEveryKindEqualThoseFromJson) {
  const char* const count = std::getenv("KGEN_TEST_PROTOBUF_OBJECTS");
  Output output("objects -objects " + std::string(count == nullptr ? "20000" : count));
  EXPECT_GE(Compare(output), 60u);
}

TEST_F(DecoderTest, TheTestDataOfKubernetesEqualThoseFromJson) {
  Output output("objects -testdata \"$KGEN_TEST_PROTOBUF_DATA\"");
  EXPECT_GE(Compare(output), 60u);
}

TEST_F(DecoderTest, TheFactsAreThoseOfTheGoTypes) {
  Output output("facts");
  const std::string facts = test_support::ReadFile(test_support::SourcePath("openapi/kubernetes-1.36/protobuf.yaml"));
  EXPECT_TRUE(output.ReadAll() == facts) << "write them anew; openapi/README.md says how";
}

}  // namespace
}  // namespace kgen
