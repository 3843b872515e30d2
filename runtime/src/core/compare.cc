// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Emptiness, equality, semantic equality and hash over tables.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory_resource>
#include <vector>

#include "core/access.h"
#include "core/blocks.h"
#include "core/json/json_value.h"
#include "kgen/core/value.h"

namespace kgen::detail {
namespace {

enum class Meaning : bool {
  kWire,      // the same JSON
  kSemantic,  // the same for a controller
};

// The 16 bytes of String, Duration, Quantity, IntOrString, Bytes and Json. Inline bytes after the text are zero, so
// inline texts can be compared as bytes; numbers in IntOrString and Quantity have a tag of their own and are always
// inline.
bool SameText(const void* a, const void* b) noexcept {
  if (std::memcmp(a, b, sizeof(String)) == 0) return true;
  const unsigned char x = static_cast<const unsigned char*>(a)[15];
  const unsigned char y = static_cast<const unsigned char*>(b)[15];
  if (x != 255 && y != 255) return false;  // both inline
  // At least one is text in a block; the other may be text of any form, but neither unset nor an integer.
  const auto is_text = [](unsigned char tag) { return tag == 255 || (tag != 0 && tag <= 0x80); };
  return is_text(x) && is_text(y) && static_cast<const String*>(a)->view() == static_cast<const String*>(b)->view();
}

template <Meaning meaning>
bool EqualStructs(const void* a, const void* b, const TypeTable& table) noexcept;
template <Meaning meaning>
bool EqualLists(const ListBlock* a, const ListBlock* b, const ValueType& type) noexcept;
template <Meaning meaning>
bool EqualMaps(const MapBlock* a, const MapBlock* b, const ValueType& type) noexcept;

template <Meaning meaning>
bool EqualBoxes(const BoxBlock* a, const BoxBlock* b, const TypeTable& table) noexcept {
  if (a == b) return true;
  const bool has = BoxHasValue(a, table);
  if (has != BoxHasValue(b, table)) return false;
  return !has || EqualStructs<meaning>(a->object(), b->object(), table);
}

template <Meaning meaning>
bool EqualTimes(const TimeWord& a, const TimeWord& b) noexcept {
  if constexpr (meaning == Meaning::kWire) return a.SameText(b);
  return a.has_value() == b.has_value() && a.micros() == b.micros();
}

template <typename T>
const T& As(const void* value) noexcept {
  return *static_cast<const T*>(value);
}

std::string_view NumberOf(const IntOrString& v) noexcept { return v.is_int() ? detail::ScalarAccess::Number(v) : ""; }
std::string_view NumberOf(const Quantity& v) noexcept { return v.is_number() ? v.text() : ""; }

// JSON numbers may be equal although they are spelled differently, `80` and `8e1`.
template <typename T>
bool SameNumberOrText(const T& a, const T& b) noexcept {
  if (SameText(&a, &b)) return true;
  const std::string_view x = NumberOf(a);
  const std::string_view y = NumberOf(b);
  return !x.empty() && !y.empty() && SameJson(x, y);
}

// Compares everything except scalars, which are Optional in members and bare in elements.
template <Meaning meaning>
bool Equal(const void* a, const void* b, ValueKind kind, const void* detail) noexcept {
  switch (kind) {
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      return EqualTimes<meaning>(As<TimeWord>(a), As<TimeWord>(b));
    case ValueKind::kStruct:
      return EqualStructs<meaning>(a, b, *static_cast<const TypeTable*>(detail));
    case ValueKind::kBox:
      return EqualBoxes<meaning>(BoxOf(a), BoxOf(b), *static_cast<const TypeTable*>(detail));
    case ValueKind::kList:
      return EqualLists<meaning>(ListOf(a), ListOf(b), *static_cast<const ValueType*>(detail));
    case ValueKind::kMap:
      return EqualMaps<meaning>(MapOf(a), MapOf(b), *static_cast<const ValueType*>(detail));
    case ValueKind::kJson:
      return As<Json>(a) == As<Json>(b);
    case ValueKind::kIntOrString:
      return SameNumberOrText(As<IntOrString>(a), As<IntOrString>(b));
    default:
      break;
  }
  if constexpr (meaning == Meaning::kSemantic) {
    if (kind == ValueKind::kString) return As<String>(a) == As<String>(b);
    if (kind == ValueKind::kBytes) return As<Bytes>(a).base64() == As<Bytes>(b).base64();
    if (kind == ValueKind::kQuantity) return As<Quantity>(a) == As<Quantity>(b);
    if (kind == ValueKind::kDuration) return As<Duration>(a) == As<Duration>(b);
  }
  if (kind == ValueKind::kQuantity) return SameNumberOrText(As<Quantity>(a), As<Quantity>(b));
  return SameText(a, b);
}

template <Meaning meaning>
bool EqualMembers(const void* a, const void* b, const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBool:
      return As<Optional<bool>>(a) == As<Optional<bool>>(b);
    case ValueKind::kInt32:
      return As<Optional<std::int32_t>>(a) == As<Optional<std::int32_t>>(b);
    case ValueKind::kInt64:
      return As<Optional<std::int64_t>>(a) == As<Optional<std::int64_t>>(b);
    case ValueKind::kDouble:
      return As<Optional<double>>(a) == As<Optional<double>>(b);
    default:
      return Equal<meaning>(a, b, field.kind, field.detail);
  }
}

template <Meaning meaning>
bool EqualValues(const void* a, const void* b, const ValueType& type) noexcept {
  switch (type.kind) {
    case ValueKind::kBool:
      return As<bool>(a) == As<bool>(b);
    case ValueKind::kInt32:
      return As<std::int32_t>(a) == As<std::int32_t>(b);
    case ValueKind::kInt64:
      return As<std::int64_t>(a) == As<std::int64_t>(b);
    case ValueKind::kDouble:
      return As<double>(a) == As<double>(b);
    case ValueKind::kStruct:
    case ValueKind::kBox:
      return Equal<meaning>(a, b, type.kind, type.table);
    default:
      return Equal<meaning>(a, b, type.kind, type.element);
  }
}

template <Meaning meaning>
bool EqualLists(const ListBlock* a, const ListBlock* b, const ValueType& type) noexcept {
  if (a == b) return true;
  if constexpr (meaning == Meaning::kSemantic) {
    if (a == nullptr) return b->word == 0;
    if (b == nullptr) return a->word == 0;
  }
  if (a == nullptr || b == nullptr || a->word != b->word) return false;
  for (std::uint32_t i = 0; i < a->word; ++i) {
    const void* x = ElementAt(a, i, type);
    const void* y = ElementAt(b, i, type);
    if (!EqualValues<meaning>(x, y, type)) return false;
  }
  return true;
}

// Returns the index of the next entry that counts, from `i` on.
std::size_t NextEntry(const MapBlock* map, std::size_t i, const ValueType& type) noexcept {
  while (i < MapSize(map) && !MapEntryCounts(map, i, type)) ++i;
  return i;
}

template <Meaning meaning>
bool EqualMaps(const MapBlock* a, const MapBlock* b, const ValueType& type) noexcept {
  if (a == b) return true;
  if (meaning == Meaning::kWire && MapHasValue(a, type) != MapHasValue(b, type)) return false;
  std::size_t i = NextEntry(a, 0, type);
  std::size_t j = NextEntry(b, 0, type);
  while (i < MapSize(a) && j < MapSize(b)) {
    const void* x = MapEntryAt(a, i, type);
    const void* y = MapEntryAt(b, j, type);
    if (KeyOf(x) != KeyOf(y) || !EqualValues<meaning>(ValueOf(x), ValueOf(y), type)) return false;
    i = NextEntry(a, i + 1, type);
    j = NextEntry(b, j + 1, type);
  }
  return i == MapSize(a) && j == MapSize(b);
}

// ---- Unknown fields. ----

// An unknown field as it is written. Without a name it replaces the whole struct.
struct Extra {
  std::string_view name;
  std::string_view value;
  bool nameless;
  std::size_t order;  // of arrival
};

// The fields that are written in addition to the members with a value, sorted by name. Each name appears once, since of
// several fields of one name the last one counts.
class Extras {
 public:
  Extras() : extras_(&memory_) {}

