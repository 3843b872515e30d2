// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// tests/golden/hostile.yaml as C++, after headers that define macros. That this compiles is most of the test. [GEN
// NAM-05 to NAM-10, NAM-16, NAM-21 to NAM-23, CRD-29, GRP-02 to GRP-12, SEC-01]
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

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace {

using hostile::default_::v1::Client;
using hostile::default_::v1::ClientSpec;

TEST(HostileNames, AllReachTheirOwnMember_NAM_09) {
  const std::string text =
      R"({"apiVersion":"default.example.com/v1","kind":"Client","metadata":{},"spec":{"foo-bar":"1","foo.bar":"2","fooBar":"3","foo_bar":"4"}})";
  const Client client = kgen::Must(kgen::Decode<Client>(text));
  EXPECT_EQ(client.spec->foo_bar, "4");
  EXPECT_EQ(client.spec->foo_bar_2, "1");
  EXPECT_EQ(client.spec->foo_bar_3, "2");
  EXPECT_EQ(client.spec->fooBar, "3");
  EXPECT_TRUE(client.spec->unknown_fields.empty());
}

TEST(HostileNames, KeepTheirBytesOnTheWire_NAM_24) {
  Client client;
  client.spec->caf_u00e9 = "1";
  EXPECT_EQ(kgen::Encode(client),
            "{\"apiVersion\":\"default.example.com/v1\",\"kind\":\"Client\",\"spec\":{\"caf\xC3\xA9\":\"1\"}}");
}

TEST(HostileNames, ThatJsonWouldEscapeTravelAsUnknownFields_SEC_01) {
  const std::string text =
      R"({"apiVersion":"default.example.com/v1","kind":"Client","spec":{"new\nline":"2","quo\"te\\":"3"}})";
  const Client client = kgen::Must(kgen::Decode<Client>(text));
  EXPECT_EQ(client.spec->unknown_fields["quo\"te\\"].text(), "\"3\"");
  EXPECT_EQ(kgen::Encode(client), text);
}

TEST(HostileNames, OfNestedTypesAreTold) {
  Client client;
  client.spec->spec->spec->spec->x = "deep";
  client.spec->metrics->relabelings.push_back({.z = "a"});
  client.spec->metricsRelabelings.push_back({.x = "b"});
  EXPECT_EQ(kgen::Must(kgen::Decode<Client>(kgen::Encode(client))), client);
}

TEST(HostileEnums, HaveDistinctConstantsWithTheirOwnText_ENUM_03_ENUM_04) {
  using Mode = ClientSpec::ModeValues;
  EXPECT_EQ(Mode::kEmpty, "");
  EXPECT_EQ(Mode::kNotEqual, "!=");
  EXPECT_EQ(Mode::kReplace, "Replace");
  EXPECT_EQ(Mode::kReplace_2, "replace");
  EXPECT_EQ(Mode::kREPLACE, "REPLACE");
  EXPECT_EQ(Mode::kHKEYSoftware, "HKEY\\Software");
  EXPECT_EQ(ClientSpec::CodeValues::kValueMinus9223372036854775808, INT64_MIN);
}

TEST(HostileKinds, CompileUnderTheirOwnNames_CRD_29) {
  hostile::default_::v1::Lister lister;
  hostile::default_::v1::Values values;
  hostile::default_::v1::String lower_case;
  hostile::core_strimzi::v1beta1::Event event;
  hostile::start::auto_::Start start;
  EXPECT_EQ(kgen::Encode(lower_case), R"({"apiVersion":"default.example.com/v1","kind":"string"})");
  EXPECT_EQ(lister.metadata.name, values.metadata.name);
  EXPECT_EQ(event.metadata.name, start.metadata.name);
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

TEST(HostileGroups, HaveAccessors_GRP_02_GRP_06) {
  EXPECT_TRUE(HasServedAccessors<hostile::Clientset>);
  EXPECT_TRUE(HasEscapedGroup<hostile::SharedInformerFactory>);
  EXPECT_FALSE(HasUnservedAccessor<hostile::Clientset>) << "[MV-02]";
}

}  // namespace
