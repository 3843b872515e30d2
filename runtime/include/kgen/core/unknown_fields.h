// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The last member of every generated struct: what the wire held and the table does not know.
//
// A client older than its server must not drop a field in an Update, so members that the table does not name are kept,
// in order, duplicates included, and written after the known ones. [D6] More lives here because it must be sent back as
// it came: a known field whose JSON did not fit its type ("misfit": reads as absent, sent back unless a
// value is assigned), and a `null` where the schema says nullable. An element of a list or map that was no such struct
// at all is one field without a name, and is sent back unless anything is set in that element.
//
//   for (const auto& field : order.unknown_fields) std::cout << field.name << " = " << field.value.text() << '\n';
//   order.unknown_fields.Set("newField", kgen::Json("{\"a\":1}"));
//
// Thread safety and iterator validity: as std::vector.
#ifndef KGEN_CORE_UNKNOWN_FIELDS_H_
#define KGEN_CORE_UNKNOWN_FIELDS_H_

#include <cstddef>
#include <string_view>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/string.h"

namespace kgen {

struct UnknownField {
  String name;  // unescaped; unset: `value` is what stood in place of the whole struct
  Json value;
  static const TypeTable kTable;
};

class UnknownFields {
 public:
  constexpr UnknownFields() noexcept = default;

  bool empty() const noexcept { return fields_.empty(); }
  std::size_t size() const noexcept { return fields_.size(); }
  const UnknownField* begin() const noexcept { return fields_.begin(); }
  const UnknownField* end() const noexcept { return fields_.end(); }

  // The last field of that name (as the server would take it), or an unset Json.
  const Json& operator[](std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return (*this)[name].has_value(); }

  // Replaces all of that name in place of the first, or appends. An unset value takes them away.
  void Set(std::string_view name, Json value);
  void Append(String name, Json value);      // not an unset value, which nobody could write
  std::size_t Erase(std::string_view name);  // how many there were
  void clear() noexcept { fields_.reset(); }

  friend bool operator==(const UnknownFields& a, const UnknownFields& b) noexcept;

 private:
  List<UnknownField> fields_;
};

static_assert(sizeof(UnknownFields) == 8 && std::is_standard_layout_v<UnknownFields>);

}  // namespace kgen

#endif  // KGEN_CORE_UNKNOWN_FIELDS_H_
