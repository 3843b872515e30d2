// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/peek_metadata.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/protobuf_encoder.h"

namespace kgen::codec {
namespace {

std::string Peek(std::string_view bytes, MetadataText which, Encoding encoding = Encoding::kJson) {
  std::string text = "none";
  const bool found = PeekMetadata(bytes, which, text, encoding);
  EXPECT_TRUE(found || text == "none");
  return text;
}

TEST(PeekMetadata, FindsATextOfTheMetadataAtAnyPosition) {
  const std::string_view json =
      R"({"spec":{"uid":"x"},"metadata":{"labels":{"uid":"y"},"namespace":"n\u0061","uid":"u","resourceVersion":"7"}})";
  EXPECT_EQ(Peek(json, MetadataText::kNamespace), "na");
  EXPECT_EQ(Peek(json, MetadataText::kUid), "u");
  EXPECT_EQ(Peek(json, MetadataText::kResourceVersion), "7");
}

TEST(PeekMetadata, FindsNothingWhereThereIsNoText) {
  EXPECT_EQ(Peek(R"({"metadata":{"name":"a"}})", MetadataText::kUid), "none");
  EXPECT_EQ(Peek(R"({"metadata":{"uid":7}})", MetadataText::kUid), "none");
  EXPECT_EQ(Peek(R"({"metadata":[]})", MetadataText::kUid), "none");
  EXPECT_EQ(Peek(R"({"metadata":{"uid":"a)", MetadataText::kUid), "none");
  EXPECT_EQ(Peek("", MetadataText::kUid), "none");
}

TEST(PeekMetadata, FindsATextInProtobuf) {
  std::string metadata, message;
  AppendField(1, "name", metadata);
  AppendField(3, "n", metadata);
  AppendField(5, "u", metadata);
  AppendField(6, "7", metadata);
  AppendField(1, metadata, message);
  AppendField(2, "a spec", message);
  EXPECT_EQ(Peek(message, MetadataText::kNamespace, Encoding::kProtobuf), "n");
  EXPECT_EQ(Peek(message, MetadataText::kUid, Encoding::kProtobuf), "u");
  EXPECT_EQ(Peek(message, MetadataText::kResourceVersion, Encoding::kProtobuf), "7");
  EXPECT_EQ(Peek(message.substr(0, 4), MetadataText::kUid, Encoding::kProtobuf), "none");
  EXPECT_EQ(Peek("", MetadataText::kUid, Encoding::kProtobuf), "none");
}

}  // namespace
}  // namespace kgen::codec
