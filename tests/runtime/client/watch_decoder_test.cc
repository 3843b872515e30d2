// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/verbs/watch_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "codec/protobuf_encoder.h"
#include "kgen/core/object_meta.h"

namespace kgen {
namespace {

using ::testing::HasSubstr;

struct Received {
  std::vector<std::pair<std::string, std::string>> events;
  std::vector<WatchEventType> types;
  WatchDecoder::OnEvent Listener() {
    return [this](const WatchEvent& event) -> Result<void> {
      events.emplace_back(event.word, event.object);
      types.push_back(event.type);
      return {};
    };
  }
};

const std::string kStream =
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"a\":[1,{\"b\":\"}]{[\\\"\\\\\"}]}}\n"
    "{ \"object\" : {\"x\":\"\u00e9\"} , \"type\" : \"MODIFIED\" , \"more\":[1,[2]],\"n\":null,\"f\":-1.5e3 }"
    "{\"type\":\"DELETED\",\"object\":{\"y\":\"{\"},\"object\":{\"z\":[{}]}}{\"type\":\"ADDED\",\"object\":{\"w\":{}} "
    "}\n"
    "\r\n\t {\"type\":\"BOOK\\u004DARK\",\"object\":{}}";
const std::vector<std::pair<std::string, std::string>> kEvents = {
    {"ADDED", "{\"kind\":\"Pod\",\"a\":[1,{\"b\":\"}]{[\\\"\\\\\"}]}"},
    {"MODIFIED", "{\"x\":\"\u00e9\"}"},
    {"DELETED", "{\"z\":[{}]}"},  // the last one counts
    {"ADDED", "{\"w\":{}}"},
    {"BOOKMARK", "{}"},
};

// Contract: client REST-33.
TEST(WatchDecoder, FindsTheEventsOfAWholeStream) {
  Received received;
  WatchDecoder decoder(received.Listener());
  ASSERT_TRUE(decoder.Feed(kStream).has_value());
  EXPECT_EQ(received.events, kEvents);
  EXPECT_TRUE(decoder.at_boundary());
}

// Contract: client REST-33.
TEST(WatchDecoder, FindsTheSameEventsWhereverTheStreamIsCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    Received received;
    WatchDecoder decoder(received.Listener());
    ASSERT_TRUE(decoder.Feed(std::string_view(kStream).substr(0, cut)).has_value()) << cut;
    ASSERT_TRUE(decoder.Feed(std::string_view(kStream).substr(cut)).has_value()) << cut;
    EXPECT_EQ(received.events, kEvents) << cut;
  }
}

TEST(WatchDecoder, FindsTheSameEventsInPiecesOfAnySize) {
  for (std::size_t size = 1; size < 80; ++size) {
    Received received;
    WatchDecoder decoder(received.Listener());
    for (std::size_t at = 0; at < kStream.size(); at += size) {
      ASSERT_TRUE(decoder.Feed(std::string_view(kStream).substr(at, size)).has_value());
    }
    EXPECT_EQ(received.events, kEvents) << size;
  }
}

TEST(WatchDecoder, KnowsWhetherItIsBetweenTwoEvents) {
  const std::string frame = R"({"type":"ADDED","object":{}})";
  Received received;
  WatchDecoder decoder(received.Listener());
  EXPECT_TRUE(decoder.at_boundary());
  for (const char c : frame.substr(0, frame.size() - 1)) {
    ASSERT_TRUE(decoder.Feed({&c, 1}).has_value());
    EXPECT_FALSE(decoder.at_boundary());
  }
  ASSERT_TRUE(decoder.Feed("}").has_value());
  EXPECT_TRUE(decoder.at_boundary());
  ASSERT_TRUE(decoder.Feed(" \n").has_value());
  EXPECT_TRUE(decoder.at_boundary());
}

TEST(WatchDecoder, MapsEachWordToItsType) {
  Received received;
  WatchDecoder decoder(received.Listener());
  for (const std::string word : {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "added"}) {
    ASSERT_TRUE(decoder.Feed("{\"type\":\"" + word + "\",\"object\":{}}").has_value());
  }
  using enum WatchEventType;
  EXPECT_EQ(received.types, (std::vector{kAdded, kModified, kDeleted, kBookmark, kError, kUnknown}));
}

TEST(WatchDecoder, ForwardsUnknownTypes) {
  Received received;
  WatchDecoder decoder(received.Listener());
  ASSERT_TRUE(decoder.Feed(R"({"type":"STRANGE","object":{}})").has_value());
  EXPECT_EQ(received.events[0].first, "STRANGE");
  EXPECT_EQ(received.types[0], WatchEventType::kUnknown);
}

TEST(WatchDecoder, ForwardsAnObjectThatIsNestedTooDeeplyForTheDecoder) {
  Received received;
  WatchDecoder decoder(received.Listener());
  const std::string deep = "{\"a\":" + std::string(5000, '[') + std::string(5000, ']') + "}";
  ASSERT_TRUE(decoder.Feed("{\"type\":\"ADDED\",\"object\":" + deep + "}").has_value());
  EXPECT_EQ(received.events[0].second, deep);
}

// Contract: client REST-34.
TEST(WatchDecoder, RefusesAnythingButEventsWithItsPosition) {
  const std::string good = R"({"type":"ADDED","object":{}})";
  for (const std::string_view bad :
       {"x", "[]", "null", "{}", R"({"type":"ADDED"})", R"({"object":{}})", R"({"type":1,"object":{}})",
        R"({"type":"ADDED","object":"text"})", R"({"type":"ADDED" "object":{}})", R"({"type","object":{}})",
        R"({"type":,"object":{}})", R"({type:"ADDED","object":{}})", R"({"type":"ADDED","object":{},})",
        R"({"type":"AD\qDED","object":{}})", "{\"type\":\"A\xff\",\"object\":{}}", R"({\"type\":"ADDED"})", R"(}{)",
        R"({"a":])"}) {
    Received received;
    WatchDecoder decoder(received.Listener());
    ASSERT_TRUE(decoder.Feed(good).has_value());
    const Result<void> fed = decoder.Feed(std::string(bad) + "}}}}");
    ASSERT_FALSE(fed.has_value()) << bad;
    EXPECT_EQ(fed.error().code(), Code::kDecode) << bad;
    EXPECT_THAT(fed.error().message(), HasSubstr("at byte ")) << bad;
    EXPECT_EQ(received.events.size(), 1u) << bad;
    EXPECT_EQ(decoder.Feed(good).error().message(), fed.error().message()) << "it stays with its error";
  }
}

TEST(WatchDecoder, CountsBytesFromTheStartOfTheStream) {
  Received received;
  WatchDecoder decoder(received.Listener());
  ASSERT_TRUE(decoder.Feed("{\"type\":\"ADDED\",\"object\":{}}\n").has_value());
  EXPECT_THAT(decoder.Feed("x").error().message(), HasSubstr("at byte 29"));
}

TEST(WatchDecoder, RefusesAnEventOverTheLimitBeforeItIsComplete) {
  Received received;
  WatchDecoder decoder(received.Listener(), 100);
  ASSERT_TRUE(decoder.Feed("{\"type\":\"ADDED\",\"object\":{\"a\":\"").has_value());
  const Result<void> fed = decoder.Feed(std::string(100, 'x'));
  ASSERT_FALSE(fed.has_value());
  EXPECT_THAT(fed.error().message(), HasSubstr("larger than the limit"));
}

TEST(WatchDecoder, StopsWithTheErrorOfItsListener) {
  int calls = 0;
  WatchDecoder decoder([&](const WatchEvent&) -> Result<void> {
    ++calls;
    return Fail(Code::kStopped, "enough");
  });
  EXPECT_EQ(decoder.Feed(kStream).error().code(), Code::kStopped);
  EXPECT_EQ(calls, 1);
}

// Every byte of a frame changed into every byte: no crash, no read outside, and either events or an error.
TEST(WatchDecoder, SurvivesAnyChangeOfOneByte) {
  const std::string frame = R"({"type":"ADDED","object":{"a":["\\",1]}})";
  for (std::size_t at = 0; at < frame.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = frame;
      changed[at] = static_cast<char>(byte);
      const std::vector<char> exact(changed.begin(), changed.end());  // no terminator behind the last byte
      Received received;
      WatchDecoder decoder(received.Listener());
      const Result<void> fed = decoder.Feed({exact.data(), exact.size()});
      if (fed && decoder.at_boundary()) {
        EXPECT_EQ(received.events.size(), 1u) << changed;
      }
    }
  }
}

