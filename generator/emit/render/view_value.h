// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The values that templates are filled with: text, booleans, lists and maps. Numbers are passed as text (the engine
// prints large ones as powers of ten).
#ifndef KGEN_GENERATOR_EMIT_RENDER_VIEW_VALUE_H_
#define KGEN_GENERATOR_EMIT_RENDER_VIEW_VALUE_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kgen::generator::emit {

struct ViewValue;

using ViewList = std::vector<ViewValue>;
using ViewMap = std::vector<std::pair<std::string, ViewValue>>;

struct ViewValue {
  std::variant<bool, std::string, ViewList, ViewMap> value;

  ViewValue(bool truth) : value(truth) {}
  ViewValue(std::string text) : value(std::move(text)) {}
  ViewValue(const char* text) : value(std::string(text)) {}
  ViewValue(ViewList list) : value(std::move(list)) {}
  ViewValue(ViewMap map) : value(std::move(map)) {}
  ViewValue(const std::vector<std::string>& lines) : value(ViewList(lines.begin(), lines.end())) {}
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_RENDER_VIEW_VALUE_H_
