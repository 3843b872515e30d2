// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WatchDecoder: splits a watch response into events as it arrives. Used by the reflector and AnyWatcher.
//
//   strand: bytes (any cut) --Feed--> on_event(type, raw JSON of the object)
//
// Frames are JSON objects {"type":T,"object":O}, with or without line ends between them, and with the two members in
// either order. The object is passed on as raw text, which its decoder checks.
//
// Protobuf has a length of four bytes before each frame, and an envelope around each object. The message inside is
// passed on, or the Status of an ERROR as JSON. Any fault in it is an error.
#ifndef KGEN_SRC_CLIENT_VERBS_WATCH_DECODER_H_
#define KGEN_SRC_CLIENT_VERBS_WATCH_DECODER_H_

#include <cstddef>
#include <string_view>

#include "client/verbs/event_splitter.h"
#include "kgen/codec/decode.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

// Thread safety: one thread at a time. Never blocks. Movable.
class WatchDecoder {
 public:
  using OnEvent = EventSplitter::OnEvent;
  explicit WatchDecoder(OnEvent on_event, std::size_t max_event_bytes = 17u << 20, Encoding encoding = Encoding::kJson);
  WatchDecoder(WatchDecoder&&) noexcept = default;
  WatchDecoder& operator=(WatchDecoder&&) noexcept = default;

  // Errors: kDecode  not JSON, no type, no object, over the limit (byte offset in the message), or what on_event
  // returned. After an error every further call returns it again.
  Result<void> Feed(std::string_view bytes);
  // True between frames. A stream that ends elsewhere was cut.
  bool at_boundary() const noexcept;

 private:
  Shared<EventSplitter> impl_;
};

}  // namespace kgen

#endif  // KGEN_SRC_CLIENT_VERBS_WATCH_DECODER_H_
