// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/round_trips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "kgen/codec/decode.h"
#include "kgen/testing/cluster.h"
#include "testing/checks/generated_object.h"
#include "tests/runtime/codec/widget.h"
#include "tests/runtime/controller/webhook/orders.h"

namespace kgen {
namespace {

using orders::v1::Order;
using OrderHub = orders::v2::Order;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RoundTripOptions;
using testing::RoundTrips;

class RoundTripsTest : public ::testing::Test {
 protected:
  RoundTripsTest() : manager_(Must(Manager::New(cluster_.Connection(), {.name = "shop"}))) {}

  // What the conversion of orders cannot do, and validation excludes.
  static RoundTripOptions<Order, OrderHub> Sane() {
    return {.seeds = 100,
            .old =
                [](Order& order) {
                  if (!order.spec.has_value()) return;
                  order.spec->weight.reset();
                  order.metadata.labels.erase("legacy");
                },
            .hub =
                [](OrderHub& order) {
                  if (order.spec.has_value() && order.spec->amount.has_value()) order.spec->amount = 7;
                }};
  }

  testing::Cluster cluster_;
  Manager manager_;
};

TEST_F(RoundTripsTest, AcceptsAConversionThatLosesNothing) {
  orders::DeclareOrders(manager_.Conversion<OrderHub>()).KeepsWhatIsLost();
  const Result<void> result = RoundTrips<Order, OrderHub>(manager_, Sane());
  EXPECT_TRUE(result) << result.error().message();
}

TEST_F(RoundTripsTest, FindsWhatASpokeCannotSay) {
  orders::DeclareOrders(manager_.Conversion<OrderHub>());
  const Result<void> result = RoundTrips<Order, OrderHub>(manager_, Sane());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInvalid);
  EXPECT_THAT(result.error().message(), AllOf(HasSubstr("round trip v2 -> v1 -> v2 of Order, seed "),
                                              HasSubstr(" is lost\n"), HasSubstr("apiVersion: shop.example/v2\n")));
}

TEST_F(RoundTripsTest, ShrinksTheCounterExampleToWhatTheFailureNeeds) {
  manager_.Conversion<OrderHub>()
      .Spoke<Order>(
          [](const Order& from, OrderHub& to) -> Result<void> {
            if (Result<void> done = orders::FromV1(from, to); !done) return done;
            if (to.spec->tags.size() > 1) to.spec->tags.pop_back();
            return {};
          },
          orders::ToV1)
      .KeepsWhatIsLost();
  RoundTripOptions<Order, OrderHub> options = Sane();
  options.hub_first = false;
  options.old_first = true;
  const Result<void> result = RoundTrips<Order, OrderHub>(manager_, options);
  ASSERT_FALSE(result);
  const std::string& message = result.error().message();
  EXPECT_THAT(message, HasSubstr("\napiVersion: shop.example/v1\nkind: Order\nspec:\n  tags:\n  - "));
  EXPECT_THAT(message, AllOf(Not(HasSubstr("metadata:")), Not(HasSubstr("status:")), Not(HasSubstr("item:"))));
  EXPECT_THAT(message, HasSubstr("It came back as:\n\napiVersion: shop.example/v1\n"));
}

TEST_F(RoundTripsTest, ReportsAConversionThatFails) {
  manager_.Conversion<OrderHub>().Spoke<Order>(
      [](const Order&, OrderHub&) -> Result<void> { return Fail(Code::kInvalid, "out of stock"); }, orders::ToV1);
  const Result<void> result = RoundTrips<Order, OrderHub>(manager_, 3);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message(),
              AllOf(HasSubstr("seed 1: "), HasSubstr("out of stock"), Not(HasSubstr("It came back as"))));
}

TEST_F(RoundTripsTest, ASeedFindsTheSameCounterExampleAgain) {
  orders::DeclareOrders(manager_.Conversion<OrderHub>());
  const Result<void> first = RoundTrips<Order, OrderHub>(manager_, Sane());
  ASSERT_FALSE(first);
  const std::string& message = first.error().message();
  const std::size_t at = message.find("seed ") + 5;
  RoundTripOptions<Order, OrderHub> options = Sane();
  options.first_seed = std::stoull(message.substr(at));
  options.seeds = 1;
  const Result<void> again = RoundTrips<Order, OrderHub>(manager_, options);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message(), message);
}

TEST_F(RoundTripsTest, NeedsADeclaration) {
  const Result<void> result = RoundTrips<Order, OrderHub>(manager_, 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::kInvalidArgument);
}

TEST(GeneratedObject, HasValuesOfEveryKindThatFitTheirTypes) {
  std::set<std::string, std::less<>> members;
  bool has_null = false, has_unknown = false, has_empty_list = false;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const std::string text =
        testing::GenerateObject(widgets::Widget::kTable, {.peer = &widgets::Widget::kTable}, random);
    std::vector<FieldMismatch> mismatches;
    const auto widget = Decode<widgets::Widget>(text, {.mismatches = &mismatches});
    ASSERT_TRUE(widget) << widget.error() << text;
    EXPECT_TRUE(mismatches.empty()) << mismatches[0].path << ": " << mismatches[0].message << text;
    for (const Field& field : widgets::Spec::kTable) {
      if (text.find("\"" + std::string(field.wire_name()) + "\":") != std::string::npos) {
        members.emplace(field.wire_name());
      }
    }
    has_null = has_null || text.find(":null") != std::string::npos;
    has_unknown = has_unknown || text.find("\"number\":12345678901234567890") != std::string::npos;
    has_empty_list = has_empty_list || text.find(":[]") != std::string::npos;
  }
  EXPECT_EQ(members.size(), widgets::Spec::kTable.field_count);
  EXPECT_TRUE(has_null && has_unknown && has_empty_list);
}

}  // namespace
}  // namespace kgen
