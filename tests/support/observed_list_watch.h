// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ObservedListWatch: passes everything on to another source, and calls a function before each request.
#ifndef KGEN_TESTS_SUPPORT_OBSERVED_LIST_WATCH_H_
#define KGEN_TESTS_SUPPORT_OBSERVED_LIST_WATCH_H_

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cache/reflector/list_watch.h"

namespace kgen::testing {

class ObservedListWatch final : public cache::ListWatch {
 public:
  ObservedListWatch(Shared<cache::ListWatch> source, std::function<void(const ListOptions&)> on_request)
      : source_(std::move(source)), on_request_(std::move(on_request)) {}

  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    on_request_(options);
    return source_->List(options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    on_request_(options);
    return source_->Watch(options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Cluster(Shared<Strand> strand, Shared<StreamSink> sink) override {
    return source_->Cluster(std::move(strand), std::move(sink));
  }
  Shared<client::ReconnectGate> gate() const override { return source_->gate(); }
  void UseJson() noexcept override { source_->UseJson(); }
  bool SupportsStreamingList() const noexcept override { return source_->SupportsStreamingList(); }
  std::string Describe() const override { return source_->Describe(); }
  std::string_view kind() const noexcept override { return source_->kind(); }

 private:
  const Shared<cache::ListWatch> source_;
  const std::function<void(const ListOptions&)> on_request_;
};

}  // namespace kgen::testing

#endif  // KGEN_TESTS_SUPPORT_OBSERVED_LIST_WATCH_H_
