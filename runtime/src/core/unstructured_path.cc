// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The getters and setters of Unstructured by path.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/json/compact_json.h"
#include "core/json/number.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "core/quoted.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace {

using detail::JsonStep;

Error At(const Error& error, std::string_view doing, std::string_view path) {
  return error.With(std::string(doing) + ' ' + detail::Quoted(path));
}

// The text of the value at a path. If the first member of the path is not stored as JSON, `owner` has its text.
struct Value {
  std::string owner{};  // the text of a value that is not stored as JSON
  std::string_view text{};
};

Result<Value> Find(const Unstructured& object, std::string_view path) {
  Result<std::vector<JsonStep>> steps = detail::ParseJsonPath(path);
  if (!steps) return Fail(std::move(steps).error());
  const std::string& first = steps->front().name;
  Value value;
  if (first == "metadata") {
    const Unstructured head{.metadata = object.metadata};
    value.owner = detail::CompactJson(head.json()["metadata"]);
    value.text = value.owner;
  } else if (first == "apiVersion" || first == "kind") {
    const String& text = first == "kind" ? object.kind : object.apiVersion;
    if (text.has_value()) value.owner = detail::QuoteJson(text);
    value.text = value.owner;
  } else {
    value.text = object.unknown_fields[first].text();
  }
  Result<std::string_view> found = detail::FindJson(value.text, std::span(*steps).subspan(1));
  if (!found) return Fail(At(found.error(), "get", path));
  // Returning `owner` moves it, which would invalidate a view into a short text. So `owner` becomes the found text
  // itself.
  if (!value.owner.empty()) {
    value.owner = std::string(*found);
    value.text = {};
  } else {
    value.text = *found;
  }
  return value;
}

std::string_view TextOf(const Value& value) noexcept { return value.owner.empty() ? value.text : value.owner; }

std::unexpected<Error> NotA(std::string_view what, std::string_view text, std::string_view path) {
  std::string message = "the value is ";
  message.append(detail::KindOfJson(text)).append(", not ").append(what);
  return Fail(At(Error(Code::kDecode, message), "get", path));
}

std::from_chars_result ReadNumber(std::string_view text, std::int64_t& number) noexcept {
  return std::from_chars(text.data(), text.data() + text.size(), number);
}
std::from_chars_result ReadNumber(std::string_view text, double& number) noexcept {
  return detail::ReadDouble(text, number);
}

template <typename T>
Result<T> Number(const Unstructured& object, std::string_view path, std::string_view what) {
  Result<Value> value = Find(object, path);
  if (!value) return Fail(std::move(value).error());
  const std::string_view text = TextOf(*value);
  T number{};
  const auto [end, error] = ReadNumber(text, number);
  const bool digits = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (digits && error == std::errc() && end == text.data() + text.size()) return number;
  if (!digits) return NotA(what, text, path);
  return Fail(At(Error(Code::kDecode, std::string(text) + " is not " + std::string(what)), "get", path));
}

// Parses a path that may be written to.
Result<std::vector<JsonStep>> StepsToWrite(std::string_view path, std::string_view doing) {
  Result<std::vector<JsonStep>> steps = detail::ParseJsonPath(path);
  if (!steps) return steps;
  if (steps->front().name == "metadata") {
    return Fail(At(Error(Code::kInvalidArgument, "metadata is typed; assign to the members of `metadata` instead"),
                   doing, path));
  }
  return steps;
}

// Returns the typed member of that name, or null.
String* TypedMember(Unstructured& object, const std::vector<JsonStep>& steps) {
  if (steps.size() != 1) return nullptr;
  return steps[0].name == "kind" ? &object.kind : steps[0].name == "apiVersion" ? &object.apiVersion : nullptr;
}

}  // namespace

namespace detail {

Json JsonOfText(std::string_view text) { return Json(QuoteJson(text)); }
Json JsonOf(std::int64_t value) { return Json(std::to_string(value)); }
Json JsonOf(std::uint64_t value) { return Json(std::to_string(value)); }
Json JsonOf(double value) {
  if (!std::isfinite(value)) return {};
  char text[kNumberRoom];
  return Json(std::string_view(text, WriteDouble(value, text)));
}

}  // namespace detail

