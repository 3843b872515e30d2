// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/requests.h"

#include <new>

#include "client/request/blocking_call.h"
#include "client/request/call.h"
#include "client/request/callback.h"
#include "core/out_of_memory.h"
#include "kgen/client/async_client.h"

namespace kgen::detail {

std::string WhatOf(const Result<ApiRequest>& request) { return request ? request->what : std::string(); }

Result<void> DecodeBody(const Result<std::string>& body, std::string_view what, void* object, const TypeTable& table) {
  if (!body) return Fail(body.error());
  try {
    // The response to the creation of a Binding is a Status, not the object. A Status that reports a failure has
    // already become an error of the call.
    if (table.kind != nullptr && table.kind->kind != "Status" && PeekIdentity(*body).kind == "Status") return {};
    if (auto done = DecodeStruct(*body, object, table, {}); !done) return Fail(done.error().With(what));
    return {};
  } catch (const std::bad_alloc&) {
    return Fail(detail::OutOfMemory(what));
  }
}

Result<ApiRequest> ResourceRequests::UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale,
                                                 const UpdateOptions& options) const {
  return RawResource::Update(scale.metadata.namespace_, name, "scale", EncodeNamed(scale, name), options);
}

Result<std::string> CallForBody(const Connection& connection, Result<ApiRequest> request) {
  if (!request) return Fail(std::move(request).error());
  Result<ApiResponse> response = connection.Call(*std::move(request));
  if (!response) return Fail(std::move(response).error());
  return std::move(response->body);
}

namespace {

// Refuses a request without sending it. The result is posted, like every result.
template <typename T>
void Refuse(Executor& executor, Error error, Callback<T> done) {
  executor.Post(executor.MakeStrand("refused request"),
                [error = std::move(error), done = std::move(done)]() mutable { done(Fail(std::move(error))); });
}

}  // namespace

Result<AnyRef> CallForList(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                           const KindInfo& kind) {
  if (!request) return Fail(std::move(request).error());
  request->parent = connection.trace();
  return client::CallAndWait<client::ListOperation>(connection, *std::move(request), {}, table, kind);
}

void CallForListAsync(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                      const KindInfo& kind, Callback<AnyRef> done) {
  if (client::RefuseInForkedChild(client::ConnectionState::Of(connection)->observer, "list", done)) return;
  if (!request) return Refuse(connection.executor(), std::move(request).error(), std::move(done));
  request->parent = connection.trace();
  client::MakeCall<client::ListOperation>(client::ConnectionState::Of(connection), *std::move(request), std::move(done),
                                          table, kind)
      ->Begin();
}

void CallForBodyAsync(const Connection& connection, Result<ApiRequest> request, Callback<std::string> done) {
  if (client::RefuseInForkedChild(client::ConnectionState::Of(connection)->observer, "call", done)) return;
  if (!request) return Refuse(connection.executor(), std::move(request).error(), std::move(done));
  connection.CallAsync(*std::move(request), [done = std::move(done)](Result<ApiResponse> response) mutable {
    if (!response) return done(Fail(std::move(response).error()));
    done(std::move(response->body));
  });
}

}  // namespace kgen::detail
