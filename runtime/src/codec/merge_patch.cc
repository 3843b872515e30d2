// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/codec/merge_patch.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/json/json_value.h"
#include "core/json_path.h"
#include "kgen/codec/encode.h"
#include "kgen/codec/yaml.h"

namespace kgen::detail {

namespace {

using Members = std::map<std::string, std::string_view, std::less<>>;

// Returns the members of an object. Of several members of one name the last one wins.
Result<Members> MembersOf(std::string_view json) {
  Members members;
  auto done = ForEachJson(
      json, [&](std::string_view name, std::string_view value) { members.insert_or_assign(std::string(name), value); });
  if (!done) return Fail(std::move(done).error());
  return members;
}

bool IsPlainName(std::string_view name) noexcept {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

class Differ {
 public:
  // Appends the patch between two objects.
  Result<void> Object(std::string_view before, std::string_view after) {
    auto was = MembersOf(before);
    if (!was) return Fail(std::move(was).error());
    auto is = MembersOf(after);
    if (!is) return Fail(std::move(is).error());
    out_ += '{';
    for (const auto& [name, value] : *is) {
      const auto old = was->find(name);
      const std::string_view from = old != was->end() ? old->second : std::string_view();
      if (!from.empty() && SameJson(from, value)) continue;
      Name(name);
      const std::size_t size = path_.size();
      Enter(name);
      if (auto done = Member(from, value); !done) return done;
      path_.resize(size);
    }
    for (const auto& [name, value] : *was) {
      if (is->contains(name)) continue;
      Name(name);
      out_ += "null";
    }
    out_ += '}';
    return {};
  }

  std::string Take() { return std::move(out_); }

 private:
  // Appends the patch for a value that differs. `before` is empty if the value is new.
  Result<void> Member(std::string_view before, std::string_view after) {
    if (KindOfJson(after) == "null") {
      return Fail(Code::kInvalidArgument, "cannot set " + path_ +
                                              " to null, which removes the member: reset it, or send an update or a "
                                              "JSON patch");
    }
    if (KindOfJson(after) == "an object") return Object(KindOfJson(before) == "an object" ? before : "{}", after);
    out_ += after;
    return {};
  }

  void Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    yaml::AppendJsonString(name, out_);
    out_ += ':';
  }

  void Enter(std::string_view name) {
    if (IsPlainName(name)) {
      path_.append(path_.empty() ? "" : ".").append(name);
    } else {
      path_.append("['").append(name).append("']");
    }
  }

  std::string out_;
  std::string path_;
};

}  // namespace

Result<std::string> DiffStructs(const void* before, const void* after, const TypeTable& table) {
  std::string was;
  std::string is;
  EncodeStruct(before, table, was);
  EncodeStruct(after, table, is);
  Differ differ;
  if (auto done = differ.Object(was, is); !done) return Fail(std::move(done).error());
  return differ.Take();
}

}  // namespace kgen::detail
