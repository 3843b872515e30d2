// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/testing/round_trips.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "controller/webhook/lost_data.h"
#include "controller/webhook/webhook_routes.h"
#include "core/json/compact_json.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "testing/checks/generated_object.h"

namespace kgen {
namespace {

using controller::WebhookHandler;
using nlohmann::json;

std::string VersionOfKind(const KindInfo& kind) {
  return std::string(kind.group) + (kind.group.empty() ? "" : "/") + std::string(kind.version);
}

// Converts one object with the handler of the manager.
Result<std::string> ConvertByReview(WebhookHandler& handler, std::string_view object, const KindInfo& to) {
  const std::string review =
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"round-trip",)"
      R"("desiredAPIVersion":")" +
      VersionOfKind(to) + R"(","objects":[)" + std::string(object) + "]}}";
  const std::string answer = handler.Answer(review, {});
  using Steps = std::vector<detail::JsonStep>;
  const auto find = [&](const Steps& steps) { return detail::FindJson(answer, steps); };
  const Steps converted{{.name = "response"}, {.name = "convertedObjects"}, {.index = 0}};
  if (const auto found = find(converted); found) return std::string(*found);
  const auto message = find({{.name = "response"}, {.name = "result"}, {.name = "message"}});
  return Fail(Code::kInvalid, message ? detail::StringOfJson(*message).value_or("") : "the answer is " + answer);
}

// Drops what makes no difference: null members, and the annotation of what is lost.
void DropNulls(json& value) {
  for (auto it = value.begin(); value.is_structured() && it != value.end();) {
    if (value.is_object() && it->is_null()) {
      it = value.erase(it);
      continue;
    }
    DropNulls(*it++);
  }
}

json Comparable(std::string_view object) {
  json value = json::parse(object, nullptr, false);
  if (!value.is_object() || !value.contains("metadata") || !value["metadata"].is_object()) return value;
  json& metadata = value["metadata"];
  if (const auto annotations = metadata.find("annotations"); annotations != metadata.end()) {
    if (annotations->is_object()) annotations->erase(std::string(controller::kLostAnnotation));
    if (annotations->empty()) metadata.erase("annotations");
  }
  DropNulls(value);
  return value;
}

std::string Shown(const json& value) {
  std::string text = detail::CompactJson(value);
  constexpr std::size_t kMost = 100;
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

// Says where two values differ first; "" if they do not.
std::string Difference(const std::string& path, const json& before, const json& after) {
  if (before == after) return "";
  if (before.is_object() && after.is_object()) {
    for (const auto& [name, value] : before.items()) {
      const std::string here = path + (path.empty() ? "" : ".") + name;
      if (!after.contains(name)) return here + ": " + Shown(value) + " is lost";
      if (std::string found = Difference(here, value, after[name]); !found.empty()) return found;
    }
    for (const auto& [name, value] : after.items()) {
      if (!before.contains(name)) return path + (path.empty() ? "" : ".") + name + ": " + Shown(value) + " is new";
    }
  }
  if (before.is_array() && after.is_array() && before.size() == after.size()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      std::string found = Difference(path + "[" + std::to_string(i) + "]", before[i], after[i]);
      if (!found.empty()) return found;
    }
  }
  return path + ": " + Shown(before) + " became " + Shown(after);
}

struct CounterExample {
  std::string object, back;  // `back` is "" if a conversion failed
  std::string what;
};

// One direction: from a version to another one and back.
class Trip {
 public:
  Trip(WebhookHandler& handler, const detail::RoundTripSide& from, const detail::RoundTripSide& to)
      : handler_(handler), from_(from), to_(to) {}

  // Returns nothing if the object comes back as it was, or if it is no object of the type.
  std::optional<CounterExample> Fails(std::string_view generated) const {
    Result<std::string> object = from_.settle(generated);
    if (!object) return std::nullopt;
    const Result<std::string> there = ConvertByReview(handler_, *object, *to_.table->kind);
    if (!there) return CounterExample{*std::move(object), "", there.error().message()};
    Result<std::string> back = ConvertByReview(handler_, *there, *from_.table->kind);
    if (!back) return CounterExample{*std::move(object), "", back.error().message()};
    std::string what = Difference("", Comparable(*object), Comparable(*back));
    if (what.empty()) return std::nullopt;
    return CounterExample{*std::move(object), *std::move(back), std::move(what)};
  }

  // Removes what the failure does not need.
  CounterExample Shrink(CounterExample found) {
    json root = json::parse(found.object, nullptr, false);
    tries_ = 0;
    while (Reduce(root, root, found)) {
    }
    return found;
  }

