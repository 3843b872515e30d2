// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/debug/plot.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace kgen::controller {
namespace {

constexpr double kWidth = 320, kHeight = 100;  // of the area of the lines
constexpr std::size_t kColors = 8;

// The least of 1, 2 and 5 times a power of ten that is not below `value`.
double Ceiling(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power * (1 + 1e-6)) return step * power;
  }
  return 10 * power;
}

std::string Coordinate(double value) {
  std::array<char, 32> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.1f", value))};
}

// One polyline for each part without gaps.
void AppendLine(std::string& to, const DebugPlot::Line& line, std::size_t color, double top) {
  const std::string name = EscapeHtml(line.name);
  std::string points;
  const auto flush = [&] {
    if (points.empty()) return;
    to.append("<polyline class=\"l").append(std::to_string(color)).append("\" points=\"").append(points);
    if (points.find(' ') == std::string::npos) to.append(" ").append(points);  // a dot
    to.append("\"><title>").append(name).append("</title></polyline>");
    points.clear();
  };
  for (std::size_t i = 0; i < line.samples.size(); ++i) {
    const auto value = static_cast<double>(line.samples[i]);
    if (!std::isfinite(value)) {
      flush();
      continue;
    }
    const double x =
        kWidth * static_cast<double>(i) / std::max<double>(1, static_cast<double>(line.samples.size()) - 1);
    if (!points.empty()) points += ' ';
    points.append(Coordinate(x)).append(",").append(Coordinate(kHeight * (1 - value / top)));
  }
  flush();
}

double Highest(const DebugPlot& plot) {
  double highest = 0;
  for (const DebugPlot::Line& line : plot.lines) {
    for (const float sample : line.samples) {
      if (std::isfinite(sample)) highest = std::max(highest, static_cast<double>(sample));
    }
  }
  return highest;
}

}  // namespace

std::string ValueText(DebugPlot::Unit unit, double value) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case DebugPlot::Unit::kCount:
      return std::to_string(std::llround(value));
    case DebugPlot::Unit::kRate:
      return RateCell(value).text;
    case DebugPlot::Unit::kSeconds:
      return ShortTime(std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(value)));
    case DebugPlot::Unit::kBytes:
      return ShortBytes(value);
  }
  return {};
}

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return escaped;
}

void AppendFigure(std::string& to, const DebugPlot& plot) {
  const double top = Ceiling(Highest(plot));
  const std::size_t samples = plot.lines.empty() ? 0 : plot.lines.front().samples.size();
  const std::string since = ShortTime(plot.step * static_cast<std::int64_t>(samples));
  to.append("<figure><figcaption><b>").append(EscapeHtml(plot.title)).append("</b> <span>0 to ");
  to.append(ValueText(plot.unit, top)).append(", the last ").append(since).append("</span></figcaption>");
  to.append("<svg viewBox=\"-2 -4 324 108\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"");
  to.append(EscapeHtml(plot.title)).append("\">");
  to.append("<path class=\"grid\" d=\"M0 0H320M0 50H320M0 100H320\"/>");
  for (std::size_t i = 0; i < plot.lines.size(); ++i) AppendLine(to, plot.lines[i], i % kColors, top);
  to += "</svg><ul>";
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const DebugPlot::Line& line = plot.lines[i];
    const double last = line.samples.empty() ? NAN : static_cast<double>(line.samples.back());
    to.append("<li class=\"l").append(std::to_string(i % kColors)).append("\">").append(EscapeHtml(line.name));
    to.append(" <b>").append(ValueText(plot.unit, last)).append("</b></li>");
  }
  to += "</ul>";
  if (!plot.note.empty()) to.append("<p class=\"note\">").append(EscapeHtml(plot.note)).append("</p>");
  to += "</figure>";
}

}  // namespace kgen::controller
