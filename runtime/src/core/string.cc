// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/string.h"

#include <limits>
#include <new>
#include <stdexcept>

#include "core/access.h"

namespace kgen {
namespace detail {

TextBlock* NewText(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("kgen::String: over 4 GiB of text");
  void* memory = Allocate(sizeof(TextBlock) + text.size());
  TextBlock* block = ::new (memory) TextBlock{{{1}, static_cast<std::uint32_t>(text.size())}};
  if (!text.empty()) std::memcpy(static_cast<char*>(memory) + sizeof(TextBlock), text.data(), text.size());
  return block;
}

void DestroyText(TextBlock* block) noexcept { Free(block); }

}  // namespace detail

void String::Set(std::string_view text) {
  if (text.size() > kInline) {
    detail::StringAccess::AdoptBlock(*this, detail::NewText(text));
  } else {
    if (!text.empty()) std::memcpy(bytes_, text.data(), text.size());
    bytes_[15] = static_cast<char>(text.size() + 1);
  }
}

void String::Release() noexcept {
  if (detail::TextBlock* text = block(); detail::DropRef(text)) detail::DestroyText(text);
}

std::string String::Join(std::string_view a, std::string_view b) {
  std::string joined;
  joined.reserve(a.size() + b.size());
  return joined.append(a).append(b);
}

}  // namespace kgen