// ---- Protobuf.

std::string Frame(std::string_view type, std::string_view message, std::string_view kind = "Pod") {
  std::string object, event, frame;
  codec::AppendField(1, codec::EnvelopeOf("v1", kind, message), object);
  codec::AppendField(1, type, event);
  codec::AppendField(2, object, event);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(event.size() >> shift);
  return frame + event;
}

WatchDecoder Protobuf(Received& received, std::size_t limit = 1 << 20) {
  return WatchDecoder(received.Listener(), limit, Encoding::kProtobuf);
}

TEST(WatchDecoder, FindsTheEventsInProtobufWhereverTheStreamIsCut) {
  const std::string stream = Frame("ADDED", "one") + Frame("MODIFIED", std::string(5000, 'x')) + Frame("DELETED", "");
  for (std::size_t size = 1; size < 70; ++size) {
    Received received;
    WatchDecoder decoder = Protobuf(received);
    for (std::size_t at = 0; at < stream.size(); at += size) {
      ASSERT_TRUE(decoder.Feed(std::string(std::string_view(stream).substr(at, size)))) << size;
    }
    EXPECT_TRUE(decoder.at_boundary());
    EXPECT_THAT(received.events,
                ::testing::ElementsAre(std::pair<std::string, std::string>("ADDED", "one"),
                                       std::pair<std::string, std::string>("MODIFIED", std::string(5000, 'x')),
                                       std::pair<std::string, std::string>("DELETED", "")));
  }
}