Result<Json> Unstructured::Get(std::string_view path) const {
  Result<Value> value = Find(*this, path);
  if (!value) return Fail(std::move(value).error());
  return Json(TextOf(*value));
}

Result<String> Unstructured::GetString(std::string_view path) const {
  Result<Value> value = Find(*this, path);
  if (!value) return Fail(std::move(value).error());
  if (TextOf(*value)[0] != '"') return NotA("a string", TextOf(*value), path);
  Result<std::string> text = detail::StringOfJson(TextOf(*value));
  if (!text) return Fail(At(text.error(), "get", path));
  return String(*text);
}

Result<std::int64_t> Unstructured::GetInt64(std::string_view path) const {
  return Number<std::int64_t>(*this, path, "a 64-bit integer");
}

Result<double> Unstructured::GetDouble(std::string_view path) const { return Number<double>(*this, path, "a number"); }

Result<bool> Unstructured::GetBool(std::string_view path) const {
  Result<Value> value = Find(*this, path);
  if (!value) return Fail(std::move(value).error());
  const std::string_view text = TextOf(*value);
  if (text != "true" && text != "false") return NotA("a boolean", text, path);
  return text == "true";
}

Result<List<Json>> Unstructured::GetList(std::string_view path) const {
  Result<Value> value = Find(*this, path);
  if (!value) return Fail(std::move(value).error());
  if (TextOf(*value)[0] != '[') return NotA("a list", TextOf(*value), path);
  List<Json> list;
  auto done = detail::ForEachJson(TextOf(*value),
                                  [&](std::string_view, std::string_view element) { list.push_back(Json(element)); });
  if (!done) return Fail(At(done.error(), "get", path));
  return list;
}

Result<Map<Json>> Unstructured::GetMap(std::string_view path) const {
  Result<Value> value = Find(*this, path);
  if (!value) return Fail(std::move(value).error());
  if (TextOf(*value)[0] != '{') return NotA("an object", TextOf(*value), path);
  Map<Json> map;
  auto done = detail::ForEachJson(TextOf(*value),
                                  [&](std::string_view name, std::string_view member) { map[name] = Json(member); });
  if (!done) return Fail(At(done.error(), "get", path));
  return map;
}

Result<void> Unstructured::SetJson(std::string_view path, const Json& value) {
  Result<std::vector<JsonStep>> steps = StepsToWrite(path, "set");
  if (!steps) return Fail(std::move(steps).error());
  if (!value.has_value()) {
    return Fail(At(Error(Code::kInvalidArgument, "the value is unset; Remove() removes"), "set", path));
  }
  const std::string& first = steps->front().name;
  if (String* member = TypedMember(*this, *steps)) {
    Result<std::string> text = detail::StringOfJson(value.text());
    if (!text) return Fail(At(Error(Code::kInvalidArgument, first + " is a string"), "set", path));
    *member = *text;
    return {};
  }
  if (first == "kind" || first == "apiVersion") {
    return Fail(At(Error(Code::kDecode, first + " is a string"), "set", path));
  }
  const auto rest = std::span(*steps).subspan(1);
  Result<std::string> changed = detail::SetJson(unknown_fields[first].text(), rest, value.text());
  if (!changed) return Fail(At(changed.error(), "set", path));
  unknown_fields.Set(first, rest.empty() ? value : Json(*changed));
  return {};
}

Result<bool> Unstructured::Remove(std::string_view path) {
  Result<std::vector<JsonStep>> steps = StepsToWrite(path, "remove");
  if (!steps) return Fail(std::move(steps).error());
  const std::string& first = steps->front().name;
  if (String* member = TypedMember(*this, *steps)) {
    const bool was = member->has_value();
    member->reset();
    return was;
  }
  if (steps->size() == 1) return unknown_fields.Erase(first) > 0;
  auto changed = detail::RemoveJson(unknown_fields[first].text(), std::span(*steps).subspan(1));
  if (!changed) return Fail(At(changed.error(), "remove", path));
  if (!*changed) return false;
  unknown_fields.Set(first, Json(**changed));
  return true;
}

}  // namespace kgen
