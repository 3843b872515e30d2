// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Objects that fit a schema, more or less, and changes that break them. A seed decides everything.
#ifndef KGEN_TESTS_INTEGRATION_VALIDATION_OBJECT_MAKER_H_
#define KGEN_TESTS_INTEGRATION_VALIDATION_OBJECT_MAKER_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace kgen::integration {

class ObjectMaker {
 public:
  explicit ObjectMaker(std::uint64_t seed) : chance_(seed) {}

  // Returns an object for the JSON schema of a kind, without status. It fits types, bounds, enums and formats, and the
  // patterns that one of a few texts matches. It need not fit allOf, anyOf, oneOf and not.
  nlohmann::json Make(const nlohmann::json& schema, const std::string& api_version, const std::string& kind);

  // Changes a few values in the object, each in a way that its schema suggests.
  void Break(nlohmann::json& object, const nlohmann::json& schema);

 private:
  using json = nlohmann::json;
  // A value in an object, and its schema.
  struct Place {
    json* value;
    const json* schema;
  };

  std::size_t Below(std::size_t end) { return static_cast<std::size_t>(chance_() % end); }
  bool OneIn(std::size_t n) { return Below(n) == 0; }

  json Value(const json& schema, int depth);
  json Text(const json& schema);
  json Number(const json& schema);
  json List(const json& schema, int depth);
  json Object(const json& schema, int depth);
  void BreakAt(const Place& place);
  json Odd(const json& schema, const json& value);
  static void Collect(json& value, const json& schema, std::vector<Place>& places);

  std::mt19937_64 chance_;
  std::size_t rarity_ = 2;  // of a member that is not required
};

}  // namespace kgen::integration

#endif  // KGEN_TESTS_INTEGRATION_VALIDATION_OBJECT_MAKER_H_
