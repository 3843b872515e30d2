// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/list_watch.h"

#include <utility>

#include "client/request/accept.h"
#include "client/request/connection_state.h"
#include "client/request/gate.h"
#include "kgen/client/raw_resource.h"

namespace kgen::cache {
namespace {

// Stands for a request that failed before it was sent.
class NoCall final : public StreamCall {
 public:
  void Cancel() noexcept override {}
};

class ResourceListWatch final : public ListWatch {
 public:
  ResourceListWatch(Connection connection, const KindInfo& kind, std::string namespace_, TweakListOptions tweak,
                    ObjectForm form)
      : resource_(std::move(connection), kind, namespace_), tweak_(std::move(tweak)), form_(form), kind_(kind.kind) {
    name_ = kind.resource;
    if (!kind.group.empty()) name_.append(".").append(kind.group).append("/").append(kind.version);
    if (form == ObjectForm::kMetadata) name_ += " (metadata)";
    if (!namespace_.empty()) name_ += " in " + std::move(namespace_);
  }

  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Send(false, options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Send(true, options, std::move(strand), std::move(sink));
  }
  Shared<client::Gate> gate() const override { return client::ConnectionState::Of(resource_.connection())->gate; }
  std::string Describe() const override { return name_; }
  std::string_view kind() const noexcept override { return kind_; }

 private:
  Shared<StreamCall> Send(bool watch, ListOptions options, Shared<Strand> strand, Shared<StreamSink> sink) {
    Result<ApiRequest> request = Request(watch, options);
    if (request) return resource_.connection().Stream(*std::move(request), std::move(strand), std::move(sink));
    resource_.connection().executor().Post(
        strand, [sink = std::move(sink), error = request.error()] { sink->OnEnd(Fail(error)); });
    return MakeShared<NoCall>();
  }

  // The tweak is user code. It runs last.
  Result<ApiRequest> Request(bool watch, ListOptions& options) const {
    std::string what;
    try {
      if (tweak_) tweak_(options);
      Result<ApiRequest> request = watch ? resource_.Watch(options) : resource_.List(options);
      if (request && form_ == ObjectForm::kMetadata)
        request->accept = watch ? client::kAcceptMetadata : client::kAcceptMetadataList;
      return request;
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
      what = "an exception that is not a std::exception";
    }
    return Fail(Code::kUserCode, "tweak of the list options: " + what);
  }

  RawResource resource_;
  TweakListOptions tweak_;
  const ObjectForm form_;
  const std::string kind_;
  std::string name_;
};

}  // namespace

ListWatch::~ListWatch() = default;
Shared<client::Gate> ListWatch::gate() const { return {}; }

Shared<ListWatch> MakeListWatch(Connection connection, const KindInfo& kind, std::string namespace_,
                                TweakListOptions tweak, ObjectForm form) {
  if (kind.scope == Scope::kCluster) namespace_.clear();
  return MakeShared<ResourceListWatch>(std::move(connection), kind, std::move(namespace_), std::move(tweak), form);
}

}  // namespace kgen::cache
