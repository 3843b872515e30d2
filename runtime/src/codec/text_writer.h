// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TextWriter: writes JSON text into a growing buffer, and copies it into a std::string once its size is known.
#ifndef KGEN_SRC_CODEC_TEXT_WRITER_H_
#define KGEN_SRC_CODEC_TEXT_WRITER_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace kgen::codec {

class TextWriter {
 public:
  TextWriter() noexcept = default;
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  std::size_t size() const noexcept { return static_cast<std::size_t>(p_ - start_); }
  char last() const noexcept { return p_[-1]; }  // only when not empty
  // Removes the text after the first `size` bytes.
  void Truncate(std::size_t size) noexcept { p_ = start_ + size; }
  void AppendTo(std::string& out) const { out.append(start_, size()); }

  // Makes room for that many bytes at the returned position. Advance() sets how many were used.
  char* Reserve(std::size_t bytes) {
    if (static_cast<std::size_t>(limit_ - p_) < bytes) Grow(bytes);
    return p_;
  }
  void Advance(char* to) noexcept { p_ = to; }

  void Char(char c) {
    *Reserve(1) = c;
    ++p_;
  }
  void Raw(std::string_view text) {
    char* to = Reserve(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    p_ += text.size();
  }
  // Writes a name of a table, which needs no escaping: `,"name":`, without the comma at the start of an object.
  void Name(const char* name, std::size_t size) {
    char* to = Reserve(size + 4);
    if (last() != '{') *to++ = ',';
    *to++ = '"';
    Copy(to, name, size);
    to += size;
    *to++ = '"';
    *to++ = ':';
    p_ = to;
  }
  // Writes text in quotes, escaped only as far as JSON requires. Invalid UTF-8 becomes U+FFFD.
  void Quoted(std::string_view text);

 private:
  void Grow(std::size_t bytes);
  void Escaped(const char* p, const char* end);

  // An inlined memcpy: names are short, and there is one for each member.
  static void Copy(char* to, const char* from, std::size_t size) noexcept {
    if (size >= 8) {
      std::size_t i = 0;
      for (; i + 8 <= size; i += 8) std::memcpy(to + i, from + i, 8);
      std::memcpy(to + size - 8, from + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(to, from, 4);
      std::memcpy(to + size - 4, from + size - 4, 4);
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }

  static constexpr std::size_t kFirst = 16384;
  char first_[kFirst];
  std::unique_ptr<char[]> grown_;
  char* start_ = first_;
  char* p_ = first_;
  char* limit_ = first_ + kFirst;
};

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_TEXT_WRITER_H_
