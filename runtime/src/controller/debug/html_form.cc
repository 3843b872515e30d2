// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// /debug as an HTML document.
#include <cstddef>
#include <string>

#include "controller/debug/forms.h"
#include "controller/debug/plot.h"
#include "net/keyed_hash.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--dim:#5b6472;--line:#d9dde3;--good:#17723a;
--bad:#b3261e;--l0:#1f6feb;--l1:#c2410c;--l2:#15803d;--l3:#9333ea;--l4:#b45309;--l5:#0e7490;--l6:#be185d;--l7:#4d7c0f}
@media (prefers-color-scheme:dark){:root{--bg:#12151b;--card:#1b2028;--ink:#e4e8ee;--dim:#9aa4b2;--line:#333b47;
--good:#5fd38a;--bad:#ff8a80;--l0:#79b0ff;--l1:#ff9d6b;--l2:#62d48a;--l3:#cfa0ff;--l4:#f2bd55;--l5:#5cd0e6;
--l6:#ff8fc0;--l7:#a9d65c}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:14px/1.45 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline;padding:.75rem 1rem;background:var(--card);
border-bottom:1px solid var(--line);position:sticky;top:0;z-index:1}
h1{font-size:1.1rem;margin:0}h2{font-size:1rem;margin:0 0 .5rem}
#state,.note,figcaption span{color:var(--dim)}#state.late{color:var(--bad)}
main{display:grid;gap:1rem;padding:1rem;max-width:100rem;margin:0 auto;grid-template-columns:minmax(0,1fr)}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.75rem 1rem;min-width:0}
.plots{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr))}
figure{margin:0;min-width:0}figcaption{margin-bottom:.25rem}figcaption span{display:block;font-size:.85rem}
svg{display:block;width:100%;height:7rem}
polyline{fill:none;stroke:currentColor;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round;
vector-effect:non-scaling-stroke}
.grid{stroke:var(--line);vector-effect:non-scaling-stroke}
ul{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem .9rem;margin:.35rem 0 0;padding:0;font-size:.85rem;
max-height:8.5rem;overflow-y:auto}
li{overflow-wrap:anywhere}li::before{content:"";display:inline-block;width:.7em;height:.7em;border-radius:2px;
background:currentColor;margin-right:.4em}li{color:var(--ink)}
.l0,li.l0::before{color:var(--l0)}.l1,li.l1::before{color:var(--l1)}.l2,li.l2::before{color:var(--l2)}
.l3,li.l3::before{color:var(--l3)}.l4,li.l4::before{color:var(--l4)}.l5,li.l5::before{color:var(--l5)}
.l6,li.l6::before{color:var(--l6)}.l7,li.l7::before{color:var(--l7)}li[class]{color:var(--ink)}
details{margin-top:.5rem}details:first-of-type{margin-top:0}summary{cursor:pointer;font-weight:600}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;color:var(--dim);font-weight:500;white-space:nowrap}
th,td{padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}
.above td{border-bottom:0}.long td{overflow-wrap:anywhere}.long td::before{content:attr(data-column) ": ";color:var(--dim);
font-weight:400}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}
p{margin:.25rem 0;overflow-wrap:anywhere}
pre{margin:0;overflow-x:auto;font:.85rem/1.4 ui-monospace,monospace}
@media (max-width:40rem){thead{display:none}table,tbody{display:block}
tr{display:flex;flex-wrap:wrap;gap:.1rem .9rem;padding:.4rem 0;border-bottom:1px solid var(--line)}
tr:last-child{border-bottom:0}
tr.above{border-bottom:0;padding-bottom:0}
td,td.n{border:0;padding:0;min-width:0;max-width:100%;white-space:normal;text-align:left;overflow-wrap:anywhere}
td::before,.long td::before{content:attr(data-column) " ";color:var(--dim);font-weight:400}
tr:not(.long)>td:first-child{font-weight:600}tr:not(.long)>td:first-child::before{content:none}
td:empty{display:none}}
)css";

// Replaces <main> by the one of a newer page, without the style of that, which has another nonce. What the reader has
// opened, closed or scrolled stays as it is, and nothing is replaced while text is selected.
constexpr std::string_view kScript = R"js(
"use strict";
const state = document.getElementById("state");
const toggled = new Map();
document.addEventListener("toggle", e => { if (e.target.id) toggled.set(e.target.id, e.target.open); }, true);
let updated = Date.now(), busy = false;
async function update() {
  if (document.hidden || busy || !getSelection().isCollapsed) return;
  busy = true;
  try {
    const reply = await fetch(location.href, {headers: {accept: "text/html"}, cache: "no-store",
                                              signal: AbortSignal.timeout(15000)});
    if (!reply.ok) throw new Error(reply.status);
    const text = await reply.text();
    const part = text.slice(text.indexOf("<main>"), text.indexOf("</main>"));
    const main = new DOMParser().parseFromString(part, "text/html").querySelector("main");
    for (const each of main.querySelectorAll("details")) {
      if (toggled.has(each.id)) each.open = toggled.get(each.id);
    }
    const scrolled = [...document.querySelectorAll("details")].map(e => [e.id, e.querySelector(".scroll").scrollLeft]);
    document.querySelector("main").replaceWith(main);
    for (const [id, left] of scrolled) {
      const now = document.getElementById(id);
      if (now) now.querySelector(".scroll").scrollLeft = left;
    }
    updated = Date.now();
    state.textContent = "updates every 5 s";
    state.className = "";
  } catch (error) {
    state.textContent = "not updated for " + Math.round((Date.now() - updated) / 1000) + " s: " + error.message;
    state.className = "late";
  }
  busy = false;
}
state.textContent = "updates every 5 s";
setInterval(update, 5000);
document.addEventListener("visibilitychange", update);
)js";

