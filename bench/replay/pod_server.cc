// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/replay/pod_server.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "bench/protobuf_pods.h"
#include "bench/replay/made_pods.h"
#include "codec/protobuf_encoder.h"
#include "testing/http2_server.h"

namespace kgen::bench {
namespace {

using Clock = std::chrono::steady_clock;
using testing::ResponseWriter;
using namespace std::chrono_literals;

constexpr std::size_t kPodsInAPiece = 32;      // of a list
constexpr std::size_t kMostUnsent = 1u << 20;  // bytes, of a watch at full speed
constexpr std::size_t kStride = 7919;          // from one updated pod to the next
constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
constexpr char kProtobufWatch[] = "application/vnd.kubernetes.protobuf;stream=watch";

// ------------------------------------------------------------------------------------------------------ requests

std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

// What `shardSelector` of a request selects.
struct Shard {
  ShardBy by = ShardBy::kNamespace;
  ShardRanges ranges = ShardRanges::All();
  bool all = true;

  static Shard Of(std::string_view path) {
    constexpr std::string_view kName = "shardSelector=";
    const std::size_t at = path.find(kName);
    if (at == std::string_view::npos) return {};
    const std::string text = Unescaped(path.substr(at + kName.size(), path.find('&', at) - at - kName.size()));
    std::vector<ShardRange> ranges;
    std::optional<std::uint64_t> first;
    for (std::size_t digits = 0; (digits = text.find("0x", digits)) != std::string::npos; ++digits) {
      const bool end = text.compare(digits, 19, "0x10000000000000000") == 0;
      const std::uint64_t bound = end ? 0 : std::strtoull(text.c_str() + digits, nullptr, 16);
      if (first) ranges.push_back({*first, bound - 1});
      first = first ? std::nullopt : std::optional(bound);
    }
    return {text.find("object.metadata.uid") == std::string::npos ? ShardBy::kNamespace : ShardBy::kUid,
            ShardRanges(std::move(ranges)), false};
  }
  bool Has(const MadePods& pods, std::size_t pod) const { return all || ranges.Contains(pods.Hash(pod, by)); }
};

// ----------------------------------------------------------------------------------------------------- encodings

std::string JsonEvent(std::string_view type, std::string_view members) {
  std::string event = R"({"type":")";
  event.append(type).append(R"(","object":{"kind":"Pod","apiVersion":"v1",)").append(members).append("}}\n");
  return event;
}

std::string BookmarkOf(bool protobuf, long version, bool ends_list) {
  std::string metadata = R"("metadata":{"resourceVersion":")" + std::to_string(version) + '"';
  if (ends_list) metadata += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  metadata += '}';
  return protobuf ? AsProtobufEvent("BOOKMARK", "{" + metadata + "}") : JsonEvent("BOOKMARK", metadata);
}

std::string ExpiredEvent(bool protobuf) {
  constexpr char kStatus[] = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410})";
  return protobuf ? AsProtobufError(kStatus) : R"({"type":"ERROR","object":)" + std::string(kStatus) + "}\n";
}

std::string Varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string FieldOf(std::uint32_t number, std::string_view bytes) {
  std::string field;
  codec::AppendField(number, bytes, field);
  return field;
}

// -------------------------------------------------------------------------------------------------------- server

class PodServer final : public testing::HttpHandler {
 public:
  PodServer(std::size_t count, bool shards) : shards_(shards), pods_(count), version_(NowMicroseconds()) {}

  void OnRequest(testing::ServerRequest request, Shared<ResponseWriter> writer) override {
    const std::string& path = request.path;
    auto stream = MakeShared<Stream>();
    stream->server = Shared<PodServer>(this);
    stream->writer = writer;
    stream->protobuf = request.Header("accept").starts_with(kProtobuf);
    stream->watches = path.find("watch=") != std::string::npos;
    stream->listed = stream->watches && path.find("sendInitialEvents=true") == std::string::npos;
    if (shards_) stream->shard = Shard::Of(path);
    // Before anything is written: the first piece may be sent before a later call has an effect.
    if (!stream->listed) writer->OnDrained([stream] { stream->server->OnDrained(*stream); });
    writer->Head(200, {{"content-type", !stream->protobuf ? "application/json"
                                        : stream->watches ? kProtobufWatch
                                                          : kProtobuf}});
    const std::lock_guard lock(mutex_);
    if (stream->watches) streams_.push_back(stream);
    if (stream->listed) return;
    if (!stream->watches) writer->Write(HeadOfList(*stream));
    Continue(*stream);
  }

