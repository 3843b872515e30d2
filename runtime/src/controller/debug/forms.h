// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The three forms of /debug. Whatever a section contains, it cannot leave its place in any of them.
#ifndef KGEN_SRC_CONTROLLER_DEBUG_FORMS_H_
#define KGEN_SRC_CONTROLLER_DEBUG_FORMS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/debug/section.h"

namespace kgen::controller {

enum class DebugForm : std::uint8_t { kText, kHtml, kJson };

// The form that a header `accept` asks for: HTML if it names text/html, as browsers do, or else JSON if it names
// application/json, or else text.
DebugForm FormFor(std::string_view accept) noexcept;

// A section under the name with which it was added. Null: it failed.
struct NamedSection {
  std::string_view name;
  const DebugSection* section = nullptr;
};

std::string DebugText(const std::vector<NamedSection>& sections);
std::string DebugJson(const std::vector<NamedSection>& sections);
// A whole document, whose style and script have the nonce that PolicyFor() allows. It loads nothing, and asks for
// itself again every five seconds, while it is visible.
std::string DebugHtml(const std::vector<NamedSection>& sections, std::string_view nonce);
// The header content-security-policy for a document with that nonce.
std::string PolicyFor(std::string_view nonce);
// Text that nobody can guess. Empty if OpenSSL has no random numbers; the page then has neither style nor script.
std::string NewNonce();

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_DEBUG_FORMS_H_
