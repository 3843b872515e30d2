// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// String: immutable text with a separate state for "absent".
//
// String is the type of every text field of a generated struct. It is 16 bytes: up to 15 bytes are stored inline,
// longer text in an immutable block that copies share. Three states matter on the wire: unset (the field is not sent),
// empty (`""` is sent) and text. An unset String reads as "".
//
//   pod.metadata.name = "web-0";
//   std::string_view view = pod.metadata.name;           // converts to views and std::string
//   if (!pod.spec->nodeName.has_value()) ...             // unset is not the same as ""
//   std::cout << pod.spec->nodeName.value_or("-");
//
// To change text, assign new text. Where C++ cannot choose between the two conversions (`cond ? s : std::string()`, an
// overload set of string_view and const std::string&), write s.view() or s.str().
//
// A view of a String is valid as long as the String and, because short text is stored inline, until the String is
// moved.
#ifndef KGEN_CORE_STRING_H_
#define KGEN_CORE_STRING_H_

#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include "kgen/core/memory.h"

namespace kgen {

class String;

namespace detail {

// Shared immutable text: the header's word is the length, the bytes follow, no terminating NUL.
struct TextBlock : BlockHeader {
  const char* data() const noexcept KGEN_LIFETIMEBOUND {
    return reinterpret_cast<const char*>(this) + sizeof(BlockHeader);
  }
  std::string_view view() const noexcept KGEN_LIFETIMEBOUND { return {data(), word}; }
};

TextBlock* NewText(std::string_view text);    // one reference, owned by the caller
void DestroyText(TextBlock* block) noexcept;  // after DropRef() said so

template <typename S>
concept TextLike = !std::same_as<std::remove_cvref_t<S>, String> && std::convertible_to<const S&, std::string_view>;

// Give the library access to the representation of String, of the times, and of Quantity, IntOrString and Bytes.
struct StringAccess;
struct TimeAccess;
struct ScalarAccess;

}  // namespace detail

// Immutable text that may be unset.
//
// Thread safety: as a standard container; const members may be called from several threads at once.
// Ownership: owns its text, or shares an immutable block. Copies cost at most one atomic increment.
// Limits: 4 GiB - 1 of text; longer text throws std::length_error.
class String {
 public:
  using value_type = char;
  using size_type = std::size_t;
  using const_iterator = const char*;
  using iterator = const char*;
  static constexpr std::size_t npos = std::string_view::npos;  // NOLINT(readability-identifier-naming)

  constexpr String() noexcept = default;  // unset
  template <detail::TextLike S>
  String(const S& text) {
    Set(std::string_view(text));
  }
  String(const String& other) noexcept {
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    if (tag() == kBlock) detail::AddRef(block());
  }
  String(String&& other) noexcept {
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    std::memset(other.bytes_, 0, sizeof bytes_);
  }
  constexpr ~String() {
    if (tag() == kBlock) Release();
  }

  String& operator=(const String& other) noexcept { return *this = String(other); }
  String& operator=(String&& other) noexcept {
    String moved(static_cast<String&&>(other));
    swap(moved);
    return *this;
  }
  template <detail::TextLike S>
  String& operator=(const S& text) {
    return *this = String(text);  // built first, so that text may be a view of this very String
  }
  void swap(String& other) noexcept {
    char held[sizeof bytes_];
    std::memcpy(held, bytes_, sizeof bytes_);
    std::memcpy(bytes_, other.bytes_, sizeof bytes_);
    std::memcpy(other.bytes_, held, sizeof bytes_);
  }

  // Presence: whether the member is on the wire. `""` assigned is present; reset() makes the String unset again.
  bool has_value() const noexcept { return tag() != 0; }
  void reset() noexcept { String().swap(*this); }
  // Returns the text, or `fallback` when unset. The view lives as long as this String and `fallback` do.
  std::string_view value_or(std::string_view fallback) const noexcept KGEN_LIFETIMEBOUND {
    return has_value() ? view() : fallback;
  }

  // Reading. Unset reads as empty.
  std::string_view view() const noexcept {
    const unsigned char t = tag();
    if (t == kBlock) return block()->view();
    return {bytes_, t == 0 ? std::size_t{0} : std::size_t{t} - 1};
  }
  std::string str() const { return std::string(view()); }
  operator std::string_view() const noexcept KGEN_LIFETIMEBOUND { return view(); }
  operator std::string() const { return str(); }

