// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// tests/golden/hostile.yaml as C++, included after headers that define macros. Most of the test is that this compiles.
#include <complex.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>
#include <hostile/clientset.h>
#include <hostile/core_strimzi/v1beta1/types.h>
#include <hostile/default_/v1/types.h>
#include <hostile/default_/v1_2_3/types.h>
#include <hostile/informers.h>
#include <hostile/start/auto_/types.h>
#include <hostile/start/v1alpha1/types.h>
#include <hostile/start/v1alpha2/types.h>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace {

using hostile::default_::v1::Client;
using hostile::default_::v1::ClientSpec;

// Contract: generator NAM-09.
TEST(HostileNames, AllReachTheirOwnMember) {
  const std::string text =
      R"({"apiVersion":"default.example.com/v1","kind":"Client","metadata":{},"spec":{"foo-bar":"1","foo.bar":"2","fooBar":"3","foo_bar":"4"}})";
  const Client client = kgen::Must(kgen::Decode<Client>(text));
  EXPECT_EQ(client.spec->foo_bar, "4");
  EXPECT_EQ(client.spec->foo_bar_2, "1");
  EXPECT_EQ(client.spec->foo_bar_3, "2");
  EXPECT_EQ(client.spec->fooBar, "3");
  EXPECT_TRUE(client.spec->unknown_fields.empty());
}

// Contract: generator NAM-24.
TEST(HostileNames, KeepTheirBytesOnTheWire) {
  Client client;
  client.spec->caf_u00e9 = "1";
  EXPECT_EQ(kgen::Encode(client),
            "{\"apiVersion\":\"default.example.com/v1\",\"kind\":\"Client\",\"spec\":{\"caf\xC3\xA9\":\"1\"}}");
}

// Contract: generator SEC-01.
TEST(HostileNames, ThatJsonWouldEscapeRoundTripAsUnknownFields) {
  const std::string text =
      R"({"apiVersion":"default.example.com/v1","kind":"Client","spec":{"new\nline":"2","quo\"te\\":"3"}})";
  const Client client = kgen::Must(kgen::Decode<Client>(text));
  EXPECT_EQ(client.spec->unknown_fields["quo\"te\\"].text(), "\"3\"");
  EXPECT_EQ(kgen::Encode(client), text);
}

TEST(HostileNames, OfNestedTypesAreDocumented) {
  Client client;
  client.spec->spec->spec->spec->x = "deep";
  client.spec->metrics->relabelings.push_back({.z = "a"});
  client.spec->metricsRelabelings.push_back({.x = "b"});
  EXPECT_EQ(kgen::Must(kgen::Decode<Client>(kgen::Encode(client))), client);
}

// Contract: generator ENUM-03, ENUM-04.
TEST(HostileEnums, HaveDistinctConstantsWithTheirOwnText) {
  using Mode = ClientSpec::ModeValues;
  EXPECT_EQ(Mode::ksEmpty, "");
  EXPECT_EQ(Mode::ksNotEqual, "!=");
  EXPECT_EQ(Mode::kReplace, "Replace");
  EXPECT_EQ(Mode::k_replace, "replace");
  EXPECT_EQ(Mode::kREPLACE, "REPLACE");
  EXPECT_EQ(Mode::ks_HKEY_Backslash_Software, "HKEY\\Software");
  EXPECT_EQ(ClientSpec::CodeValues::ksDash_9223372036854775808, INT64_MIN);
}

// Contract: generator CRD-29.
TEST(HostileKinds, CompileUnderTheirOwnNames) {
  hostile::default_::v1::Lister lister;
  hostile::default_::v1::Values values;
  hostile::default_::v1::String lower_case;
  hostile::core_strimzi::v1beta1::Event event;
  hostile::start::auto_::Start start;
  EXPECT_EQ(kgen::Encode(lower_case), R"({"apiVersion":"default.example.com/v1","kind":"string"})");
  EXPECT_EQ(lister.metadata.name, values.metadata.name);
  EXPECT_EQ(event.metadata.name, start.metadata.name);
}

