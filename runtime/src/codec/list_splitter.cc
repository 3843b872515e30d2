// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "codec/list_splitter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "codec/protobuf_splitter.h"
#include "codec/reader.h"
#include "codec/scan.h"
#include "core/json/lexer.h"
#include "kgen/codec/decode.h"

namespace kgen {

namespace {

bool EndsScalar(char c) noexcept { return c == ',' || c == ']' || c == '}' || detail::IsJsonSpace(c); }

std::string ApiVersionOf(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.version) : std::string(kind.group) + "/" + std::string(kind.version);
}

}  // namespace

// A state machine for the envelope of the list. The bytes of one call may end anywhere, even inside an escape. Keys,
// values and items are called pieces, and one of three scanners finds the end of each.
namespace {

class JsonSplitter final : public ItemSplitter {
 public:
  JsonSplitter(OnItem on_item, std::size_t max_item_bytes) : on_item_(std::move(on_item)), max_bytes_(max_item_bytes) {}

  Result<void> Feed(std::string_view bytes) override {
    if (failure_) return Fail(*failure_);
    const char* p = bytes.data();
    const char* const end = p + bytes.size();
    const char* const begin = p;
    while (p != end && !failure_) {
      if (piece_ != Piece::kNone) {
        ScanPiece(p, end, begin);
      } else if (detail::IsJsonSpace(*p)) {
        ++p;
      } else {
        Step(p, begin);
      }
    }
    offset_ += bytes.size();
    if (failure_) return Fail(*failure_);
    return {};
  }

  Result<meta::v1::ListMeta> Finish() override {
    if (!failure_ && state_ != State::kEnd) Broken("the list ends too early", offset_);
    meta::v1::ListMeta metadata;
    if (!failure_) ReadEnvelope(metadata);
    if (failure_) return Fail(*failure_);
    return metadata;
  }

  const std::string& envelope() const noexcept override { return envelope_; }
  bool has_items() const noexcept override { return has_items_; }
  std::size_t items() const noexcept override { return items_; }

 private:
  // The token that may come next, after white space.
  enum class State : unsigned char {
    kStart,       // {
    kFirstKey,    // a key or }
    kKey,         // a key
    kColon,       // :
    kValue,       // a value
    kAfterValue,  // , or }
    kFirstItem,   // an item or ]
    kItem,        // an item
    kAfterItem,   // , or ]
    kEnd,         // nothing
  };
  // The state of the current piece.
  enum class Piece : unsigned char { kNone, kString, kNested, kScalar };

  void Step(const char*& p, const char* begin) {
    const char c = *p;
    switch (state_) {
      case State::kStart:
        return Expect(c == '{', "expected a JSON object", State::kFirstKey, p, begin);
      case State::kFirstKey:
        if (c == '}') return Expect(true, "", State::kEnd, p, begin);
        [[fallthrough]];
      case State::kKey:
        if (c != '"') return Broken("expected a member name in quotes", At(p, begin));
        return StartPiece(c);
      case State::kColon:
        return Expect(c == ':', "expected ':' after the member name", State::kValue, p, begin);
      case State::kValue:
        has_items_ |= is_items_;
        if (c == '[' && is_items_) {
          return Expect(true, "", State::kFirstItem, p, begin);
        }
        return StartPiece(c);
      case State::kAfterValue:
        if (c == '}') return Expect(true, "", State::kEnd, p, begin);
        return Expect(c == ',', "expected ',' or '}'", State::kKey, p, begin);
      case State::kFirstItem:
        if (c == ']') return Expect(true, "", State::kAfterValue, p, begin);
        [[fallthrough]];
      case State::kItem:
        return StartPiece(c);
      case State::kAfterItem:
        if (c == ']') return Expect(true, "", State::kAfterValue, p, begin);
        return Expect(c == ',', "expected ',' or ']'", State::kItem, p, begin);
      case State::kEnd:
        return Broken("unexpected text after the list", At(p, begin));
    }
  }