  std::size_t size() const noexcept { return view().size(); }
  std::size_t length() const noexcept { return size(); }  // the same
  bool empty() const noexcept { return size() == 0; }
  const char* data() const noexcept { return view().data(); }  // not terminated by NUL
  const char* begin() const noexcept { return data(); }
  const char* end() const noexcept { return data() + size(); }
  char operator[](std::size_t i) const noexcept { return i < size() ? data()[i] : '\0'; }
  char front() const noexcept { return (*this)[0]; }
  char back() const noexcept { return empty() ? '\0' : data()[size() - 1]; }
  bool starts_with(std::string_view text) const noexcept { return view().starts_with(text); }
  bool ends_with(std::string_view text) const noexcept { return view().ends_with(text); }
  bool contains(std::string_view text) const noexcept { return view().find(text) != npos; }
  bool contains(char c) const noexcept { return view().find(c) != npos; }
  std::size_t find(std::string_view text, std::size_t from = 0) const noexcept { return view().find(text, from); }
  std::size_t find(char c, std::size_t from = 0) const noexcept { return view().find(c, from); }
  std::size_t rfind(std::string_view text, std::size_t from = npos) const noexcept { return view().rfind(text, from); }
  std::size_t rfind(char c, std::size_t from = npos) const noexcept { return view().rfind(c, from); }
  // Returns a view that is valid as long as this String. Never throws: a start past the end gives empty text.
  std::string_view substr(std::size_t from, std::size_t count = npos) const noexcept KGEN_LIFETIMEBOUND {
    return from >= size() ? std::string_view() : view().substr(from, count);
  }
  int compare(std::string_view text) const noexcept { return view().compare(text); }

  // Compares by text: unset equals "". (Comparison of structs distinguishes the two, as the wire does.)
  friend bool operator==(const String& a, const String& b) noexcept { return a.view() == b.view(); }
  friend auto operator<=>(const String& a, const String& b) noexcept { return a.view() <=> b.view(); }
  template <detail::TextLike S>
  friend bool operator==(const String& a, const S& b) noexcept {
    return a.view() == std::string_view(b);
  }
  template <detail::TextLike S>
  friend auto operator<=>(const String& a, const S& b) noexcept {
    return a.view() <=> std::string_view(b);
  }

  friend std::string operator+(const String& a, const String& b) { return Join(a.view(), b.view()); }
  template <detail::TextLike S>
  friend std::string operator+(const String& a, const S& b) {
    return Join(a.view(), std::string_view(b));
  }
  template <detail::TextLike S>
  friend std::string operator+(const S& a, const String& b) {
    return Join(std::string_view(a), b.view());
  }

  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, const String& s) {
    return os << s.view();
  }

 private:
  friend struct detail::StringAccess;
  friend struct detail::ScalarAccess;

  static constexpr unsigned char kBlock = 255;
  static constexpr std::size_t kInline = 15;

  constexpr unsigned char tag() const noexcept { return static_cast<unsigned char>(bytes_[15]); }
  detail::TextBlock* block() const noexcept {
    detail::TextBlock* p;
    std::memcpy(static_cast<void*>(&p), bytes_, sizeof(void*));
    return p;
  }
  void Set(std::string_view text);  // only on an unset String
  void Release() noexcept;          // only with a block
  static std::string Join(std::string_view a, std::string_view b);

  // Bytes 0..14 are inline text, or 0..7 a TextBlock*. Byte 15 is the tag: 0 unset, n + 1 inline text of n bytes, 255 a
  // block. All zero is unset, so that a zeroed struct is a valid one.
  alignas(8) char bytes_[16] = {};
};

static_assert(sizeof(String) == 16 && std::is_standard_layout_v<String>);

// Prints the text in quotes, or "absent" when unset. For GoogleTest, which would print a list of characters.
void PrintTo(const String& text, std::ostream* os);

}  // namespace kgen

template <>
struct std::hash<kgen::String> {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

// The common reference of String and string_view is string_view, so that ranges::find over a List<String> takes a view.
template <template <typename> class TQ, template <typename> class UQ>
struct std::basic_common_reference<kgen::String, std::string_view, TQ, UQ> {
  using type = std::string_view;
};
template <template <typename> class TQ, template <typename> class UQ>
struct std::basic_common_reference<std::string_view, kgen::String, TQ, UQ> {
  using type = std::string_view;
};

#endif  // KGEN_CORE_STRING_H_