// Contract: generator CRD-21, SEC-02.
TEST(HostileColumns, AreThoseOfTheCrd) {
  const auto columns = hostile::default_::v1::ScalePaths::kPrinterColumns;
  ASSERT_EQ(columns.size(), 4u);
  EXPECT_EQ(columns[0].json_path, R"(.status.conditions[?(@.type == "Ready")].status)");
  EXPECT_EQ(columns[1].json_path, R"(.metadata.labels.io\.kubernetes\.pod\.namespace)");
  EXPECT_EQ(columns[2].json_path, ".spec.list[*]");
  EXPECT_EQ(columns[2].format, "int64");
  EXPECT_EQ(columns[2].priority, 2147483647);
  EXPECT_EQ(columns[3].name, std::string_view("\"); */ ?\?/ \\ \303\251\0!", 17));
  EXPECT_EQ(columns[3].json_path, ".status.conditions[?(@.message == \"*/\\\\\n\\\"7\")].lastTransitionTime");
  EXPECT_EQ(columns[3].priority, -1);
  EXPECT_EQ(columns[3].description, "Closes */ a comment, ends in a backslash \\");
}

// Contract: generator NAM-08.
TEST(HostileMembers, CoexistWithTheMembersOfEveryKind) {
  using hostile::default_::v1::ScalePaths;
  EXPECT_EQ(ScalePaths::ScalePaths_::kSpecReplicas, ".spec.shards");
  EXPECT_EQ(ScalePaths::ScalePaths_::kLabelSelector, "");
  EXPECT_EQ(ScalePaths::SelectableFields::ks_spec_Dot_Color, "spec.Color");
  EXPECT_EQ(ScalePaths::SelectableFields::ks_spec_Dot_color, "spec.color");
  ScalePaths object;
  object.ScalePaths_->a = "1";
  object.SelectableFields_ = "2";
  object.kPrinterColumns_ = "3";
  object.spec->kPrinterColumns = "4";
  EXPECT_EQ(kgen::Encode(object),
            R"({"apiVersion":"default.example.com/v1","kind":"ScalePaths","spec":{"kPrinterColumns":"4"},)"
            R"("ScalePaths":{"a":"1"},"SelectableFields":"2","kPrinterColumns":"3"})");
}

// Contract: generator V1B-02.
TEST(V1beta1, GivesEachVersionTheSettingsOfTheSpec) {
  using Old = hostile::start::v1alpha1::Oldie;
  using New = hostile::start::v1alpha2::Oldie;
  EXPECT_EQ(Old::ScalePaths::kLabelSelector, ".spec.selector");
  EXPECT_EQ(New::ScalePaths::kLabelSelector, ".spec.selector");
  EXPECT_EQ(New::SelectableFields::kSpecSize, "spec.size");
  ASSERT_EQ(Old::kPrinterColumns.size(), 1u);
  EXPECT_EQ(Old::kPrinterColumns[0].json_path, ".spec.size");
  ASSERT_EQ(New::kPrinterColumns.size(), 1u);
  EXPECT_EQ(New::kPrinterColumns[0].name, "Own") << "the version's own columns win";
}

// Contract: generator NAM-16.
TEST(HostileMembers, DoNotHideNamesThatTheTablesUse) {
  using hostile::default_::v1::ScalePaths;
  const std::string_view text =
      R"({"apiVersion":"default.example.com/v1","kind":"ScalePaths","spec":{"scalePaths":[{"b":"1"}]},"kScalePathsFields":"2"})";
  const ScalePaths object = kgen::Must(kgen::Decode<ScalePaths>(text));
  const ScalePaths::Spec::ScalePath& inner = object.spec->scalePaths[0];
  EXPECT_EQ(inner.b, "1");
  EXPECT_EQ(object.kScalePathsFields, "2");
  EXPECT_EQ(kgen::Encode(object), text);
}

template <typename T>
concept HasMetadata = requires {
  T::kPrinterColumns;
  typename T::ScalePaths;
  typename T::SelectableFields;
};

TEST(Metadata, ExistsOnlyWhereItIsDeclared) {
  EXPECT_TRUE(HasMetadata<hostile::start::v1alpha1::Oldie>);
  EXPECT_FALSE(HasMetadata<hostile::start::auto_::Start>);
}

template <typename T>
concept HasServedAccessors = requires(const T& c) {
  c.DefaultV1().Clients("");
  c.CoreStrimziV1beta1().Events("");
};
template <typename T>
concept HasUnservedAccessor = requires(const T& c) { c.DefaultV1_2_3(); };
template <typename T>
concept HasEscapedGroup = requires(const T& f) { f.Start_().Auto(); };

// Contract: generator GRP-02, GRP-06.
TEST(HostileGroups, HaveAccessors) {
  EXPECT_TRUE(HasServedAccessors<hostile::Clientset>);
  EXPECT_TRUE(HasEscapedGroup<hostile::SharedInformerFactory>);
  EXPECT_FALSE(HasUnservedAccessor<hostile::Clientset>) << "a version that is not served has no client";
}

}  // namespace
