// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/terminal_error.h"

namespace kgen {
namespace {
constexpr ErrorTag kTerminal;
}  // namespace

Error TerminalError(const Error& error) { return error.WithTag(kTerminal); }

bool IsTerminal(const Error& error) noexcept { return error.HasTag(kTerminal); }

}  // namespace kgen
