// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/events.h"

namespace kgen {

std::string_view ToString(Reason reason) noexcept {
  switch (reason) {
    case Reason::kInitial:
      return "initial";
    case Reason::kWatch:
      return "watch";
    case Reason::kRelist:
      return "relist";
    case Reason::kResync:
      return "resync";
    case Reason::kSaved:
      return "saved";
  }
  return "unknown";
}

}  // namespace kgen