  template <Meaning meaning>
  void Add(const void* object, const TypeTable& table) {
    if (table.unknown_offset == TypeTable::kNoUnknown) return;
    for (const UnknownField& field : UnknownOf(object, table)) {
      if (IsReplaced(field, object, table)) continue;
      if (meaning == Meaning::kSemantic && field.value.is_null() && table.Find(field.name) != nullptr) continue;
      Add(field);
    }
    if constexpr (meaning == Meaning::kWire) {
      ForEachSentNull(object, table, [this](const Field& field) {
        extras_.push_back({field.wire_name(), "null", false, extras_.size()});
      });
    }
    Sort();
  }
  void Add(const UnknownFields& fields) {
    for (const UnknownField& field : fields) Add(field);
    Sort();
  }

  auto begin() const noexcept { return extras_.begin(); }
  auto end() const noexcept { return extras_.end(); }

  friend bool operator==(const Extras& a, const Extras& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Extra& x, const Extra& y) { return SameName(x, y) && SameJson(x.value, y.value); });
  }

 private:
  static bool SameName(const Extra& a, const Extra& b) noexcept { return a.nameless == b.nameless && a.name == b.name; }

  void Add(const UnknownField& field) {
    extras_.push_back({field.name.view(), field.value.text(), !field.name.has_value(), extras_.size()});
  }

  // Among fields of one name, later ones come first, so that they are kept.
  void Sort() {
    std::sort(extras_.begin(), extras_.end(), [](const Extra& a, const Extra& b) {
      if (a.nameless != b.nameless) return a.nameless;
      return a.name != b.name ? a.name < b.name : a.order > b.order;
    });
    extras_.erase(std::unique(extras_.begin(), extras_.end(), SameName), extras_.end());
  }

  alignas(std::max_align_t) char bytes_[2048];
  std::pmr::monotonic_buffer_resource memory_{bytes_, sizeof bytes_};
  std::pmr::vector<Extra> extras_;
};

