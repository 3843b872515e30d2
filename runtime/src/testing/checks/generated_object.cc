// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/checks/generated_object.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "core/json/quote.h"

namespace kgen::testing {
namespace {

using kgen::detail::QuoteJson;

class ObjectGenerator {
 public:
  ObjectGenerator(const GenerateOptions& options, std::mt19937_64& random) : options_(options), random_(random) {}

  std::string Whole(const TypeTable& table) {
    const KindInfo& kind = *table.kind;
    out_ = "{\"apiVersion\":\"" + std::string(kind.group) + (kind.group.empty() ? "" : "/") +
           std::string(kind.version) + "\",\"kind\":\"" + std::string(kind.kind) + "\"";
    Metadata(kind);
    Members(table, options_.peer, 0);
    return std::move(out_) + "}";
  }

 private:
  static constexpr int kMostMembers = 150;  // of one object: types such as a PodSpec never end
  static constexpr int kMostLevels = 8;

  std::uint64_t Below(std::uint64_t n) { return random_() % n; }
  bool Chance(std::uint64_t of) { return Below(of) == 0; }
  template <std::size_t n>
  std::string_view OneOf(const std::string_view (&values)[n]) {
    return values[Below(n)];
  }

  void Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_.append(QuoteJson(name)).append(":");
  }

