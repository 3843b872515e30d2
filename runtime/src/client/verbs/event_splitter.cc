// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/verbs/event_splitter.h"

namespace kgen {

WatchEventType TypeOfEvent(std::string_view word) noexcept {
  if (word == "ADDED") return WatchEventType::kAdded;
  if (word == "MODIFIED") return WatchEventType::kModified;
  if (word == "DELETED") return WatchEventType::kDeleted;
  if (word == "BOOKMARK") return WatchEventType::kBookmark;
  return word == "ERROR" ? WatchEventType::kError : WatchEventType::kUnknown;
}

}  // namespace kgen