bool HasExtras(const void* object, const TypeTable& table) noexcept {
  return table.unknown_offset != TypeTable::kNoUnknown && UnknownWord(UnknownOf(object, table)) != 0;
}

template <Meaning meaning>
bool EqualExtras(const void* a, const void* b, const TypeTable& table) noexcept {
  if (!HasExtras(a, table) && !HasExtras(b, table)) return true;
  const std::uintptr_t x = UnknownWord(UnknownOf(a, table));
  const std::uintptr_t y = UnknownWord(UnknownOf(b, table));
  const bool no_lists = UnknownList(x) == nullptr && UnknownList(y) == nullptr;
  if (no_lists && (x == y || meaning == Meaning::kSemantic)) return true;  // the members are equal already
  try {
    Extras first;
    Extras second;
    first.Add<meaning>(a, table);
    second.Add<meaning>(b, table);
    return first == second;
  } catch (...) {  // out of memory: treat them as different
    return false;
  }
}

template <Meaning meaning>
bool EqualStructs(const void* a, const void* b, const TypeTable& table) noexcept {
  if (a == b) return true;
  for (const Field& field : table) {
    if (!EqualMembers<meaning>(MemberOf(a, field), MemberOf(b, field), field)) return false;
  }
  return EqualExtras<meaning>(a, b, table);
}

// Compares two metadata, but for what changes with every write.
bool EqualMetadata(const void* a, const void* b, const TypeTable& table) noexcept {
  for (const Field& field : table) {
    if (field.wire_name() == "resourceVersion" || field.wire_name() == "managedFields") continue;
    if (!EqualMembers<Meaning::kWire>(MemberOf(a, field), MemberOf(b, field), field)) return false;
  }
  return EqualExtras<Meaning::kWire>(a, b, table);
}

