// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// UnknownFields: the last member of every generated struct, which keeps received data that the other members cannot
// hold.
//
// A client that is older than its server must not drop a field in an Update, so members that the table does not name
// are kept, in order, duplicates included, and written after the known ones. Two more kinds of fields are kept here
// because they must be sent back as received: a known field of the wrong type (it reads as absent), and a `null` where
// the schema says nullable. Both are sent back unless a value is assigned to the member. An element of a list or map of
// structs that was not an object is kept as one field without a name, and is sent back unless anything is set in that
// element.
//
// The decoder also keeps here, invisibly, the spelling of known members that their values do not show: other members
// that were `null`, and numbers that the encoder would spell differently (`1.0`, `1E5`). They are sent back as received
// unless another value is assigned, and are copied with the struct. clear() removes them too.
//
//   for (const auto& field : order.unknown_fields) std::cout << field.name << " = " << field.value.text() << '\n';
//   order.unknown_fields.Set("newField", kgen::Json("{\"a\":1}"));
//
// Thread safety and iterator validity: as std::vector.
#ifndef KGEN_CORE_UNKNOWN_FIELDS_H_
#define KGEN_CORE_UNKNOWN_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "kgen/core/json.h"
#include "kgen/core/list.h"
#include "kgen/core/string.h"

namespace kgen {

// One member that the type does not know.
struct UnknownField {
  String name;  // unescaped; unset: `value` was received in place of the whole struct
  Json value;
  static const TypeTable kTable;
};

// The members of an object that its type does not know, in the order in which they came.
class UnknownFields {
 public:
  constexpr UnknownFields() noexcept = default;
  UnknownFields(const UnknownFields& other);
  UnknownFields(UnknownFields&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  ~UnknownFields() {
    if (word_ != 0) clear();
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): the copy is made first
  UnknownFields& operator=(const UnknownFields& other) { return *this = UnknownFields(other); }
  UnknownFields& operator=(UnknownFields&& other) noexcept {
    UnknownFields moved(std::move(other));
    std::swap(word_, moved.word_);
    return *this;
  }

  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return block() != nullptr ? block()->word - block()->hidden : 0; }
  const UnknownField* begin() const noexcept { return block() != nullptr ? Elements() + block()->hidden : nullptr; }
  const UnknownField* end() const noexcept { return begin() + size(); }

  // Returns the last field of that name (the one that a server would use), or an unset Json.
  const Json& operator[](std::string_view name) const noexcept;
  bool contains(std::string_view name) const noexcept { return (*this)[name].has_value(); }

  // Replaces all fields of that name, in the position of the first, or appends one. An unset value removes them.
  void Set(std::string_view name, Json value);
  void Append(String name, Json value);      // ignores an unset value, which cannot be written
  std::size_t Erase(std::string_view name);  // returns how many there were
  void clear() noexcept;

  // Returns whether both hold the same fields: names and values count, and their order does not. If several fields have
  // the same name, the last one counts.
  friend bool operator==(const UnknownFields& a, const UnknownFields& b) noexcept;

 private:
  detail::ListBlock* block() const noexcept {
    return (word_ & 1) == 0 ? reinterpret_cast<detail::ListBlock*>(word_) : nullptr;
  }
  UnknownField* Elements() const noexcept { return static_cast<UnknownField*>(block()->elements()); }
  void EraseAt(std::size_t i) noexcept;  // counted with the hidden ones

  std::uintptr_t word_ = 0;  // a block of fields, or marks of members that were null: core/blocks.h
};

static_assert(sizeof(UnknownFields) == 8 && std::is_standard_layout_v<UnknownFields>);

}  // namespace kgen

#endif  // KGEN_CORE_UNKNOWN_FIELDS_H_
