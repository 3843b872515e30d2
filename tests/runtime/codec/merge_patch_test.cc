// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reference is nlohmann_json's merge_patch(), another implementation of RFC 7386.
#include "kgen/codec/merge_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "tests/runtime/codec/codec_fixture.h"
#include "tests/runtime/codec/widget.h"

namespace kgen {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using widgets::Spec;

Result<std::string> Patch(std::string_view before, std::string_view after) {
  const Spec was = Must(Decode<Spec>(before));
  const Spec is = Must(Decode<Spec>(after));
  return detail::DiffStructs(&was, &is, Spec::kTable);
}

TEST(MergePatch, IsEmptyWhereNothingDiffers) {
  EXPECT_EQ(Must(Patch(R"({"name":"a","ratio":1.0,"anything":{"a":1,"b":2}})",
                       R"({"name":"a","ratio":1,"anything":{"b":2,"a":1}})")),
            "{}");
}

// Contract: controller 157.
TEST(MergePatch, HoldsWhatDiffersAndNullForWhatIsGone) {
  EXPECT_EQ(Must(Patch(R"({"name":"a","replicas":1,"named":{"x":{"name":"n","count":1},"y":{"name":"m"}}})",
                       R"({"name":"a","replicas":2,"named":{"x":{"name":"n"}}})")),
            R"({"named":{"x":{"count":null},"y":null},"replicas":2})");
}

TEST(MergePatch, ReplacesListsAsAWhole) {
  EXPECT_EQ(Must(Patch(R"({"parts":[{"name":"a"},{"name":"b"}]})", R"({"parts":[{"name":"a"},{"name":"c"}]})")),
            R"({"parts":[{"name":"a"},{"name":"c"}]})");
  EXPECT_EQ(Must(Patch(R"({"parts":[]})", R"({"parts":[null]})")), R"({"parts":[null]})");
}

TEST(MergePatch, TellsEmptyFromAbsent) {
  EXPECT_EQ(Must(Patch("{}", R"({"optional":{},"parts":[],"name":""})")), R"({"name":"","optional":{},"parts":[]})");
  EXPECT_EQ(Must(Patch(R"({"optional":{"name":"a"}})", R"({"optional":{}})")), R"({"optional":{"name":null}})");
}

// Contract: controller 157.
TEST(MergePatch, KeepsTheSpellingOfNumbers) {
  EXPECT_EQ(Must(Patch("{}", R"({"later":12345678901234567890,"ratio":2.50})")),
            R"({"later":12345678901234567890,"ratio":2.50})");
  // As doubles, these would be equal.
  EXPECT_EQ(Must(Patch(R"({"later":9007199254740992})", R"({"later":9007199254740993})")),
            R"({"later":9007199254740993})");
}

TEST(MergePatch, RefusesAMemberThatBecameNull) {
  auto patch = Patch(R"({"note":"n"})", R"({"note":null})");
  ASSERT_FALSE(patch);
  EXPECT_EQ(patch.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(patch.error().message(), HasSubstr("cannot set note to null"));
  EXPECT_THAT(Patch("{}", R"({"named":{"k.1":{"later":{"x":null}}}})").error().message(),
              HasSubstr("cannot set named['k.1'].later.x to null"));
  EXPECT_EQ(Must(Patch(R"({"note":null})", R"({"note":null,"name":"a"})")), R"({"name":"a"})");
  EXPECT_EQ(Must(Patch(R"({"note":null})", "{}")), R"({"note":null})");
}

TEST(MergePatch, RefusesJsonThatIsNone) {
  Spec before;
  Spec after;
  after.unknown_fields.Set("later", Json("{"));
  EXPECT_EQ(detail::DiffStructs(&before, &after, Spec::kTable).error().code(), Code::kDecode);
}

// A spec by chance, without nulls outside of lists.
json AnyPart(std::mt19937& random, int depth) {
  json part = json::object();
  if (random() % 2 == 0) part["name"] = std::string(random() % 3, 'x');
  if (random() % 2 == 0) part["count"] = random() % 3;
  if (random() % 2 == 0) part["later"] = random() % 2 == 0 ? json({{"a.b", random() % 2}}) : json(random() % 3);
  if (random() % 2 == 0) part["tags"] = json::array({"a", random() % 2 == 0 ? json("b") : json()});
  if (random() % 2 == 0) part["env"] = json::object({{std::string(1 + random() % 2, 'k'), "v"}});
  if (depth < 3 && random() % 2 == 0) part["child"] = AnyPart(random, depth + 1);
  if (depth < 3 && random() % 2 == 0) part["parts"] = json::array({AnyPart(random, depth + 1)});
  return part;
}

TEST(MergePatch, AppliedToTheOneGivesTheOther) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto before = Must(Decode<widgets::Part>(AnyPart(random, 0).dump()));
    const auto after = Must(Decode<widgets::Part>(AnyPart(random, 0).dump()));
    const std::string patch = Must(detail::DiffStructs(&before, &after, widgets::Part::kTable));
    json patched = json::parse(Encode(before));
    patched.merge_patch(json::parse(patch));
    ASSERT_EQ(Must(Decode<widgets::Part>(patched.dump())), after) << "seed " << seed << ": " << patch;
  }
}

}  // namespace
}  // namespace kgen