constexpr std::size_t kLong = 64;  // bytes of a cell that has a row of its own, below the others

std::string ClassesOf(const DebugCell& cell) {
  std::string classes;
  if (cell.number) classes += " n";
  if (cell.mood == DebugMood::kBad) classes += " bad";
  if (cell.mood == DebugMood::kGood) classes += " good";
  return classes.empty() ? classes : " class=\"" + classes.substr(1) + "\"";
}

void AppendCell(std::string& to, const DebugCell& cell, const std::string& column, std::size_t width = 1) {
  to.append("<td data-column=\"").append(EscapeHtml(column)).append("\"");
  if (width > 1) to.append(" colspan=\"").append(std::to_string(width)).append("\"");
  to.append(ClassesOf(cell)).append(">").append(EscapeHtml(cell.text)).append("</td>");
}

void AppendRow(std::string& to, const std::vector<DebugCell>& row, const std::vector<std::string>& columns) {
  std::string cells, below;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const bool is_long = i > 0 && row[i].text.size() > kLong;  // the first cell is the name of the row
    AppendCell(cells, is_long ? DebugCell() : row[i], columns[i]);
    if (!is_long) continue;
    below += "<tr class=\"long\">";
    AppendCell(below, row[i], columns[i], row.size());
    below += "</tr>";
  }
  to.append(below.empty() ? "<tr>" : "<tr class=\"above\">").append(cells).append("</tr>").append(below);
}

void AppendTable(std::string& to, const DebugTable& table, std::string_view section) {
  const std::string id = EscapeHtml(std::string(section) + "-" + table.title);
  to.append("<details open id=\"").append(id).append("\"><summary>").append(EscapeHtml(table.title));
  to.append("</summary><div class=\"scroll\"><table><thead><tr>");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool number = !table.rows.empty() && table.rows.front()[i].number;
    to.append(number ? "<th class=\"n\">" : "<th>").append(EscapeHtml(table.columns[i])).append("</th>");
  }
  to += "</tr></thead><tbody>";
  for (const auto& row : table.rows) AppendRow(to, row, table.columns);
  to += "</tbody></table></div>";
  if (table.rows.empty()) to += "<p class=\"note\">none</p>";
  if (!table.note.empty()) to.append("<p class=\"note\">").append(EscapeHtml(table.note)).append("</p>");
  to += "</details>";
}

void AppendSection(std::string& to, const NamedSection& named) {
  to.append("<section><h2>").append(EscapeHtml(named.name)).append("</h2>");
  if (named.section == nullptr) {
    to += "<p class=\"bad\">failed: reason withheld</p></section>";
    return;
  }
  const DebugSection& section = *named.section;
  const bool plain = section.tables.empty() && section.plots.empty();
  if (!section.text.empty()) {
    to.append(plain ? "<pre>" : "<p>").append(EscapeHtml(section.text)).append(plain ? "</pre>" : "</p>");
  }
  if (!section.plots.empty()) {
    to += "<div class=\"plots\">";
    for (const DebugPlot& plot : section.plots) AppendFigure(to, plot);
    to += "</div>";
  }
  for (const DebugTable& table : section.tables) AppendTable(to, table, named.name);
  to += "</section>";
}

}  // namespace

std::string NewNonce() {
  std::string text;
  for (const char byte : net::KeyedHash().Of("nonce")) {  // its key is new, so nobody can know the hash
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string PolicyFor(std::string_view nonce) {
  std::string policy = "default-src 'none'; img-src data:; connect-src 'self'; ";
  if (!nonce.empty()) {
    for (const std::string_view source : {"style-src", "script-src"}) {
      policy.append(source).append(" 'nonce-").append(nonce).append("'; ");
    }
  }
  return policy + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

std::string DebugHtml(const std::vector<NamedSection>& sections, std::string_view nonce) {
  std::string page =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<link rel=\"icon\" href=\"data:,\"><title>debug</title>";
  const auto element = [&](std::string_view name, std::string_view text) {
    page.append("<").append(name).append(" nonce=\"").append(nonce).append("\">").append(text);
    page.append("</").append(name).append(">");
  };
  element("style", kStyle);
  page += "</head><body><header><h1>debug</h1><span id=\"state\"></span></header><main>";
  for (const NamedSection& section : sections) AppendSection(page, section);
  page += "</main>";
  element("script", kScript);
  return page += "</body></html>\n";
}

}  // namespace kgen::controller
