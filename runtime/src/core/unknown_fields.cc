// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/unknown_fields.h"

#include <utility>

#include "core/blocks.h"
#include "core/tables/table_builder.h"

namespace kgen {

namespace {

// A member can have the name "", but not an unset name.
bool Is(const UnknownField& field, std::string_view name) noexcept {
  return field.name.has_value() && field.name == name;
}

}  // namespace

UnknownFields::UnknownFields(const UnknownFields& other) : word_(detail::CopyUnknown(other.word_)) {}

void UnknownFields::clear() noexcept {
  if (block() != nullptr) detail::ReleaseList(block(), kTypeOf<UnknownField>);
  word_ = 0;
}

const Json& UnknownFields::operator[](std::string_view name) const noexcept {
  for (const UnknownField* field = end(); field != begin();) {
    if (Is(*--field, name)) return field->value;
  }
  return detail::Empty<Json>();
}

void UnknownFields::Append(String name, Json value) {
  if (!value.has_value()) return;
  detail::ListBlock* list = detail::UnknownListFor(*this);
  auto* field = static_cast<UnknownField*>(detail::AppendElement(list, kTypeOf<UnknownField>));
  word_ = reinterpret_cast<std::uintptr_t>(list);
  *field = {std::move(name), std::move(value)};
}

void UnknownFields::Set(std::string_view name, Json value) {
  if (!value.has_value()) {
    Erase(name);
    return;
  }
  const String owned(name);  // `name` may be a view of a field that is removed
  std::size_t at = 0;
  while (at < size() && !Is(begin()[at], owned)) ++at;
  if (at == size()) {
    Append(owned, std::move(value));
    return;
  }
  Elements()[block()->hidden + at].value = std::move(value);
  for (std::size_t i = size() - 1; i > at; --i) {
    if (Is(begin()[i], owned)) EraseAt(block()->hidden + i);
  }
}

std::size_t UnknownFields::Erase(std::string_view name) {
  const String owned(name);
  const std::size_t before = size();
  for (std::size_t i = before; i-- > 0;) {
    if (Is(begin()[i], owned)) EraseAt(block()->hidden + i);
  }
  const std::size_t erased = before - size();
  if (block() != nullptr && block()->word == 0) clear();
  return erased;
}

void UnknownFields::EraseAt(std::size_t i) noexcept {
  UnknownField* fields = Elements();
  for (; i + 1 < block()->word; ++i) fields[i] = std::move(fields[i + 1]);
  fields[i].~UnknownField();
  --block()->word;
}

bool operator==(const UnknownFields& a, const UnknownFields& b) noexcept { return detail::SameFields(a, b); }

namespace {

constexpr Field kFields[] = {
    detail::MakeField("name", offsetof(UnknownField, name), ValueKind::kString),
    detail::MakeField("value", offsetof(UnknownField, value), ValueKind::kJson),
};
constexpr detail::NameSlots kSlots = detail::FindNameSlots(kFields);

}  // namespace

constinit const TypeTable UnknownField::kTable = detail::MakeTable<UnknownField>("kgen.UnknownField", kFields, kSlots);

}  // namespace kgen