  void Expect(bool found, const char* message, State next, const char*& p, const char* begin) {
    if (!found) return Broken(message, At(p, begin));
    ++p;
    state_ = next;
  }

  void StartPiece(char c) {
    held_.clear();
    is_held_ = false;
    escaped_ = false;
    opened_ = false;
    if (c == '"') {
      piece_ = Piece::kString;
    } else if (c == '{' || c == '[') {
      piece_ = Piece::kNested;
      nesting_ = codec::NestingScanner(0, static_cast<std::size_t>(-1) / 2);  // the item's decoder limits its depth
    } else {
      piece_ = Piece::kScalar;
    }
  }

  // Consumes the piece up to its end, or up to the end of these bytes.
  void ScanPiece(const char*& p, const char* end, const char* begin) {
    const char* const start = p;
    bool done = false;
    switch (piece_) {
      case Piece::kNested:
        done = nesting_.Scan(p, end) == codec::NestingScanner::State::kDone;
        break;
      case Piece::kString:
        done = ScanString(p, end);
        break;
      default:
        while (p != end && !EndsScalar(*p)) ++p;
        done = p != end;
        if (done && p == start && !is_held_) return Broken("expected a value", At(p, begin));
    }
    const std::string_view part(start, static_cast<std::size_t>(p - start));
    if (!done || is_held_) Hold(part);
    if (!done) return;
    piece_ = Piece::kNone;
    Finished(is_held_ ? std::string_view(held_) : part, At(p, begin));
  }

  bool ScanString(const char*& p, const char* end) noexcept {
    if (!opened_ && p != end) {
      opened_ = true;
      ++p;
    }
    while (p != end) {
      const char c = *p++;
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        return true;
      }
    }
    return false;
  }

  void Hold(std::string_view part) {
    is_held_ = true;
    const std::size_t limit = max_bytes_ + 1;
    if (held_.size() < limit) held_.append(part.substr(0, std::min(part.size(), limit - held_.size())));
  }

  void Finished(std::string_view piece, std::size_t behind) {
    if (state_ == State::kFirstItem || state_ == State::kItem) {
      state_ = State::kAfterItem;
      ++items_;
      if (auto done = on_item_(piece.substr(0, max_bytes_ + 1)); !done) failure_ = std::move(done).error();
      return;
    }
    if (piece.size() > max_bytes_) return Broken("a member of the list is too large", behind);
    if (state_ == State::kValue) {
      state_ = State::kAfterValue;
      if (is_items_ && piece != "null") return RefuseItems(piece, behind);
      envelope_.append(envelope_.empty() ? "{" : ",").append(key_).append(":").append(piece);
    } else {
      state_ = State::kColon;
      key_ = piece;
      std::string scratch;
      codec::Reader reader(key_, 1, 1, scratch);
      std::string_view name;
      if (!reader.String(name)) return Broken(reader.error(), behind);
      is_items_ = name == "items";
    }
  }

  // Handles `items` that are not an array. Null is an empty list, as in Go, and stays in the envelope. Anything else is
  // not a list: treating it as an empty one would delete everything that the caller has cached.
  void RefuseItems(std::string_view value, std::size_t behind) {
    const char first = value.front();
    const char* const found = first == '{' ? "an object" : first == '"' ? "a string" : "a value";
    Broken(std::string("the member \"items\" must be a list, found ") + found, behind);
  }

  void ReadEnvelope(meta::v1::ListMeta& metadata) {
    if (!closed_) envelope_ += envelope_.empty() ? "{}" : "}";
    closed_ = true;
    std::string scratch;
    codec::Reader reader(envelope_, 256, static_cast<std::size_t>(-1), scratch);
    std::string_view found;
    bool ok = reader.Enter();
    if (ok && !reader.Take('}')) {
      do {
        std::string_view name;
        ok = reader.Key(name);
        const bool is_metadata = ok && name == "metadata";
        std::string_view raw;
        ok = ok && reader.SkipValue(raw);
        if (is_metadata && ok) found = raw;
      } while (ok && reader.Take(','));
    }
    if (!ok) return Broken(std::string("outside of the items: ") + reader.error(), reader.error_offset());
    if (found.empty() || found == "null") return;
    if (auto done = detail::DecodeStruct(found, &metadata, meta::v1::ListMeta::kTable, {}); !done) {
      failure_ = std::move(done).error().With("read the list's metadata");
    }
  }

