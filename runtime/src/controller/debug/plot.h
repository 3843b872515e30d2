// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CONTROLLER_DEBUG_PLOT_H_
#define KGEN_SRC_CONTROLLER_DEBUG_PLOT_H_

#include <string>
#include <string_view>

#include "controller/debug/section.h"

namespace kgen::controller {

// Escapes a text for HTML, for contents of elements and for quoted attributes. Control characters become blanks.
std::string EscapeHtml(std::string_view text);

// A value of a plot: "12", "3.5/s", "1.2 ms", "30 MB"; "-" if it is not a number.
std::string ValueText(DebugPlot::Unit unit, double value);

// Appends a plot as a <figure> with an inline SVG. Colors come from the classes l0 to l7 of the page's style.
void AppendFigure(std::string& to, const DebugPlot& plot);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_DEBUG_PLOT_H_
