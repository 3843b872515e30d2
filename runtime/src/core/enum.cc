// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/enum.h"

namespace kgen::detail {

std::string_view EnumText(std::span<const EnumName> names, std::int64_t value) noexcept {
  for (const EnumName& name : names) {
    if (name.value == value) return name.text;
  }
  return {};
}

std::optional<std::int64_t> EnumValue(std::span<const EnumName> names, std::string_view text) noexcept {
  for (const EnumName& name : names) {
    if (name.text == text) return name.value;
  }
  return std::nullopt;
}

}  // namespace kgen::detail
