// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/unknown_fields.h"

#include <utility>

#include "core/blocks.h"
#include "core/table_builder.h"

namespace kgen {

namespace {

// The name "" is one that a member can have; none at all is not.
bool Is(const UnknownField& field, std::string_view name) noexcept {
  return field.name.has_value() && field.name == name;
}

}  // namespace

const Json& UnknownFields::operator[](std::string_view name) const noexcept {
  for (const UnknownField* field = end(); field != begin();) {
    if (Is(*--field, name)) return field->value;
  }
  return detail::Empty<Json>();
}

void UnknownFields::Append(String name, Json value) {
  if (value.has_value()) fields_.push_back({std::move(name), std::move(value)});
}

void UnknownFields::Set(std::string_view name, Json value) {
  if (!value.has_value()) {
    Erase(name);
    return;
  }
  const String owned(name);  // `name` may be a view of a field that goes
  std::size_t at = 0;
  while (at < fields_.size() && !Is(fields_[at], owned)) ++at;
  if (at == fields_.size()) {
    Append(owned, std::move(value));
    return;
  }
  fields_[at].value = std::move(value);
  for (std::size_t i = fields_.size() - 1; i > at; --i) {
    if (Is(fields_[i], owned)) fields_.erase(fields_.begin() + i);
  }
}

std::size_t UnknownFields::Erase(std::string_view name) {
  const String owned(name);
  const std::size_t before = fields_.size();
  for (std::size_t i = before; i-- > 0;) {
    if (Is(fields_[i], owned)) fields_.erase(fields_.begin() + i);
  }
  const std::size_t erased = before - fields_.size();
  if (fields_.empty()) fields_.reset();
  return erased;
}

bool operator==(const UnknownFields& a, const UnknownFields& b) noexcept {
  if (a.size() != b.size()) return false;
  const UnknownField* other = b.begin();
  for (const UnknownField& field : a) {
    if (!detail::SameField(field, *other)) return false;
    ++other;
  }
  return true;
}

namespace {

constexpr Field kFields[] = {
    detail::MakeField("name", offsetof(UnknownField, name), ValueKind::kString),
    detail::MakeField("value", offsetof(UnknownField, value), ValueKind::kJson),
};
constexpr detail::NameSlots kSlots = detail::FindNameSlots(kFields);

}  // namespace

constinit const TypeTable UnknownField::kTable = detail::MakeTable<UnknownField>("kgen.UnknownField", kFields, kSlots);

}  // namespace kgen
