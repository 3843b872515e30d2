// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/lost_data.h"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/json/json_depth.h"
#include "core/json/json_value.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"

namespace kgen::controller {
namespace {

using detail::ForEachJson;
using detail::JsonStep;
using detail::KindOfJson;
using detail::QuoteJson;

const std::array<JsonStep, 3> kPath = {JsonStep{.name = "metadata"}, JsonStep{.name = "annotations"},
                                       JsonStep{.name = std::string(kLostAnnotation)}};

enum class Part : bool { kObject, kStatus };
constexpr std::array<std::pair<Part, std::string_view>, 2> kParts = {
    {{Part::kObject, "object"}, {Part::kStatus, "status"}}};

bool IsOf(Part part, std::string_view member) noexcept {
  if (member == "apiVersion" || member == "kind" || member == "metadata") return false;
  return (member == "status") == (part == Part::kStatus);
}

bool IsObject(std::string_view json) noexcept { return KindOfJson(json) == "an object"; }
bool IsList(std::string_view json) noexcept { return KindOfJson(json) == "a list"; }

// Members by name, or elements by index. Of several members of one name the last one counts.
using Entries = std::map<std::string, std::string_view, std::less<>>;

Result<Entries> EntriesOf(std::string_view json) {
  Entries entries;
  const bool list = IsList(json);
  auto done = ForEachJson(json, [&](std::string_view name, std::string_view value) {
    entries.insert_or_assign(list ? std::to_string(entries.size()) : std::string(name), value);
  });
  if (!done) return Fail(std::move(done).error());
  return entries;
}

Result<Entries> PartOf(Part part, std::string_view object) {
  Result<Entries> entries = EntriesOf(object);
  if (entries) std::erase_if(*entries, [&](const auto& entry) { return !IsOf(part, entry.first); });
  return entries;
}

// Writes the difference of two values as a tree.
class LostDiffer {
 public:
  // Appends the tree that turns `from` into `to`.
  Result<void> Difference(const Entries& from, const Entries& to) {
    out_ += '{';
    for (const auto& [name, value] : to) {
      const auto old = from.find(name);
      if (old != from.end() && detail::SameJson(old->second, value)) continue;
      Name(name);
      if (auto done = Value(old != from.end() ? old->second : std::string_view(), value); !done) return done;
    }
    for (const auto& [name, value] : from) {
      if (to.contains(name)) continue;
      Name(name);
      out_ += "[]";
    }
    out_ += '}';
    return {};
  }

  std::string Take() { return std::move(out_); }

 private:
  // Appends the tree of a value that differs; `from` is "" if there was none.
  Result<void> Value(std::string_view from, std::string_view to) {
    const bool objects = IsObject(from) && IsObject(to);
    if (objects || (IsList(from) && IsList(to))) {
      Result<Entries> before = EntriesOf(from);
      if (!before) return Fail(std::move(before).error());
      Result<Entries> after = EntriesOf(to);
      if (!after) return Fail(std::move(after).error());
      if (objects || before->size() == after->size()) return Difference(*before, *after);
    }
    out_.append("[").append(to).append("]");
    return {};
  }

  void Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_.append(QuoteJson(name)).append(":");
  }

  std::string out_;
};

bool IsLeaf(std::string_view node) noexcept { return IsList(node); }

// The value of a leaf; nothing for a member that is to be removed.
std::optional<std::string_view> ValueOf(std::string_view leaf) {
  std::optional<std::string_view> value;
  const auto done = ForEachJson(leaf, [&](std::string_view, std::string_view element) { value = element; });
  return done ? value : std::nullopt;
}

// Appends `json` with the changes of `tree`, which is no leaf. Changes for which there is no place are left out: the
// functions have changed since the tree was made.
Result<void> MergeLost(std::string_view json, std::string_view tree, std::string& out) {
  const bool list = IsList(json);
  if (!list && !IsObject(json)) return out.append(json), Result<void>();
  Result<Entries> changes = EntriesOf(tree);
  if (!changes) return Fail(std::move(changes).error());
  const std::size_t begin = out.size() + 1;
  out += list ? '[' : '{';
  std::size_t index = 0;
  Result<void> nested;
  const auto name_of = [&](std::string_view name) {
    if (out.size() > begin) out += ',';
    if (!list) out.append(QuoteJson(name)).append(":");
  };
  auto done = ForEachJson(json, [&](std::string_view name, std::string_view value) {
    const auto change = changes->find(list ? std::to_string(index++) : std::string(name));
    if (change == changes->end()) return name_of(name), void(out.append(value));
    const std::string_view node = change->second;
    changes->erase(change);
    if (!IsLeaf(node)) {
      name_of(name);
      if (auto merged = MergeLost(value, node, out); !merged) nested = std::move(merged);
    } else if (const auto replaced = ValueOf(node); replaced) {
      name_of(name), out.append(*replaced);
    }
  });
  if (!done) return done;
  for (const auto& [name, node] : *changes) {
    const auto value = IsLeaf(node) && !list ? ValueOf(node) : std::nullopt;
    if (value) name_of(name), out.append(*value);
  }
  out += list ? ']' : '}';
  return nested;
}

// FNV-1a with 64 bits. It is stored, so it must never change.
std::string HashOf(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) out[i] = kDigits[hash & 15];
  return out;
}