// ---- Hash. ----

constexpr std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9FB21C651E98DF25u;
  return hash ^ (hash >> 32);
}

std::uint64_t HashText(std::uint64_t hash, std::string_view text) noexcept {
  return Mix(hash, std::hash<std::string_view>()(text));
}

std::uint64_t HashObject(std::uint64_t hash, const void* object, const TypeTable& table) noexcept;

std::uint64_t HashDouble(std::uint64_t hash, double value) noexcept {
  return Mix(hash, std::hash<double>()(value));  // 0.0 and -0.0 are equal, and this gives them one hash
}

std::uint64_t HashTime(std::uint64_t hash, const TimeWord& time) noexcept {
  if (const TextBlock* text = time.block(); text != nullptr) return HashText(hash, text->view());
  return Mix(hash, static_cast<std::uint64_t>(time.micros()));
}

std::uint64_t HashValue(std::uint64_t hash, const void* value, ValueKind kind, const void* detail) noexcept {
  switch (kind) {
    case ValueKind::kBool:
      return Mix(hash, As<bool>(value));
    case ValueKind::kInt32:
      return Mix(hash, static_cast<std::uint64_t>(As<std::int32_t>(value)));
    case ValueKind::kInt64:
      return Mix(hash, static_cast<std::uint64_t>(As<std::int64_t>(value)));
    case ValueKind::kDouble:
      return HashDouble(hash, As<double>(value));
    case ValueKind::kTime:
    case ValueKind::kMicroTime:
      return HashTime(hash, As<TimeWord>(value));
    case ValueKind::kIntOrString: {
      const auto& either = As<IntOrString>(value);
      return either.is_int() ? Mix(hash, HashJson(NumberOf(either))) : HashText(hash, either.string_value());
    }
    case ValueKind::kQuantity: {
      const auto& quantity = As<Quantity>(value);
      return quantity.is_number() ? Mix(hash, HashJson(NumberOf(quantity))) : HashText(hash, quantity.text());
    }
    case ValueKind::kJson:
      return Mix(hash, HashJson(As<Json>(value).text()));
    case ValueKind::kStruct:
      return HashObject(hash, value, *static_cast<const TypeTable*>(detail));
    case ValueKind::kBox:
      if (!BoxHasValue(BoxOf(value), *static_cast<const TypeTable*>(detail))) return Mix(hash, 0);
      return HashObject(hash, BoxOf(value)->object(), *static_cast<const TypeTable*>(detail));
    case ValueKind::kList: {
      const auto& type = *static_cast<const ValueType*>(detail);
      const ListBlock* list = ListOf(value);
      if (list == nullptr) return Mix(hash, 0);
      hash = Mix(hash, std::uint64_t{list->word} + 1);
      const void* inner = type.kind == ValueKind::kStruct ? static_cast<const void*>(type.table) : type.element;
      for (std::uint32_t i = 0; i < list->word; ++i) hash = HashValue(hash, ElementAt(list, i, type), type.kind, inner);
      return hash;
    }
    case ValueKind::kMap: {
      const auto& type = *static_cast<const ValueType*>(detail);
      const MapBlock* map = MapOf(value);
      const void* inner = type.kind == ValueKind::kStruct ? static_cast<const void*>(type.table) : type.element;
      for (std::size_t i = NextEntry(map, 0, type); i < MapSize(map); i = NextEntry(map, i + 1, type)) {
        const void* entry = MapEntryAt(map, i, type);
        hash = HashValue(HashText(hash, KeyOf(entry)), ValueOf(entry), type.kind, inner);
      }
      return Mix(hash, 1);
    }
    default:
      return HashText(hash, As<String>(value).view());
  }
}