TEST(WatchDecoder, AStreamInProtobufThatIsCutIsNotAtABoundary) {
  Received received;
  WatchDecoder decoder = Protobuf(received);
  const std::string frame = Frame("ADDED", "one");
  ASSERT_TRUE(decoder.Feed(frame.substr(0, frame.size() - 1)));
  EXPECT_FALSE(decoder.at_boundary());
}

TEST(WatchDecoder, TheStatusOfAnErrorInProtobufIsPassedOnAsJson) {
  const meta::v1::Status status{.code = 410, .message = "too old"};
  Received received;
  WatchDecoder decoder = Protobuf(received);
  const std::string message = *codec::EncodeProtobuf(&status, meta::v1::Status::kTable);
  ASSERT_TRUE(decoder.Feed(Frame("ERROR", message, "Status")));
  ASSERT_EQ(received.events.size(), 1u);
  EXPECT_EQ(received.types[0], WatchEventType::kError);
  EXPECT_EQ(Decode<meta::v1::Status>(received.events[0].second)->message, "too old");
}

TEST(WatchDecoder, DamagedFramesInProtobufEndInAnErrorOrInEvents) {
  const std::string stream = Frame("ADDED", "one") + Frame("ERROR", "two", "Status");
  for (std::size_t at = 0; at < stream.size(); ++at) {
    for (const int bits : {0x01, 0x08, 0x80, 0xFF}) {
      std::string damaged = stream;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      Received received;
      WatchDecoder decoder = Protobuf(received);
      for (const std::string& bytes : {damaged, stream}) {
        const auto fed = decoder.Feed(bytes);
        EXPECT_EQ(fed ? Code::kDecode : fed.error().code(), Code::kDecode);
      }
    }
  }
}

TEST(WatchDecoder, AnEventInProtobufOverTheLimitIsAnError) {
  Received received;
  EXPECT_FALSE(Protobuf(received, 100).Feed(Frame("ADDED", std::string(100, 'x')).substr(0, 4)));
  EXPECT_TRUE(received.events.empty());
}

}  // namespace
}  // namespace kgen
