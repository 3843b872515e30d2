// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a file belongs to, and which name it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/runtime/cache/saved/saved_fixture.h"

namespace kgen::cache {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

struct Variation {
  const char* words;
  std::string SavedBinding::* member;
  bool in_name;
};
constexpr Variation kVariations[] = {
    {"server", &SavedBinding::server, true},
    {"certificate authorities", &SavedBinding::authorities, false},
    {"resource", &SavedBinding::resource, true},
    {"namespace", &SavedBinding::namespace_, true},
    {"label selector", &SavedBinding::label_selector, true},
    {"field selector", &SavedBinding::field_selector, true},
    {"object form", &SavedBinding::form, true},
    {"transform", &SavedBinding::transform, false},
};

TEST(SavedBinding, IsTheSameAfterJson) {
  SavedBinding binding;
  for (const Variation& each : kVariations) binding.*each.member = std::string(each.words) + " with \"quotes\" and \n";
  binding.drop_managed_fields = true;
  EXPECT_EQ(Must(SavedBinding::FromJson(binding.ToJson())), binding);
  EXPECT_EQ(Must(SavedBinding::FromJson(kBinding.ToJson())).DifferenceTo(kBinding), "");
}

TEST(SavedBinding, IsNotReadFromJsonThatLacksAMember) {
  const auto why = [](std::string_view json) { return SavedBinding::FromJson(json).error().message(); };
  EXPECT_EQ(why("[]"), "its header is not a JSON object");
  EXPECT_EQ(why("{"), "its header is not a JSON object");
  EXPECT_EQ(why("{}"), "its header has no server of the expected type");
  std::string json = kBinding.ToJson();
  json.replace(json.find("false"), 5, "\"no\"");
  EXPECT_EQ(why(json), "its header has no dropManagedFields of the expected type");
}

TEST(SavedBinding, SaysInWhatAFileDiffers) {
  for (const Variation& each : kVariations) {
    SavedBinding other = kBinding;
    other.*each.member = "another";
    EXPECT_EQ(other.DifferenceTo(kBinding), std::string("it was saved with ") + each.words +
                                                " \"another\", and this informer has \"" + kBinding.*each.member +
                                                "\"");
  }
  SavedBinding without = kBinding;
  without.drop_managed_fields = true;
  EXPECT_EQ(without.DifferenceTo(kBinding), "it was saved without managedFields, and this informer keeps them");
  EXPECT_EQ(kBinding.DifferenceTo(without), "it was saved with managedFields, and this informer drops them");
}

TEST(SavedBinding, OfAnotherInformerMakesAFileUseless) {
  for (const Variation& each : kVariations) {
    const auto files = MakeFiles();
    SavedBinding other = kBinding;
    other.*each.member = "another";
    SavedStore store;
    store.Put("a");
    SavedWriter writer(files, other);
    Must(SaveIn(writer, store.Snapshot()));
    files->SetContent(kBinding.FileName(), files->Content(other.FileName()));  // somebody has renamed it
    const auto read = ReadBack(*files);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), Code::kDecode);
    EXPECT_EQ(read.error().message(), "the saved cache simulated/" + kBinding.FileName() +
                                          " is not used: it was saved with " + each.words +
                                          " \"another\", and this informer has \"" + kBinding.*each.member + "\"");
  }
}

TEST(SavedBinding, OfAnEarlierVersionOfTheProgramHasTheSameFile) {
  const auto files = MakeFiles();
  SavedStore store;
  store.Put("a");
  SavedBinding before = kBinding;
  before.transform = "version 1";
  Must(SaveIn(*std::make_unique<SavedWriter>(files, before), store.Snapshot()));
  EXPECT_FALSE(ReadBack(*files));
  Must(SaveIn(*std::make_unique<SavedWriter>(files, kBinding), store.Snapshot()));
  EXPECT_EQ(Must(ReadBack(*files)).objects, store.objects);
  EXPECT_EQ(files->Names().size(), 1U);
}

TEST(SavedBinding, HasAFileNameOfItsOwnForEachInformerOfAProgram) {
  std::set<std::string> names = {kBinding.FileName()};
  std::size_t differing = 1;
  for (const Variation& each : kVariations) {
    SavedBinding other = kBinding;
    other.*each.member = "another";
    EXPECT_EQ(names.insert(other.FileName()).second, each.in_name) << each.words;
    if (each.in_name) ++differing;
  }
  EXPECT_EQ(names.size(), differing);
}

TEST(SavedBinding, HasAFileNameThatIsReadableAndSafe) {
  EXPECT_THAT(kBinding.FileName(), MatchesRegex("samples.test-v1-[0-9a-f]+.saved"));
  SavedBinding binding = kBinding;
  binding.resource = "../../etc/passwd";
  binding.namespace_ = std::string("a/b\0c", 5) + std::string(300, 'n');
  const std::string name = binding.FileName();
  EXPECT_THAT(name, AllOf(StartsWith("..-..-etc-passwd-a-b-cnn"), EndsWith(".saved")));
  EXPECT_EQ(name.find_first_of(std::string("/\0", 2)), std::string::npos);
  EXPECT_LT(name.size(), 130U);
}

}  // namespace
}  // namespace kgen::cache