std::uint64_t HashMember(std::uint64_t hash, const void* member, const Field& field) noexcept {
  switch (field.kind) {
    case ValueKind::kBool:
      return Mix(hash, *As<Optional<bool>>(member));
    case ValueKind::kInt32:
      return Mix(hash, static_cast<std::uint64_t>(*As<Optional<std::int32_t>>(member)));
    case ValueKind::kInt64:
      return Mix(hash, static_cast<std::uint64_t>(*As<Optional<std::int64_t>>(member)));
    case ValueKind::kDouble:
      return HashDouble(hash, *As<Optional<double>>(member));
    default:
      return HashValue(hash, member, field.kind, field.detail);
  }
}

std::uint64_t HashExtras(std::uint64_t hash, const void* object, const TypeTable& table) noexcept {
  try {
    Extras extras;
    extras.Add<Meaning::kWire>(object, table);
    std::uint64_t all = hash;
    for (const Extra& extra : extras) all = Mix(HashText(all, extra.name), HashJson(extra.value));
    return all;
  } catch (...) {  // out of memory: ignore them; equal values still have equal hashes
    return hash;
  }
}

// Hashes only members that are present, with their index.
std::uint64_t HashObject(std::uint64_t hash, const void* object, const TypeTable& table) noexcept {
  for (const Field& field : table) {
    const void* member = MemberOf(object, field);
    if (!MemberIsPresent(member, field)) continue;
    hash = HashMember(Mix(hash, static_cast<std::uint64_t>(&field - table.begin()) + 1), member, field);
  }
  if (HasExtras(object, table)) hash = HashExtras(hash, object, table);
  return Mix(hash, table.field_count);
}

}  // namespace

bool IsEmptyStruct(const void* object, const TypeTable& table) noexcept {
  if (table.unknown_offset != TypeTable::kNoUnknown && !UnknownOf(object, table).empty()) return false;
  for (const Field& field : table) {
    if (MemberIsPresent(MemberOf(object, field), field)) return false;
  }
  bool empty = true;
  ForEachSentNull(object, table, [&empty](const Field&) { empty = false; });
  return empty;
}

bool SameFields(const UnknownFields& a, const UnknownFields& b) noexcept {
  if (a.empty() && b.empty()) return true;
  try {
    Extras first;
    Extras second;
    first.Add(a);
    second.Add(b);
    return first == second;
  } catch (...) {
    return false;
  }
}

bool BoxHasValue(const BoxBlock* box, const TypeTable& table) noexcept {
  return box != nullptr && (box->word == 0 || !IsEmptyStruct(box->object(), table));
}

bool EqualStruct(const void* a, const void* b, const TypeTable& table) noexcept {
  return EqualStructs<Meaning::kWire>(a, b, table);
}

bool EqualButVersion(const void* a, const void* b, const TypeTable& table) noexcept {
  if (a == b) return true;
  for (const Field& field : table) {
    const void* const first = MemberOf(a, field);
    const void* const second = MemberOf(b, field);
    const bool metadata = field.kind == ValueKind::kStruct && field.offset == table.metadata_offset;
    if (metadata ? !EqualMetadata(first, second, *field.table()) : !EqualMembers<Meaning::kWire>(first, second, field))
      return false;
  }
  return EqualExtras<Meaning::kWire>(a, b, table);
}

bool SemanticEqualStruct(const void* a, const void* b, const TypeTable& table) noexcept {
  return EqualStructs<Meaning::kSemantic>(a, b, table);
}

bool EqualValue(const void* a, const void* b, const ValueType& type) noexcept {
  return EqualValues<Meaning::kWire>(a, b, type);
}

bool EqualBox(const BoxBlock* a, const BoxBlock* b, const TypeTable& table) noexcept {
  return EqualBoxes<Meaning::kWire>(a, b, table);
}

bool EqualList(const ListBlock* a, const ListBlock* b, const ValueType& type) noexcept {
  return EqualLists<Meaning::kWire>(a, b, type);
}

bool EqualMap(const MapBlock* a, const MapBlock* b, const ValueType& type) noexcept {
  return EqualMaps<Meaning::kWire>(a, b, type);
}

std::uint64_t HashStruct(const void* object, const TypeTable& table) noexcept {
  return HashObject(0x243F6A8885A308D3u, object, table);
}

}  // namespace kgen::detail
