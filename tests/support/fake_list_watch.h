// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A ListWatch whose answers the test gives step by step, and texts to answer with.
//
//   EXPECT_EQ(source->last().options.resource_version, "0");        the newest request
//   source->last().Answer(ListBody("5", {ObjectJson("a", "3")}));
#ifndef KGEN_TESTS_SUPPORT_FAKE_LIST_WATCH_H_
#define KGEN_TESTS_SUPPORT_FAKE_LIST_WATCH_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/reflector/list_watch.h"
#include "kgen/core/executor.h"
#include "kgen/core/object_meta.h"

namespace kgen::testing {

// An object of the kind test.kgen.dev/v1 Sample; `rest` is put behind the metadata: R"("spec":{"nodeName":"n1"})".
inline std::string ObjectJson(std::string_view name, std::string_view version, std::string_view rest = "",
                              std::string_view uid = "") {
  std::string text = R"({"apiVersion":"test.kgen.dev/v1","kind":"Sample","metadata":{"namespace":"ns","name":")";
  text += std::string(name) + R"(","resourceVersion":")" + std::string(version) + R"(","uid":")";
  text += (uid.empty() ? "uid-" + std::string(name) : std::string(uid)) + "\"}";
  if (!rest.empty()) text += "," + std::string(rest);
  return text + "}";
}

inline std::string ListBody(std::string_view version, const std::vector<std::string>& items,
                            std::string_view continue_token = "") {
  std::string text = R"({"kind":"SampleList","apiVersion":"test.kgen.dev/v1","metadata":{"resourceVersion":")";
  text += std::string(version) + "\"";
  if (!continue_token.empty()) text += R"(,"continue":")" + std::string(continue_token) + "\"";
  text += R"(},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text + "]}";
}

inline std::string EventJson(std::string_view type, std::string_view object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object) + "}\n";
}
inline std::string AddedJson(std::string_view name, std::string_view version) {
  return EventJson("ADDED", ObjectJson(name, version));
}
inline std::string ModifiedJson(std::string_view name, std::string_view version) {
  return EventJson("MODIFIED", ObjectJson(name, version));
}
inline std::string DeletedJson(std::string_view name, std::string_view version) {
  return EventJson("DELETED", ObjectJson(name, version));
}
// `marker`: the value of the annotation that ends the initial events; "" for none.
inline std::string BookmarkJson(std::string_view version, std::string_view marker = "") {
  std::string meta = R"({"resourceVersion":")" + std::string(version) + "\"";
  if (!marker.empty()) meta += R"(,"annotations":{"k8s.io/initial-events-end":")" + std::string(marker) + "\"}";
  return EventJson("BOOKMARK", R"({"kind":"Sample","apiVersion":"test.kgen.dev/v1","metadata":)" + meta + "}}");
}
inline std::string StatusJson(int code, std::string_view reason, std::string_view message = "no") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":)" + std::to_string(code) + R"(,"reason":")" +
         std::string(reason) + R"(","message":")" + std::string(message) + "\"}";
}
inline Error StatusError(Code code, int http, std::string_view reason, std::string_view message = "no") {
  return Error::FromStatus({.status = "Failure", .code = http, .message = message, .reason = reason}, code);
}
// The namespace kube-system of a cluster.
inline std::string ClusterJson(std::string_view uid) {
  return R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":")" + std::string(uid) +
         "\"}}";
}
inline Error ExpiredError() { return StatusError(Code::kExpired, 410, "Expired", "too old resource version"); }
inline Error TooManyRequestsError() { return StatusError(Code::kTooManyRequests, 429, "TooManyRequests"); }
inline Error RefusedError() { return Error::NotConnected("cannot connect to 10.0.0.1:6443: connection refused"); }
inline Error LostError() { return {Code::kUnavailable, "the connection was reset"}; }

// One request, open until it was ended or cancelled.
class FakeStream final : public StreamCall {
 public:
  FakeStream(bool is_watch, ListOptions with, Shared<Executor> executor, Shared<Strand> strand, Shared<StreamSink> sink)
      : watch(is_watch),
        options(std::move(with)),
        executor_(std::move(executor)),
        strand_(std::move(strand)),
        sink_(std::move(sink)) {}

  const bool watch;
  const ListOptions options;
  bool cluster = false;  // the question which cluster this is

  // Each posts, as the real one does.
  void Open() {
    if (ended_) return;
    Post([sink = sink_] { sink->OnOpen(); });
  }
  void Send(std::string bytes) {
    if (ended_) return;
    Post([sink = sink_, bytes = std::move(bytes)] { sink->OnBytes(bytes); });
  }
  void End(Result<void> end = {}) {
    if (std::exchange(ended_, true)) return;
    Post([sink = std::exchange(sink_, {}), end = std::move(end)] { sink->OnEnd(end); });
  }
  // The whole answer of a list, in pieces.
  void Answer(std::string_view body, std::size_t piece = 64) {
    Open();
    for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) Send(std::string(body.substr(0, piece)));
    End();
  }
  void Cancel() noexcept override {
    cancelled_ = true;
    End(Fail(Code::kCancelled, "cancelled"));
  }

  bool open() const noexcept { return !ended_; }
  bool cancelled() const noexcept { return cancelled_; }

 private:
  void Post(Task task) { executor_->Post(strand_, std::move(task)); }
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  Shared<StreamSink> sink_;
  bool ended_ = false;
  bool cancelled_ = false;
};

class FakeListWatch final : public cache::ListWatch {
 public:
  explicit FakeListWatch(Shared<Executor> executor) : executor_(std::move(executor)) {}

  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Record(false, options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Record(true, options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Cluster(Shared<Strand> strand, Shared<StreamSink> sink) override {
    if (!knows_cluster) return {};
    Shared<StreamCall> call = Record(false, {}, std::move(strand), std::move(sink));
    last().cluster = true;
    return call;
  }
  bool SupportsStreamingList() const noexcept override { return streaming; }
  std::string Describe() const override { return name; }

  std::size_t size() const noexcept { return requests_.size(); }
  FakeStream& at(std::size_t i) { return *requests_.at(i); }
  FakeStream& last() { return *requests_.back(); }
  FakeStream& last_watch() {
    return **std::find_if(requests_.rbegin(), requests_.rend(), [](const auto& each) { return each->watch; });
  }
  std::size_t open() const noexcept {
    std::size_t n = 0;
    for (const Shared<FakeStream>& request : requests_) n += request->open() ? 1 : 0;
    return n;
  }

  bool streaming = false;
  bool knows_cluster = false;
  std::string name = "samples";

 private:
  Shared<StreamCall> Record(bool watch, const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) {
    requests_.push_back(MakeShared<FakeStream>(watch, options, executor_, std::move(strand), std::move(sink)));
    return requests_.back();
  }
  const Shared<Executor> executor_;
  std::vector<Shared<FakeStream>> requests_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_FAKE_LIST_WATCH_H_