  std::string Report(const CounterExample& found, std::uint64_t seed) const {
    const std::string from(from_.table->kind->version);
    std::string text = "round trip " + from + " -> " + std::string(to_.table->kind->version) + " -> " + from + " of " +
                       std::string(from_.table->kind->kind) + ", seed " + std::to_string(seed) + ": " + found.what +
                       "\nThe object, without what the failure does not need:\n\n" + EncodeYaml(Json(found.object));
    if (!found.back.empty()) text += "\nIt came back as:\n\n" + EncodeYaml(Json(found.back));
    return text;
  }

 private:
  static constexpr int kMostTries = 5000;

  bool StillFails(const json& root, CounterExample& found) {
    if (++tries_ > kMostTries) return false;
    std::optional<CounterExample> smaller = Fails(detail::CompactJson(root));
    if (!smaller) return false;
    found = *std::move(smaller);
    return true;
  }

  // Tries to make a value in `root` smaller. Returns whether something was removed.
  bool Reduce(json& root, json& here, CounterExample& found) {
    bool reduced = false;
    if (here.is_object()) {
      std::vector<std::string> names;
      for (const auto& [name, value] : here.items()) names.push_back(name);
      for (const std::string& name : names) {
        if (&root == &here && (name == "apiVersion" || name == "kind")) continue;
        json removed = here[name];
        here.erase(name);
        if (StillFails(root, found)) {
          reduced = true;
          continue;
        }
        here[name] = std::move(removed);
        reduced = Reduce(root, here[name], found) || reduced;
      }
    } else if (here.is_array()) {
      for (std::size_t i = here.size(); i-- > 0;) {
        json before = here;
        here.erase(here.begin() + static_cast<std::ptrdiff_t>(i));
        if (StillFails(root, found)) {
          reduced = true;
          continue;
        }
        here = std::move(before);
        reduced = Reduce(root, here[i], found) || reduced;
      }
    } else if (here.is_number() && here != 0 && here != 1) {
      json before = std::exchange(here, json(1));
      if (StillFails(root, found)) return true;
      here = std::move(before);
    }
    return reduced;
  }

  WebhookHandler& handler_;
  const detail::RoundTripSide& from_;
  const detail::RoundTripSide& to_;
  int tries_ = 0;
};

// The annotation that another object would have in the old version, or one that somebody has changed.
std::string OldAnnotation(WebhookHandler& handler, const detail::RoundTripPlan& plan, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return R"({"hub":"v0","object":["00",{"spec":[1]}]})";
    case 1: {
      const auto other = plan.hub.settle(testing::GenerateObject(*plan.hub.table, {.peer = plan.old.table}, random));
      const auto spoke = other ? ConvertByReview(handler, *other, *plan.old.table->kind) : other;
      const auto taken = spoke ? controller::TakeLost(*spoke) : Result<std::optional<controller::TakenLost>>();
      return taken && *taken ? (*taken)->data : "{";
    }
    default:
      return "";
  }
}

}  // namespace

Result<void> detail::RunRoundTrips(const Manager& manager, const RoundTripPlan& plan) {
  const auto routes = WebhookRoutesOf(manager);
  if (auto declared = routes->declared(); !declared) return declared;
  const auto handler = routes->Find("/convert");
  if (!handler) {
    return Fail(Code::kInvalidArgument, "round trips: the manager declares no conversion; see Manager::Conversion()");
  }
  for (int i = 0; i < plan.seeds; ++i) {
    const std::uint64_t seed = plan.first_seed + static_cast<std::uint64_t>(i);
    std::mt19937_64 random(seed);
    for (const bool hub_first : {true, false}) {
      if (!(hub_first ? plan.hub_first : plan.old_first)) continue;
      const RoundTripSide& from = hub_first ? plan.hub : plan.old;
      const RoundTripSide& to = hub_first ? plan.old : plan.hub;
      const testing::GenerateOptions options{.peer = to.table,
                                             .unknown_fields = plan.unknown_fields,
                                             .nulls = plan.nulls,
                                             .annotation = OldAnnotation(*handler, plan, random)};
      Trip trip(*handler, from, to);
      std::optional<CounterExample> found = trip.Fails(testing::GenerateObject(*from.table, options, random));
      if (found) return Fail(Code::kInvalid, trip.Report(trip.Shrink(*std::move(found)), seed));
    }
  }
  return {};
}

}  // namespace kgen