  void Metadata(const KindInfo& kind) {
    out_ += R"(,"metadata":{"name":"generated")";
    if (kind.scope == kgen::Scope::kNamespaced) out_ += R"(,"namespace":"default")";
    out_ += R"(,"uid":"5d2f","resourceVersion":"7","generation":3,"creationTimestamp":"2026-11-22T08:00:00Z")";
    if (Chance(2)) out_ += R"(,"labels":{"app":"shop","empty":""})";
    const bool lost = !options_.annotation.empty();
    if (lost || Chance(3)) {
      out_ += R"(,"annotations":{"note":"a \"quoted\" text")";
      if (lost) out_.append(R"(,"kgen.dev/conversion-data":)").append(QuoteJson(options_.annotation));
      out_ += '}';
    }
    if (Chance(4)) out_ += R"(,"finalizers":["shop.example/stock"],"deletionTimestamp":null)";
    if (Chance(4)) {
      out_ += R"(,"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"1","controller":true}])";
    }
    if (Chance(4)) {
      out_ += R"(,"managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:spec":{}}}])";
    }
    if (options_.unknown_fields && Chance(4)) out_ += R"(,"kgenUnknown":{"kept":[1,null]})";
    out_ += '}';
  }

  // Appends members to the object that is open. `peer` is the table of the other version, or null.
  void Members(const TypeTable& table, const TypeTable* peer, int level) {
    for (const Field& field : table) {
      if (level == 0 && field.wire_name() == "metadata") continue;
      const Field* other = peer != nullptr ? peer->Find(field.wire_name()) : nullptr;
      if (members_ >= kMostMembers || (level > 0 && Chance(2)) || (level == 0 && Chance(6))) continue;
      if (level >= kMostLevels && field.kind >= ValueKind::kStruct) continue;
      ++members_;
      Name(field.wire_name());
      if (other != nullptr && options_.nulls && level > 0 && Chance(10)) {
        out_ += "null";
      } else {
        Value(field.kind, field.detail, other, level + 1);
      }
    }
    if (peer != nullptr && options_.unknown_fields && Chance(4)) {
      Name("kgenUnknown");
      out_ += R"({"kept":[1,null,"1.0"],"number":12345678901234567890})";
    }
  }

  void Value(ValueKind kind, const void* detail, const Field* peer, int level) {
    switch (kind) {
      case ValueKind::kStruct:
      case ValueKind::kBox: {
        const bool shared = peer != nullptr && (peer->kind == ValueKind::kStruct || peer->kind == ValueKind::kBox);
        return Object(*static_cast<const TypeTable*>(detail), shared ? peer->table() : nullptr, level);
      }
      case ValueKind::kList:
      case ValueKind::kMap:
        return Block(kind, *static_cast<const ValueType*>(detail),
                     peer != nullptr && peer->kind == kind ? peer->element() : nullptr, level);
      default:
        Scalar(kind);
    }
  }

  void Object(const TypeTable& table, const TypeTable* peer, int level) {
    out_ += '{';
    if (!Chance(8)) Members(table, peer, level);
    out_ += '}';
  }

  void Block(ValueKind kind, const ValueType& element, const ValueType* peer, int level) {
    static constexpr std::string_view kKeys[] = {"a", "b.example/c", "tls.crt"};
    const bool map = kind == ValueKind::kMap;
    out_ += map ? '{' : '[';
    for (std::uint64_t i = 0, n = Below(4); i < n; ++i) {
      if (i > 0) out_ += ',';
      if (map) out_.append(QuoteJson(kKeys[i])).append(":");
      Element(element, peer, level + 1);
    }
    out_ += map ? '}' : ']';
  }

  void Element(const ValueType& type, const ValueType* peer, int level) {
    const bool same = peer != nullptr && peer->kind == type.kind;
    if (type.kind == ValueKind::kStruct || type.kind == ValueKind::kBox) {
      return Object(*type.table, same ? peer->table : nullptr, level);
    }
    if (type.kind == ValueKind::kList || type.kind == ValueKind::kMap) {
      return Block(type.kind, *type.element, same ? peer->element : nullptr, level);
    }
    Scalar(type.kind);
  }

  void Scalar(ValueKind kind) {
    static constexpr std::string_view kTexts[] = {"\"\"",
                                                  "\"a\"",
                                                  "\"Urgent\"",
                                                  "\"007\"",
                                                  "\"gr\u00f6\u00dfe\"",
                                                  R"("a \"quoted\"\\\n text")",
                                                  "\"a text that is too long to stand inside of a string\""};
    static constexpr std::string_view kInt32s[] = {"0", "1", "-1", "42", "2147483647", "-2147483648"};
    static constexpr std::string_view kInt64s[] = {"0", "3", "-7", "9007199254740993", "9223372036854775807"};
    static constexpr std::string_view kDoubles[] = {"0", "0.5", "-2.25", "1e-7", "1e21", "3"};
    static constexpr std::string_view kQuantities[] = {"\"0\"", "\"500m\"", "\"1Gi\"", "\"1.5\"", "\"100k\""};
    static constexpr std::string_view kPorts[] = {"80", "\"http\"", "\"25%\"", "0"};
    static constexpr std::string_view kDurations[] = {"\"0s\"", "\"1h30m0s\"", "\"1.5s\""};
    static constexpr std::string_view kTimes[] = {"\"2026-11-22T08:00:00Z\"", "\"1999-12-31T23:59:59Z\""};
    static constexpr std::string_view kMicroTimes[] = {"\"2026-11-22T08:00:00.123456Z\"",
                                                       "\"1999-12-31T23:59:59.000000Z\""};
    static constexpr std::string_view kBytes[] = {"\"\"", "\"aGk=\"", "\"AAEC/w==\""};
    static constexpr std::string_view kJsons[] = {
        "1", "\"text\"", "true", "[]", "{}", R"([1,null,{"a":[]}])", R"({"b":1.50,"a":{"c":null}})"};
    switch (kind) {
      case ValueKind::kBool:
        out_ += Chance(2) ? "true" : "false";
        return;
      case ValueKind::kInt32:
        out_ += OneOf(kInt32s);
        return;
      case ValueKind::kInt64:
        out_ += OneOf(kInt64s);
        return;
      case ValueKind::kDouble:
        out_ += OneOf(kDoubles);
        return;
      case ValueKind::kTime:
        out_ += OneOf(kTimes);
        return;
      case ValueKind::kMicroTime:
        out_ += OneOf(kMicroTimes);
        return;
      case ValueKind::kDuration:
        out_ += OneOf(kDurations);
        return;
      case ValueKind::kQuantity:
        out_ += OneOf(kQuantities);
        return;
      case ValueKind::kIntOrString:
        out_ += OneOf(kPorts);
        return;
      case ValueKind::kBytes:
        out_ += OneOf(kBytes);
        return;
      case ValueKind::kJson:
        out_ += OneOf(kJsons);
        return;
      default:
        out_ += OneOf(kTexts);
    }
  }

  const GenerateOptions& options_;
  std::mt19937_64& random_;
  std::string out_;
  int members_ = 0;
};

}  // namespace

std::string GenerateObject(const TypeTable& table, const GenerateOptions& options, std::mt19937_64& random) {
  return ObjectGenerator(options, random).Whole(table);
}

}  // namespace kgen::testing
