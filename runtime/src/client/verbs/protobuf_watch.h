// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ProtobufWatchDecoder: splits a watch response in protobuf; see watch_decoder.h.
//
//   length (4 bytes, big-endian) | WatchEvent: type, object: envelope | length | WatchEvent ...
#ifndef KGEN_SRC_CLIENT_VERBS_PROTOBUF_WATCH_H_
#define KGEN_SRC_CLIENT_VERBS_PROTOBUF_WATCH_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/verbs/event_splitter.h"

namespace kgen {

class ProtobufWatchDecoder final : public EventSplitter {
 public:
  ProtobufWatchDecoder(OnEvent on_event, std::size_t max_event_bytes)
      : on_event_(std::move(on_event)), max_event_bytes_(max_event_bytes) {}

  Result<void> Feed(std::string_view bytes) override;
  bool at_boundary() const noexcept override { return held_.empty(); }

 private:
  Result<void> Split(std::string_view bytes);
  Result<void> Deliver(std::string_view frame);

  const OnEvent on_event_;
  const std::size_t max_event_bytes_;
  std::string held_{};  // the part of a frame that has arrived, with its length
  std::optional<Error> failed_{};
};

}  // namespace kgen

#endif  // KGEN_SRC_CLIENT_VERBS_PROTOBUF_WATCH_H_