  std::size_t At(const char* p, const char* begin) const noexcept {
    return offset_ + static_cast<std::size_t>(p - begin);
  }
  void Broken(std::string message, std::size_t at) {
    failure_ = Error(Code::kDecode, std::move(message) + ", at byte " + std::to_string(at));
  }

  OnItem on_item_;
  std::size_t max_bytes_;
  std::size_t offset_ = 0;  // of the bytes being fed
  std::size_t items_ = 0;
  std::string held_;  // the part of the piece that was in earlier bytes
  std::string key_;   // with its quotes
  std::string envelope_;
  std::optional<Error> failure_;
  codec::NestingScanner nesting_;
  State state_ = State::kStart;
  Piece piece_ = Piece::kNone;
  bool is_held_ = false;
  bool opened_ = false;   // the string's opening quote was consumed
  bool escaped_ = false;  // the string's last byte was an active backslash
  bool is_items_ = false;
  bool has_items_ = false;
  bool closed_ = false;
};

}  // namespace

ListSplitter::ListSplitter(OnItem on_item, std::size_t max_item_bytes, Encoding encoding) : impl_(nullptr) {
  if (encoding == Encoding::kProtobuf) {
    impl_ = new codec::ProtobufSplitter(std::move(on_item), max_item_bytes);
  } else {
    impl_ = new JsonSplitter(std::move(on_item), max_item_bytes);
  }
}
ListSplitter::ListSplitter(ListSplitter&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
ListSplitter& ListSplitter::operator=(ListSplitter&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
ListSplitter::~ListSplitter() { delete impl_; }

Result<void> ListSplitter::Feed(std::string_view bytes) { return impl_->Feed(bytes); }
Result<meta::v1::ListMeta> ListSplitter::Finish() { return impl_->Finish(); }
bool ListSplitter::has_items() const noexcept { return impl_->has_items(); }
const std::string& ListSplitter::envelope() const noexcept { return impl_->envelope(); }
std::size_t ListSplitter::items() const noexcept { return impl_->items(); }

Result<void> CheckListKind(std::string_view envelope, const KindInfo* kind, bool has_items) {
  const Identity found = PeekIdentity(envelope);
  const bool known = kind != nullptr && !kind->list_kind.empty();
  std::string expected = "a list";
  // A CRD may choose any name for its list kind.
  bool fits = !found.api_version.empty() && !found.kind.empty() && found.kind != "Status" &&
              (found.kind.ends_with("List") || has_items);
  if (known) {
    const std::string api_version = ApiVersionOf(*kind);
    expected = std::string(kind->list_kind) + " of " + api_version;
    fits = found.kind == kind->list_kind && found.api_version == api_version;
  }
  if (fits && has_items) return {};
  if (fits) {
    return Fail(Code::kDecode, "the response is a " + found.kind + " of " + found.api_version +
                                   " without the member items, which is not the same as an empty list; what is between "
                                   "this program and the server that cuts or filters responses?");
  }
  std::string text = "the response is not the requested list: expected " + expected + ", found ";
  if (found.kind.empty() && found.api_version.empty()) {
    text += "neither kind nor apiVersion; is there a proxy or a login page in front of the server?";
  } else {
    text += found.kind.empty() ? "no kind" : found.kind;
    text += found.api_version.empty() ? " without an apiVersion" : " of " + found.api_version;
  }
  return Fail(Code::kDecode, text);
}

}  // namespace kgen
