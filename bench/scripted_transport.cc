// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/scripted_transport.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bench/protobuf_pods.h"

namespace kgen::bench {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
constexpr char kProtobufWatch[] = "application/vnd.kubernetes.protobuf;stream=watch";

}  // namespace

Result<MappedItems> MappedItems::Open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts{};
  if (file < 0 || ::fstat(file, &facts) != 0) return Fail(Code::kNotFound, "cannot read " + path);
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  ::close(file);
  if (start == MAP_FAILED) return Fail(Code::kNotFound, "cannot map " + path);
  MappedItems items;
  items.text_ = {static_cast<const char*>(start), size};
  return items;
}

// A body of three parts, sent as far as the window allows. Everything happens in Start() and Consumed(), and therefore
// on the reader's strand.
class ScriptedTransport::Response final : public Exchange {
 public:
  Response(const char* type, std::string head, std::string_view middle, std::string tail, Shared<ResponseSink> sink,
           bool ends)
      : type_(type),
        head_(std::move(head)),
        tail_(std::move(tail)),
        parts_{head_, middle, tail_},
        ends_(ends),
        sink_(std::move(sink)) {}

  void Begin() {
    sink_->OnHead({200, {{"content-type", type_}}});
    Fill();
  }

  void Consumed(std::size_t bytes) noexcept override {
    under_way_ -= std::min(bytes, under_way_);
    Fill();
  }

  void Cancel() noexcept override { End(Fail(Code::kCancelled, "cancelled")); }

  void Send(std::string event) {
    if (const Shared<ResponseSink> sink = sink_) sink->OnBytes(std::move(event));
  }

 private:
  void Fill() {
    while (sink_ && under_way_ < kWindow && part_ < parts_.size()) {
      std::string piece;
      piece.reserve(kPiece);
      while (piece.size() < kPiece && part_ < parts_.size()) {
        std::string_view& left = parts_[part_];
        const std::size_t size = std::min(left.size(), kPiece - piece.size());
        piece.append(left.substr(0, size));
        left.remove_prefix(size);
        if (left.empty()) ++part_;
      }
      if (piece.empty()) break;
      under_way_ += piece.size();
      sink_->OnBytes(std::move(piece));
    }
    if (ends_ && part_ == parts_.size()) End({});
  }

  void End(Result<void> how) {
    if (const Shared<ResponseSink> sink = std::exchange(sink_, {})) sink->OnEnd(std::move(how));
  }

  const char* const type_;
  const std::string head_;
  const std::string tail_;
  std::array<std::string_view, 3> parts_;
  const bool ends_;
  std::size_t part_ = 0;
  std::size_t under_way_ = 0;
  Shared<ResponseSink> sink_;
};

void ScriptedTransport::SetList(std::string_view kind, const std::string& version, std::string_view items,
                                std::string_view events) {
  const std::lock_guard lock(mutex_);
  protobuf_ = false;
  head_ = R"({"kind":")" + std::string(kind) + R"(List","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
          R"("},"items":)";
  items_ = items;
  tail_ = "}";
  events_ = events;
  marker_ = R"({"type":"BOOKMARK","object":{"kind":")" + std::string(kind) +
            R"(","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
            R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})" + "\n";
}

void ScriptedTransport::SetProtobuf(std::string_view list, std::string_view events) {
  const std::lock_guard lock(mutex_);
  protobuf_ = true;
  items_ = list;
  events_ = events;
  head_.clear();
  tail_.clear();
  marker_.clear();
}

void ScriptedTransport::Send(std::string event) {
  Shared<Exchange> watch;
  {
    const std::lock_guard lock(mutex_);
    watch = watch_;
  }
  if (watch) static_cast<Response&>(*watch).Send(std::move(event));
}

void ScriptedTransport::SendExpired() {
  constexpr std::string_view kExpired =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410})";
  bool protobuf;
  {
    const std::lock_guard lock(mutex_);
    protobuf = protobuf_;
  }
  Send(protobuf ? AsProtobufError(kExpired) : R"({"type":"ERROR","object":)" + std::string(kExpired) + "}\n");
}

int ScriptedTransport::watches() const {
  const std::lock_guard lock(mutex_);
  return watches_;
}

Shared<Exchange> ScriptedTransport::Start(HttpRequest request, Shared<ResponseSink> sink) {
  Shared<Response> response;
  {
    const std::lock_guard lock(mutex_);
    const bool streams = request.path.find("sendInitialEvents=true") != std::string::npos;
    if (!request.long_lived) {
      response = MakeShared<Response>(protobuf_ ? kProtobuf : kJson, head_, items_, tail_, std::move(sink), true);
    } else {
      const char* const type = protobuf_ ? kProtobufWatch : kJson;
      response = streams ? MakeShared<Response>(type, "", events_, marker_, std::move(sink), false)
                         : MakeShared<Response>(type, "", "", "", std::move(sink), false);
      watch_ = response;
      ++watches_;
    }
  }
  response->Begin();
  return response;
}

}  // namespace kgen::bench
