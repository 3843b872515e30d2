// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/saved/binding.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cache/store/text_hash.h"
#include "core/json/compact_json.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

using nlohmann::json;

struct Member {
  const char* key;
  const char* words;
  std::string SavedBinding::* member;
};
constexpr Member kMembers[] = {
    {"server", "server", &SavedBinding::server},
    {"authorities", "certificate authorities", &SavedBinding::authorities},
    {"resource", "resource", &SavedBinding::resource},
    {"namespace", "namespace", &SavedBinding::namespace_},
    {"labelSelector", "label selector", &SavedBinding::label_selector},
    {"fieldSelector", "field selector", &SavedBinding::field_selector},
    {"form", "object form", &SavedBinding::form},
    {"transform", "transform", &SavedBinding::transform},
};
constexpr const char* kDropManagedFields = "dropManagedFields";

// Invalid UTF-8 becomes U+FFFD, so that such a binding differs from the one that is read back.
const TypeTable* StructOf(ValueKind kind, const void* detail) {
  for (; kind == ValueKind::kList || kind == ValueKind::kMap;) {
    const auto& element = *static_cast<const ValueType*>(detail);
    kind = element.kind;
    detail =
        kind == ValueKind::kList || kind == ValueKind::kMap ? static_cast<const void*>(element.element) : element.table;
  }
  return kind == ValueKind::kStruct || kind == ValueKind::kBox ? static_cast<const TypeTable*>(detail) : nullptr;
}

// Appends the paths of the members, each with a comma. Structs that are no projections are whole, and end a path.
void AddPaths(const TypeTable& table, const std::string& prefix, std::string& out) {
  for (const Field& field : table) {
    const std::string path = prefix + std::string(field.wire_name());
    const TypeTable* const part = StructOf(field.kind, field.detail);
    if (part != nullptr && (part->flags & kProjection) != 0) {
      AddPaths(*part, path + ".", out);
    } else {
      out.append(path).append(",");
    }
  }
}

}  // namespace

std::string SavedBinding::ToJson() const {
  json object = {{kDropManagedFields, drop_managed_fields}};
  for (const Member& member : kMembers) object[member.key] = this->*member.member;
  return detail::CompactJson(object);
}

Result<SavedBinding> SavedBinding::FromJson(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  const auto lacks = [&](const char* key) {
    return Fail(Code::kDecode, std::string("its header has no ") + key + " of the expected type");
  };
  if (!object.is_object()) return Fail(Code::kDecode, "its header is not a JSON object");
  SavedBinding binding;
  for (const Member& member : kMembers) {
    const auto found = object.find(member.key);
    if (found == object.end() || !found->is_string()) return lacks(member.key);
    binding.*member.member = found->get<std::string>();
  }
  const auto drops = object.find(kDropManagedFields);
  if (drops == object.end() || !drops->is_boolean()) return lacks(kDropManagedFields);
  binding.drop_managed_fields = drops->get<bool>();
  return binding;
}

std::string SavedBinding::FileName() const {
  constexpr std::size_t kReadable = 100;
  std::string name = resource;
  if (!namespace_.empty()) name.append("-").append(namespace_);
  for (char& c : name) {
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (!safe) c = '-';
  }
  if (name.size() > kReadable) name.resize(kReadable);
  const std::string all = detail::CompactJson({server, resource, namespace_, label_selector, field_selector, form});
  std::array<char, 32> end{};
  std::snprintf(end.data(), end.size(), "-%016llx.saved", static_cast<unsigned long long>(TextHash(all)));
  return name + end.data();
}

std::string SavedBinding::DifferenceTo(const SavedBinding& informer) const {
  for (const Member& member : kMembers) {
    const std::string& mine = this->*member.member;
    const std::string& other = informer.*member.member;
    if (mine == other) continue;
    return std::string("it was saved with ") + member.words + " \"" + mine + "\", and this informer has \"" + other +
           "\"";
  }
  if (drop_managed_fields == informer.drop_managed_fields) return "";
  return drop_managed_fields ? "it was saved without managedFields, and this informer keeps them"
                             : "it was saved with managedFields, and this informer drops them";
}

std::string FormText(const TypeTable& table) {
  if (&table == &PartialObjectMetadata::kTable) return "metadata";
  if (&table == &Unstructured::kTable) return "unstructured";
  std::string paths;
  if ((table.flags & kProjection) == 0) return paths;
  AddPaths(table, "", paths);
  paths.pop_back();
  return paths;
}

}  // namespace kgen::cache
