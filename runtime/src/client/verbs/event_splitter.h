// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EventSplitter: splits a watch response in one encoding into events. WatchDecoder chooses the implementation.
#ifndef KGEN_SRC_CLIENT_VERBS_EVENT_SPLITTER_H_
#define KGEN_SRC_CLIENT_VERBS_EVENT_SPLITTER_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// The type of an event.
enum class WatchEventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

WatchEventType TypeOfEvent(std::string_view word) noexcept;

struct WatchEvent {
  WatchEventType type;
  std::string_view word;              // as on the wire: "ADDED"
  std::string_view object;            // raw JSON, or a message of protobuf
  std::string_view api_version = {};  // of the envelope in protobuf
  std::string_view kind = {};
};

// Splits the bytes of a watch into events, in one encoding. WatchDecoder says what each function does.
class EventSplitter : public SharedObject {
 public:
  // The views are valid during the call. An error ends the decoding.
  using OnEvent = std::function<Result<void>(const WatchEvent& event)>;

  virtual Result<void> Feed(std::string_view bytes) = 0;
  virtual bool at_boundary() const noexcept = 0;
};

}  // namespace kgen

#endif  // KGEN_SRC_CLIENT_VERBS_EVENT_SPLITTER_H_