// The hash of what a tree was made from, and of the tree itself.
Result<std::string> Seal(const LostVersions& versions, Part part, std::string_view spoke, std::string_view tree) {
  Result<Entries> members = PartOf(part, spoke);
  if (!members) return Fail(std::move(members).error());
  std::string text(versions.hub);
  text.append("\n").append(versions.spoke).append("\n").append(CanonicalJson(tree)).append("\n");
  for (const auto& [name, value] : *members) {
    text.append(QuoteJson(name)).append(":").append(CanonicalJson(value)).append("\n");
  }
  return HashOf(text);
}

// The annotation, read. The views point into its text.
struct LostText {
  std::string hub;
  std::map<Part, std::pair<std::string, std::string_view>> parts;  // hash and tree
};

std::optional<LostText> ReadLost(std::string_view data) {
  if (detail::NestsTooDeep(data) || !ParseJson(data) || !IsObject(data)) return std::nullopt;
  const Result<Entries> members = EntriesOf(data);
  if (!members) return std::nullopt;
  LostText text;
  const auto hub = members->find("hub");
  if (hub == members->end()) return std::nullopt;
  text.hub = detail::StringOfJson(hub->second).value_or("");
  for (const auto& [part, name] : kParts) {
    const auto found = members->find(name);
    if (found == members->end()) continue;
    const Result<Entries> pair = EntriesOf(found->second);
    if (!IsList(found->second) || !pair || pair->size() != 2 || !IsObject(pair->at("1"))) return std::nullopt;
    const Result<Entries> changes = EntriesOf(pair->at("1"));
    if (!changes) return std::nullopt;
    for (const auto& [member, change] : *changes) {
      if (!IsOf(part, member)) return std::nullopt;  // the identity of the object is not ours to change
    }
    text.parts[part] = {detail::StringOfJson(pair->at("0")).value_or(""), pair->at("1")};
  }
  return text;
}

}  // namespace

Result<std::optional<TakenLost>> TakeLost(std::string_view object) {
  const Result<std::string_view> value = detail::FindJson(object, kPath);
  if (!value) {
    if (value.error().code() == Code::kNotFound) return std::nullopt;
    return Fail(value.error());
  }
  const Result<std::string_view> all = detail::FindJson(object, std::span(kPath).first(2));
  const Result<Entries> names = all ? EntriesOf(*all) : Result<Entries>();
  // Nobody tells annotations that are absent from those that are empty.
  const bool alone = names && names->size() == 1;
  auto without = detail::RemoveJson(object, std::span(kPath).first(alone ? 2 : 3));
  if (!without) return Fail(std::move(without).error());
  return TakenLost{(*without).value_or(std::string(object)), detail::StringOfJson(*value).value_or("")};
}

Result<std::string> FindLost(const LostVersions& versions, std::string_view hub, std::string_view back,
                             std::string_view spoke) {
  std::string out;
  for (const auto& [part, name] : kParts) {
    const Result<Entries> before = PartOf(part, back);
    if (!before) return Fail(before.error());
    const Result<Entries> after = PartOf(part, hub);
    if (!after) return Fail(after.error());
    LostDiffer differ;
    if (auto done = differ.Difference(*before, *after); !done) return Fail(std::move(done).error());
    const std::string tree = differ.Take();
    if (tree == "{}") continue;
    const Result<std::string> hash = Seal(versions, part, spoke, tree);
    if (!hash) return Fail(hash.error());
    out.append(",\"").append(name).append("\":[\"").append(*hash).append("\",").append(tree).append("]");
  }
  if (out.empty()) return out;
  return "{\"hub\":" + QuoteJson(versions.hub) + out + "}";
}

Result<std::optional<std::string>> AddLost(std::string_view spoke, std::string_view data) {
  if (data.size() > kMostLostBytes) return std::nullopt;
  std::size_t bytes = kLostAnnotation.size() + data.size();
  if (const auto all = detail::FindJson(spoke, std::span(kPath).first(2)); all) {
    const Result<Entries> entries = EntriesOf(*all);
    if (!entries) return Fail(entries.error());
    for (const auto& [name, value] : *entries) {
      if (name != kLostAnnotation) bytes += name.size() + detail::StringOfJson(value).value_or("").size();
    }
  }
  if (bytes > kMostAnnotationBytes) return std::nullopt;
  Result<std::string> with = detail::SetJson(spoke, kPath, QuoteJson(data));
  if (!with) return Fail(std::move(with).error());
  return *std::move(with);
}

Result<RestoredLost> RestoreLost(const LostVersions& versions, std::string_view back, std::string_view spoke,
                                 std::string_view data) {
  RestoredLost restored{std::string(back)};
  const std::optional<LostText> text = ReadLost(data);
  if (!text) {
    restored.ignored = "somebody has changed the annotation: it is malformed";
    return restored;
  }
  if (text->hub != versions.hub) {
    restored.ignored =
        "it was made for the hub version '" + text->hub + "', and the hub is " + std::string(versions.hub);
    return restored;
  }
  for (const auto& [part, name] : kParts) {
    const auto found = text->parts.find(part);
    if (found == text->parts.end()) continue;
    const auto& [hash, tree] = found->second;
    const Result<std::string> expected = Seal(versions, part, spoke, tree);
    if (!expected) return Fail(expected.error());
    if (*expected != hash) {
      restored.ignored = part == Part::kStatus ? "somebody has changed the status since it was made, or the annotation"
                                               : "somebody has changed the object since it was made, or the annotation";
      continue;
    }
    std::string merged;
    if (auto done = MergeLost(restored.hub, tree, merged); !done) return Fail(std::move(done).error());
    restored.hub = std::move(merged);
  }
  return restored;
}

}  // namespace kgen::controller
