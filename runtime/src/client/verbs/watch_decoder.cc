// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/verbs/watch_decoder.h"

#include <optional>
#include <utility>

#include "client/verbs/protobuf_watch.h"
#include "codec/reader.h"
#include "codec/scan.h"
#include "core/json/lexer.h"

namespace kgen {
namespace {

// Nothing here recurses, so depth is not limited. The object's decoder refuses one that is nested too deeply.
constexpr std::size_t kAnyDepth = std::size_t{1} << 40;

// Frames as servers write them: {"type":"ADDED","object":{...}}
constexpr std::string_view kBeforeWord = R"({"type":")";
constexpr std::string_view kBeforeObject = R"(","object":)";

// Returns the offset of the object in a frame that begins as servers write it, or 0.
std::size_t FindObject(std::string_view frame) noexcept {
  if (!frame.starts_with(kBeforeWord)) return 0;
  std::size_t at = kBeforeWord.size();
  while (at < frame.size() && frame[at] >= 'A' && frame[at] <= 'Z') ++at;
  if (!frame.substr(at).starts_with(kBeforeObject)) return 0;
  at += kBeforeObject.size();
  return at < frame.size() && frame[at] == '{' ? at : 0;
}

struct Fault {
  const char* message;
  const char* at;
};

// Splits one complete frame into its members.
class Frame {
 public:
  explicit Frame(std::string_view text) noexcept : begin_(text.data()), p_(begin_ + 1), end_(begin_ + text.size()) {}

  std::optional<Fault> Parse(std::string_view& type, std::string_view& object) {
    if (Peek() == '}') return MissingMember(type, object);
    for (;;) {
      std::string_view key;
      std::string_view value;
      if (!Member(key, value)) return fault_;
      if (key == "\"type\"") type = value;
      if (key == "\"object\"") object = value;
      const char next = Peek();
      if (next == '}' && p_ + 1 == end_) return MissingMember(type, object);
      if (next != ',') return Fault{"expected ',' or '}'", p_};
      ++p_;
    }
  }

 private:
  char Peek() noexcept {
    while (p_ != end_ && detail::IsJsonSpace(*p_)) ++p_;
    return p_ != end_ ? *p_ : '\0';
  }

  bool Fail(const char* message) {
    fault_ = Fault{message, p_};
    return false;
  }

  bool Member(std::string_view& key, std::string_view& value) {
    if (Peek() != '"') return Fail("expected a member name in quotes");
    key = Text();
    if (Peek() != ':') return Fail("expected ':' after the member name");
    ++p_;
    const char first = Peek();
    const char* start = p_;
    if (first == '"') {
      Text();
    } else if (first == '{' || first == '[') {
      codec::NestingScanner scanner(1, kAnyDepth);
      scanner.Scan(p_, end_);
    } else {
      while (p_ != end_ && *p_ != ',' && *p_ != '}' && !detail::IsJsonSpace(*p_)) ++p_;
      if (p_ == start) return Fail("expected a value");
    }
    value = {start, static_cast<std::size_t>(p_ - start)};
    return true;
  }

  // Reads a string with its quotes. The scanner of the frame has verified that it ends.
  std::string_view Text() noexcept {
    const char* start = p_;
    const char* const behind = detail::SkipString(p_, end_);
    p_ = behind != nullptr ? behind : end_;
    return {start, static_cast<std::size_t>(p_ - start)};
  }

  std::optional<Fault> MissingMember(std::string_view type, std::string_view object) const {
    if (!type.starts_with('"'))
      return Fault{type.empty() ? "the event has no type" : "the type is not a string", begin_};
    if (!object.starts_with('{')) return Fault{"the event has no object", begin_};
    return std::nullopt;
  }

  const char* begin_;
  const char* p_;
  const char* end_;
  std::optional<Fault> fault_{};
};

class JsonWatchDecoder final : public EventSplitter {
 public:
  JsonWatchDecoder(OnEvent on_event, std::size_t max_event_bytes)
      : on_event_(std::move(on_event)), max_event_bytes_(max_event_bytes) {}

  Result<void> Feed(std::string_view bytes) override {
    if (failed_) return kgen::Fail(*failed_);
    Result<void> done = Split(bytes);
    if (!done) failed_ = done.error();
    return done;
  }

  bool at_boundary() const noexcept override { return !inside_; }

