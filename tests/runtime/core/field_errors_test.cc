// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The expected messages are what field.Error of k8s.io/apimachinery prints, and Go's %q and %v.
#include "kgen/core/field_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "kgen/core/optional.h"
#include "kgen/core/string.h"

namespace kgen {
namespace {

using ::testing::ElementsAre;

std::string InvalidMessage(const auto& value) {
  FieldErrors errors;
  errors.Invalid("a", value, "");
  return errors.begin()->message;
}

TEST(FieldErrors, SayWhatServersSay) {
  FieldErrors errors;
  errors.Invalid("spec.quantity", 0, "must be positive");
  errors.Required("spec.item");
  errors.Required("spec.item", "an order has one");
  errors.NotSupported("spec.tier", "a", {"b", "c"});
  errors.NotSupported("spec.tier", "a", {});
  errors.TooLong("metadata.name", 5);
  errors.TooLong("metadata.name", 1);
  errors.TooMany("spec.lines", 5, 3);
  errors.TooMany("spec.lines", 2, 1);
  errors.Duplicate("spec.lines[1]", "cup");
  errors.Forbidden("spec.item", "is immutable");
  errors.NotFound("spec.shop", "north");
  errors.TypeInvalid("spec.quantity", "2", "must be an integer");
  errors.Internal("spec", "no answer");
  std::vector<std::string> lines;
  for (const FieldError& error : errors) lines.push_back(error.ToString());
  EXPECT_THAT(lines, ElementsAre("spec.quantity: Invalid value: 0: must be positive",  //
                                 "spec.item: Required value",                          //
                                 "spec.item: Required value: an order has one",        //
                                 R"(spec.tier: Unsupported value: "a": supported values: "b", "c")",
                                 R"(spec.tier: Unsupported value: "a")",                   //
                                 "metadata.name: Too long: may not be more than 5 bytes",  //
                                 "metadata.name: Too long: may not be more than 1 byte",   //
                                 "spec.lines: Too many: 5: must have at most 3 items",     //
                                 "spec.lines: Too many: 2: must have at most 1 item",      //
                                 R"(spec.lines[1]: Duplicate value: "cup")",               //
                                 "spec.item: Forbidden: is immutable",                     //
                                 R"(spec.shop: Not found: "north")",                       //
                                 R"(spec.quantity: Invalid value: "2": must be an integer)",
                                 "spec: Internal error: no answer"));
}

TEST(FieldErrors, HaveTheReasonsOfCauses) {
  using Kind = FieldError::Kind;
  std::vector<std::string> reasons;
  for (const Kind kind : {Kind::kRequired, Kind::kInvalid, Kind::kTypeInvalid, Kind::kDuplicate, Kind::kForbidden,
                          Kind::kNotSupported, Kind::kNotFound, Kind::kTooLong, Kind::kTooMany, Kind::kInternal}) {
    reasons.emplace_back(FieldError{.kind = kind}.reason());
  }
  EXPECT_THAT(reasons, ElementsAre("FieldValueRequired", "FieldValueInvalid", "FieldValueTypeInvalid",
                                   "FieldValueDuplicate", "FieldValueForbidden", "FieldValueNotSupported",
                                   "FieldValueNotFound", "FieldValueTooLong", "FieldValueTooMany", "InternalError"));
}

TEST(FieldErrors, PrintValuesAsGoDoes) {
  EXPECT_EQ(InvalidMessage(true), "Invalid value: true");
  EXPECT_EQ(InvalidMessage(std::int32_t{-7}), "Invalid value: -7");
  EXPECT_EQ(InvalidMessage(std::numeric_limits<std::int64_t>::min()), "Invalid value: -9223372036854775808");
  EXPECT_EQ(InvalidMessage(1.5), "Invalid value: 1.5");
  EXPECT_EQ(InvalidMessage(100.0), "Invalid value: 100");
  EXPECT_EQ(InvalidMessage(1e6), "Invalid value: 1e+06");
  EXPECT_EQ(InvalidMessage(123456789.25), "Invalid value: 1.2345678925e+08");
  EXPECT_EQ(InvalidMessage(0.0001), "Invalid value: 0.0001");
  EXPECT_EQ(InvalidMessage(0.00001), "Invalid value: 1e-05");
  EXPECT_EQ(InvalidMessage(String("text")), R"(Invalid value: "text")");
  EXPECT_EQ(InvalidMessage(Optional<std::int32_t>(3)), "Invalid value: 3");
  EXPECT_EQ(InvalidMessage(Optional<std::int32_t>()), "Invalid value: null");
}

TEST(FieldErrors, QuoteTextAsGoDoes) {
  EXPECT_EQ(InvalidMessage("a\"b\\\n\t\a\x01\x7f"), R"(Invalid value: "a\"b\\\n\t\a\x01\x7f")");
  EXPECT_EQ(
      InvalidMessage("\xC3\xA9\xC2\xA0\xC2\xAD\xE2\x80\x8B\xEF\xBB\xBF\xF3\xA0\x80\x81\xE6\x97\xA5\xF0\x9F\x98\x80"),
      "Invalid value: \"\xC3\xA9\\u00a0\\u00ad\\u200b\\ufeff\\U000e0001\xE6\x97\xA5\xF0\x9F\x98\x80\"");
  EXPECT_EQ(InvalidMessage("\xFF\xC3"), R"(Invalid value: "\xff\xc3")");
  EXPECT_EQ(InvalidMessage(""), R"(Invalid value: "")");
}

TEST(FieldErrors, PrintJsonByItsValue) {
  EXPECT_EQ(InvalidMessage(Json(R"("a\u00e9\n")")), "Invalid value: \"a\xC3\xA9\\n\"");
  EXPECT_EQ(InvalidMessage(Json("12345678901234567890123")), "Invalid value: 1.2345678901234568e+22");
  EXPECT_EQ(InvalidMessage(Json("42")), "Invalid value: 42");
  EXPECT_EQ(InvalidMessage(Json("null")), "Invalid value: null");
  EXPECT_EQ(InvalidMessage(Json()), "Invalid value: null");
  EXPECT_EQ(InvalidMessage(Json(R"({"b": 1, "a": [true]})")), R"(Invalid value: {"a":[true],"b":1})");
}

TEST(FieldErrors, ListEachTextOnce) {
  FieldErrors errors;
  EXPECT_EQ(errors.ToString(), "");
  errors.Required("a");
  EXPECT_EQ(errors.ToString(), "a: Required value");
  errors.Required("a");
  EXPECT_EQ(errors.ToString(), "a: Required value");
  errors.Required("b");
  errors.Required("a");
  EXPECT_EQ(errors.ToString(), "[a: Required value, b: Required value]");
  EXPECT_EQ(errors.size(), 4u);
}

TEST(FieldErrors, TakeTheErrorsOfAPart) {
  FieldErrors part;
  part.Required("item");
  part.Required("[2]");
  part.Required("");
  FieldErrors errors;
  errors.Add("spec.lines", part);
  errors.Add("", part);
  std::vector<std::string> fields;
  for (const FieldError& error : errors) fields.push_back(error.field);
  EXPECT_THAT(fields, ElementsAre("spec.lines.item", "spec.lines[2]", "spec.lines", "item", "[2]", ""));
  part.Add("x", part);
  EXPECT_EQ(part.size(), 6u);
}

}  // namespace
}  // namespace kgen
