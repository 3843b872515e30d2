// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RoundTrips: tests the conversion of a kind with generated objects, there and back.
//
//   TEST(Order, SurvivesConversion) {
//     kgen::testing::Cluster cluster;
//     kgen::Manager manager = kgen::Must(kgen::Manager::New(cluster.Connection(), {.name = "shop"}));
//     shop::DeclareVersions(manager);  // manager.Conversion<v2::Order>().Spoke<v1::Order>(...)
//     const auto result = kgen::testing::RoundTrips<v1::Order, v2::Order>(manager, {
//         .hub = [](v2::Order& order) { order.spec->lines.resize(1); }});  // what validation excludes
//     EXPECT_TRUE(result) << result.error().message();
//   }
//
// Each seed gives one object of each version: values of every kind of member, absent and null members, empty lists and
// objects, members that no version knows, metadata with all its members, and annotations of KeepsWhatIsLost() that are
// old, of another object, or changed by somebody. The objects go through the manager's own handler, as reviews.
//
//   hub -> old -> hub    nothing that the hub says may change
//   old -> hub -> old    nothing that the old version says may change
//
// Two objects are the same if they are the same JSON, where a null member counts as absent, and without the annotation
// of KeepsWhatIsLost(). Unknown members and nulls are generated only where both versions have a struct of that name,
// since a function cannot know where they belong otherwise.
//
// The message of the error is a counter-example as YAML, with its seed, from which everything was removed that the
// failure does not need.
#ifndef KGEN_TESTING_ROUND_TRIPS_H_
#define KGEN_TESTING_ROUND_TRIPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/controller/manager.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace detail {

// One version, erased.
struct RoundTripSide {
  const TypeTable* table = nullptr;
  // Decodes an object, lets the user's function change it, and encodes it.
  std::function<Result<std::string>(std::string_view json)> settle{};
};
struct RoundTripPlan {
  RoundTripSide old{}, hub{};
  std::uint64_t first_seed = 1;
  int seeds = 0;
  bool unknown_fields = true, nulls = true, hub_first = true, old_first = true;
};
Result<void> RunRoundTrips(const Manager& manager, const RoundTripPlan& plan);

template <typename T>
RoundTripSide SideOf(std::function<void(T&)> fix) {
  return {.table = &T::kTable, .settle = [fix = std::move(fix)](std::string_view json) -> Result<std::string> {
            Result<T> object = Decode<T>(json);
            if (!object) return Fail(std::move(object).error());
            if (fix) fix(*object);
            return Encode(*object);
          }};
}

}  // namespace detail

namespace testing {

// Options of RoundTrips().
template <typename Old, typename Hub>
struct RoundTripOptions {
  int seeds = 200;               // Default: 200. How many objects of each version.
  std::uint64_t first_seed = 1;  // Default: 1. The seeds follow each other, so a counter-example's seed finds it again.
  // Default: none. Change a generated object so that it is one that validation accepts.
  std::function<void(Old&)> old{};
  std::function<void(Hub&)> hub{};
  bool unknown_fields = true;  // Default: true. Members that no version knows.
  bool nulls = true;           // Default: true. Members that are null.
  bool hub_first = true;       // Default: true. Checks hub -> old -> hub.
  bool old_first = true;       // Default: true. Checks old -> hub -> old.
};

// Checks the conversion between a spoke and the hub that `manager` declares. The manager need not run.
//
// Errors: kInvalid          the counter-example
//         kInvalidArgument  the manager declares no conversion
// Thread safety: may be called from any thread. Blocks as long as the functions of the conversion.
template <typename Old, typename Hub>
[[nodiscard]] Result<void> RoundTrips(const Manager& manager, const RoundTripOptions<Old, Hub>& options = {}) {
  return kgen::detail::RunRoundTrips(manager, {.old = kgen::detail::SideOf<Old>(options.old),
                                               .hub = kgen::detail::SideOf<Hub>(options.hub),
                                               .first_seed = options.first_seed,
                                               .seeds = options.seeds,
                                               .unknown_fields = options.unknown_fields,
                                               .nulls = options.nulls,
                                               .hub_first = options.hub_first,
                                               .old_first = options.old_first});
}
// Checks `seeds` objects of each version.
template <typename Old, typename Hub>
[[nodiscard]] Result<void> RoundTrips(const Manager& manager, int seeds) {
  return RoundTrips<Old, Hub>(manager, RoundTripOptions<Old, Hub>{.seeds = seeds});
}

}  // namespace testing

}  // namespace kgen

#endif  // KGEN_TESTING_ROUND_TRIPS_H_