 private:
  Result<void> Split(std::string_view bytes) {
    const char* p = bytes.data();
    const char* end = p + bytes.size();
    while (p != end) {
      if (!inside_ && detail::IsJsonSpace(*p)) {
        ++p, ++offset_;
        continue;
      }
      if (!inside_ && *p != '{') return Refuse("expected '{' at the start of an event", offset_);
      const char* start = p;
      if (!inside_) Begin(p, end);
      const bool whole = Scan(start, p, end);
      const std::string_view piece(start, static_cast<std::size_t>(p - start));
      if (held_.size() + piece.size() > max_event_bytes_) return Refuse("the event is larger than the limit", offset_);
      if (!whole) {
        held_.append(piece);
        return {};
      }
      if (Result<void> delivered = Complete(piece); !delivered) return delivered;
    }
    return {};
  }

  // If the frame begins as usual, only its object is scanned, which ends right before the frame does.
  void Begin(const char*& p, const char* end) {
    inside_ = true;
    scanner_ = codec::NestingScanner(0, kAnyDepth);
    object_ = {.at = FindObject({p, static_cast<std::size_t>(end - p)}), .size = 0, .ended = false};
    p += object_.at;
  }

  // Consumes from `p` to the end of the frame, and returns true, or to `end`. `start` is where this piece begins.
  bool Scan(const char* start, const char*& p, const char* end) {
    using State = codec::NestingScanner::State;
    if (object_.at != 0 && !object_.ended) {
      const char* from = p;
      object_.ended = scanner_.Scan(p, end) == State::kDone;
      object_.size += static_cast<std::size_t>(p - from);
      if (!object_.ended) return false;
    }
    if (object_.at != 0) {
      if (p == end) return false;
      if (*p == '}') return ++p, true;
      // Something follows the object, so the frame is scanned as a whole.
      object_ = {};
      scanner_ = codec::NestingScanner(0, kAnyDepth);
      const char* held = held_.data();
      scanner_.Scan(held, held_.data() + held_.size());
      p = start;
    }
    return scanner_.Scan(p, end) == State::kDone;
  }

  // The last piece of a frame has arrived. Most frames arrive in one piece, and are read in place.
  Result<void> Complete(std::string_view piece) {
    inside_ = false;
    std::string_view frame = piece;
    if (!held_.empty()) {
      held_.append(piece);
      frame = held_;
    }
    Result<void> delivered = Deliver(frame);
    offset_ += frame.size();
    held_.clear();
    if (held_.capacity() > kKeep) held_.shrink_to_fit();
    return delivered;
  }

  Result<void> Deliver(std::string_view frame) {
    if (object_.at != 0) {
      const std::string_view word =
          frame.substr(kBeforeWord.size(), object_.at - kBeforeWord.size() - kBeforeObject.size());
      return on_event_({TypeOfEvent(word), word, frame.substr(object_.at, object_.size)});
    }
    std::string_view type;
    std::string_view object;
    if (const std::optional<Fault> fault = Frame(frame).Parse(type, object)) {
      return Refuse(fault->message, offset_ + static_cast<std::size_t>(fault->at - frame.data()));
    }
    std::string unescaped;
    codec::Reader reader(type, 1, 1, unescaped);
    std::string_view word;
    if (!reader.String(word)) return Refuse(reader.error(), offset_);
    return on_event_({TypeOfEvent(word), word, object});
  }

  static Result<void> Refuse(std::string_view message, std::size_t offset) {
    return kgen::Fail(Code::kDecode, "watch stream: " + std::string(message) + " at byte " + std::to_string(offset));
  }

  static constexpr std::size_t kKeep = 1u << 20;
  OnEvent on_event_;
  std::size_t max_event_bytes_;
  std::size_t offset_ = 0;  // of the current frame or, between frames, of the next byte
  std::string held_;        // the pieces of a frame that has not ended
  codec::NestingScanner scanner_;
  struct Object {
    std::size_t at = 0;  // in the frame; 0: the frame does not begin as usual
    std::size_t size = 0;
    bool ended = false;
  };
  Object object_{};  // of the current frame
  bool inside_ = false;
  std::optional<Error> failed_{};
};

}  // namespace

WatchDecoder::WatchDecoder(OnEvent on_event, std::size_t max_event_bytes, Encoding encoding) {
  if (encoding == Encoding::kProtobuf) {
    impl_ = MakeShared<ProtobufWatchDecoder>(std::move(on_event), max_event_bytes);
  } else {
    impl_ = MakeShared<JsonWatchDecoder>(std::move(on_event), max_event_bytes);
  }
}

Result<void> WatchDecoder::Feed(std::string_view bytes) { return impl_->Feed(bytes); }
bool WatchDecoder::at_boundary() const noexcept { return impl_->at_boundary(); }

}  // namespace kgen