  // Blocks until the updates are written.
  std::pair<long, long> Update(std::size_t count, double rate) {
    const Clock::time_point start = Clock::now();
    long lag = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (rate > 0) {
        const Clock::time_point due = start + std::chrono::nanoseconds(static_cast<long>(1e9 / rate * double(i)));
        std::this_thread::sleep_until(due);
        lag = std::max<long>(lag, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - due).count());
      } else if (i % kPodsInAPiece == 0) {
        while (Unsent() > kMostUnsent) std::this_thread::sleep_for(200us);
      }
      UpdateNext();
    }
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) stream->writer->Write(BookmarkOf(stream->protobuf, version_, false));
    return {version_, lag};
  }

  long Expire() {
    const std::lock_guard lock(mutex_);
    version_ = std::max(version_ + 1, NowMicroseconds());
    for (std::size_t i = 0; i < pods_.size() / 10; ++i) Change(NextPod());
    for (const auto& stream : std::exchange(streams_, {})) {
      stream->writer->Write(ExpiredEvent(stream->protobuf));
      stream->writer->End();
    }
    return version_;
  }

  // The number of watches whose state is complete.
  std::size_t watched() {
    const std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const auto& stream) { return stream->writer->closed(); });
    return static_cast<std::size_t>(std::ranges::count_if(streams_, [](const auto& each) { return each->listed; }));
  }

 private:
  // A list, or a watch, perhaps with a list at its start. The next piece of a list follows when the network has
  // accepted the last one.
  struct Stream : SharedObject {
    Shared<PodServer> server;
    Shared<ResponseWriter> writer;
    Shard shard;
    bool protobuf = false;
    bool watches = false;
    bool listed = false;   // the whole list is sent
    std::size_t next = 0;  // of the list
    bool any = false;      // a pod was sent
  };

  std::string HeadOfList(const Stream& stream) const {
    const std::string version = std::to_string(version_);
    if (!stream.protobuf) {
      return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + version + R"("},"items":[)";
    }
    const std::string metadata = FieldOf(1, FieldOf(2, version));
    std::size_t size = metadata.size();
    for (std::size_t i = 0; i < pods_.size(); ++i) {
      if (!stream.shard.Has(pods_, i)) continue;
      const std::size_t message = pods_.ProtobufSize(i);
      size += 1 + Varint(message).size() + message;
    }
    std::string head = codec::EnvelopeOf("v1", "PodList", "");
    head.resize(head.size() - kTailOfEnvelope.size() - 1);  // without the size of the content
    return head + Varint(size) + metadata;
  }

  void OnDrained(Stream& stream) {
    const std::lock_guard lock(mutex_);
    Continue(stream);
  }

  void Continue(Stream& stream) {
    if (stream.listed) return;
    std::string piece;
    for (std::size_t made = 0; made < kPodsInAPiece && stream.next < pods_.size(); ++stream.next) {
      if (!stream.shard.Has(pods_, stream.next)) continue;
      AppendListed(stream, piece);
      ++made;
    }
    stream.listed = stream.next == pods_.size();
    if (stream.listed) {
      piece += stream.watches    ? BookmarkOf(stream.protobuf, version_, true)
               : stream.protobuf ? kTailOfEnvelope
                                 : std::string("]}");
    }
    stream.writer->Write(std::move(piece));
    if (stream.listed && !stream.watches) stream.writer->End();
  }

  void AppendListed(Stream& stream, std::string& out) const {
    const std::size_t pod = stream.next;
    if (stream.watches) {
      out += EventOf(stream.protobuf, "ADDED", pod);
    } else if (stream.protobuf) {
      out += '\x12' + Varint(pods_.ProtobufSize(pod));
      pods_.AppendProtobuf(pod, StateOf(pod), out);
    } else {
      out += std::exchange(stream.any, true) ? ",{" : "{";
      pods_.AppendJson(pod, StateOf(pod), out);
      out += '}';
    }
  }

  std::string EventOf(bool protobuf, std::string_view type, std::size_t pod) const {
    std::string object;
    if (protobuf) {
      pods_.AppendProtobuf(pod, StateOf(pod), object);
      return FrameOfMessage(type, object);
    }
    pods_.AppendJson(pod, StateOf(pod), object);
    return JsonEvent(type, object);
  }

  MadePods::State StateOf(std::size_t pod) const {
    const auto found = changed_.find(pod);
    return found == changed_.end() ? MadePods::FirstState(pod) : found->second;
  }
  std::size_t NextPod() noexcept { return ++updates_ * kStride % pods_.size(); }
  void Change(std::size_t pod) { changed_[pod] = {.version = version_, .updates = updates_}; }

  void UpdateNext() {
    const std::lock_guard lock(mutex_);
    version_ = std::max(version_ + 1, NowMicroseconds());
    const std::size_t pod = NextPod();
    Change(pod);
    std::string events[2];
    for (const auto& stream : streams_) {
      if (!stream->shard.Has(pods_, pod)) continue;
      std::string& event = events[stream->protobuf];
      if (event.empty()) event = EventOf(stream->protobuf, "MODIFIED", pod);
      stream->writer->Write(event);
    }
  }

  std::size_t Unsent() const {
    const std::lock_guard lock(mutex_);
    std::size_t most = 0;
    for (const auto& stream : streams_) most = std::max(most, stream->writer->backlog());
    return most;
  }

  static inline const std::string kTailOfEnvelope{"\x1a\0\x22\0", 4};  // no content encoding, no content type

  const bool shards_;
  const MadePods pods_;
  mutable std::mutex mutex_;
  std::unordered_map<std::size_t, MadePods::State> changed_;  // guarded by mutex_, like all members below
  long version_;
  std::size_t updates_ = 0;
  std::vector<Shared<Stream>> streams_;  // that watch
};

}  // namespace

long NowMicroseconds() {
  constexpr long kOrigin = 200'000'000'000'000;
  return kOrigin + std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch()).count();
}

int ServePods(const std::vector<std::string>& arguments) {
  auto pods = MakeShared<PodServer>(std::stoul(arguments.at(0)), arguments.size() > 2 && arguments[2] == "shards");
  auto server = testing::Http2Server::Start({}, pods);
  if (!server) {
    std::cerr << server.error().ToString() << "\n";
    return 1;
  }
  std::ofstream(arguments.at(1)) << (*server)->ca_pem();
  std::cout << "serving " << (*server)->url() << std::endl;
  std::string word;
  while (std::cin >> word) {
    while (pods->watched() == 0 || pods->watched() < (*server)->open_connections()) std::this_thread::sleep_for(1ms);
    std::size_t count = 0;
    double rate = 0;
    if (word == "update" && std::cin >> count >> rate) {
      const auto [version, lag] = pods->Update(count, rate);
      std::cout << "updated " << version << " " << lag << std::endl;
    } else {
      std::cout << "expired " << pods->Expire() << " 0" << std::endl;
    }
  }
  (*server)->Stop();
  return 0;
}

}  // namespace kgen::bench
