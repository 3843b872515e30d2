// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/list_watch.h"

#include <utility>

#include "client/request/accept.h"
#include "client/request/connection_state.h"
#include "client/request/reconnect_gate.h"
#include "core/metadata_table.h"
#include "kgen/client/raw_resource.h"
#include "kgen/core/unstructured.h"

namespace kgen::cache {
namespace {

// Stands for a request that failed before it was sent.
class NoCall final : public StreamCall {
 public:
  void Cancel() noexcept override {}
};

Shared<StreamCall> FailedCall(Executor& executor, const Shared<Strand>& strand, Shared<StreamSink> sink,
                              const Error& error) {
  executor.Post(strand, [sink = std::move(sink), error] { sink->OnEnd(Fail(error)); });
  return MakeShared<NoCall>();
}

std::string NameOf(const KindInfo& kind, const Selection& selection, ObjectForm form) {
  std::string name(kind.resource);
  if (!kind.group.empty()) name.append(".").append(kind.group).append("/").append(kind.version);
  if (!form.name.empty()) name.append(" (").append(form.name).append(")");
  if (!selection.namespace_.empty()) name += " in " + selection.namespace_;
  std::string_view with = " with ";
  for (const std::string* selector : {&selection.label_selector, &selection.field_selector}) {
    if (!selector->empty()) name.append(std::exchange(with, ",")).append(*selector);
  }
  return name;
}

class ResourceListWatch final : public ListWatch {
 public:
  ResourceListWatch(Connection connection, const KindInfo& kind, Selection selection, ObjectForm form)
      : resource_(std::move(connection), kind, selection.namespace_),
        selection_(std::move(selection)),
        form_(form),
        protobuf_(form.protobuf && client::ConnectionState::Of(resource_.connection())->protobuf),
        kind_(kind.kind),
        name_(NameOf(kind, selection_, form)) {}

  Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Send(false, options, std::move(strand), std::move(sink));
  }
  Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return Send(true, options, std::move(strand), std::move(sink));
  }
  OpenSpan StartList() override {
    OpenSpan span(client::ConnectionState::Of(resource_.connection())->tracer,
                  {.kind = SpanKind::kList, .name = name_, .parent = resource_.connection().trace()});
    list_ = span.context();
    return span;
  }
  Shared<StreamCall> Cluster(Shared<Strand> strand, Shared<StreamSink> sink) override {
    static constexpr KindInfo kNamespace = {.group = "",
                                            .version = "v1",
                                            .kind = "Namespace",
                                            .list_kind = "NamespaceList",
                                            .resource = "namespaces",
                                            .singular = "namespace",
                                            .scope = Scope::kCluster,
                                            .list = nullptr};
    const RawResource namespaces(resource_.connection(), kNamespace, "");
    Result<ApiRequest> request = namespaces.Get("kube-system", "", {});
    if (request) return resource_.connection().Stream(*std::move(request), std::move(strand), std::move(sink));
    return FailedCall(resource_.connection().executor(), strand, std::move(sink), request.error());
  }
  void UseJson() noexcept override { protobuf_ = false; }
  Shared<client::ReconnectGate> gate() const override {
    return client::ConnectionState::Of(resource_.connection())->gate;
  }
  std::string Describe() const override { return name_; }
  std::string_view kind() const noexcept override { return kind_; }

 private:
  Shared<StreamCall> Send(bool watch, ListOptions options, Shared<Strand> strand, Shared<StreamSink> sink) {
    Result<ApiRequest> request = Request(watch, options);
    if (request) return resource_.connection().Stream(*std::move(request), std::move(strand), std::move(sink));
    return FailedCall(resource_.connection().executor(), strand, std::move(sink), request.error());
  }

  Result<ApiRequest> Request(bool watch, ListOptions& options) const {
    options.label_selector = selection_.label_selector;
    options.field_selector = selection_.field_selector;
    Result<ApiRequest> request = watch ? resource_.Watch(options) : resource_.List(options);
    if (!request) return request;
    request->accept = Accept(watch);
    if (!watch) request->parent = list_;
    return request;
  }

  const char* Accept(bool watch) const noexcept {
    if (!form_.metadata_only) return protobuf_ ? client::kAcceptProtobuf : "";
    if (protobuf_) return watch ? client::kAcceptProtobufMetadata : client::kAcceptProtobufMetadataList;
    return watch ? client::kAcceptMetadata : client::kAcceptMetadataList;
  }

  const RawResource resource_;
  const Selection selection_;
  const ObjectForm form_;
  bool protobuf_;
  TraceContext list_{};  // the span of the current list
  const std::string kind_;
  const std::string name_;
};

class FailingListWatch final : public ListWatch {
 public:
  FailingListWatch(Shared<Executor> executor, const KindInfo& kind, const Selection& selection, Error error)
      : executor_(std::move(executor)),
        kind_(kind.kind),
        name_(NameOf(kind, selection, {})),
        error_(std::move(error)) {}

  Shared<StreamCall> List(const ListOptions&, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return FailedCall(*executor_, strand, std::move(sink), error_);
  }
  Shared<StreamCall> Watch(const ListOptions&, Shared<Strand> strand, Shared<StreamSink> sink) override {
    return FailedCall(*executor_, strand, std::move(sink), error_);
  }
  std::string Describe() const override { return name_; }
  std::string_view kind() const noexcept override { return kind_; }

 private:
  const Shared<Executor> executor_;
  const std::string kind_;
  const std::string name_;
  const Error error_;
};

}  // namespace

ObjectForm FormOf(const TypeTable& table) noexcept {
  const bool protobuf = table.wire != nullptr;
  if (&table == &PartialObjectMetadata::kTable) {
    return {.metadata_only = true, .protobuf = protobuf, .name = "metadata"};
  }
  if ((table.flags & kProjection) == 0) return {.protobuf = protobuf};
  return {.metadata_only = detail::IsMetadataOnly(table), .protobuf = protobuf, .name = table.name};
}

ListWatch::~ListWatch() = default;
// NOLINTNEXTLINE(performance-unnecessary-value-param): an override keeps both.
Shared<StreamCall> ListWatch::Cluster(Shared<Strand>, Shared<StreamSink>) { return {}; }
Shared<client::ReconnectGate> ListWatch::gate() const { return {}; }

Shared<ListWatch> MakeListWatch(Connection connection, const KindInfo& kind, Selection selection, ObjectForm form) {
  if (kind.scope == Scope::kCluster) selection.namespace_.clear();
  return MakeShared<ResourceListWatch>(std::move(connection), kind, std::move(selection), form);
}

Shared<ListWatch> MakeFailingListWatch(Shared<Executor> executor, const KindInfo& kind, const Selection& selection,
                                       Error error) {
  return MakeShared<FailingListWatch>(std::move(executor), kind, selection, std::move(error));
}

}  // namespace kgen::cache
