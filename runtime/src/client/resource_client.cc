// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/resource_client.h"

#include <new>

#include "client/errors.h"
#include "kgen/codec/list_splitter.h"

namespace kgen::detail {

std::string WhatOf(const Result<ApiRequest>& request) { return request ? request->what : std::string(); }

Result<void> DecodeBody(const Result<std::string>& body, std::string_view what, void* object, const TypeTable& table) {
  if (!body) return Fail(body.error());
  try {
    if (auto done = DecodeStruct(*body, object, table, {}); !done) return Fail(done.error().With(what));
    return {};
  } catch (const std::bad_alloc&) {
    return Fail(client::OutOfMemory(what));
  }
}

Result<void> CheckListBody(std::string_view body, const KindInfo& kind) {
  ListSplitter splitter([](std::string_view) -> Result<void> { return {}; });
  if (Result<void> fed = splitter.Feed(body); !fed) return fed;
  if (auto metadata = splitter.Finish(); !metadata) return Fail(std::move(metadata).error());
  return CheckListKind(splitter.envelope(), &kind);
}

Result<std::string> CallForBody(const Connection& connection, Result<ApiRequest> request) {
  if (!request) return Fail(std::move(request).error());
  Result<ApiResponse> response = connection.Call(*std::move(request));
  if (!response) return Fail(std::move(response).error());
  return std::move(response->body);
}

void CallForBodyAsync(const Connection& connection, Result<ApiRequest> request, Callback<std::string> done) {
  if (!request) {  // refused here, but told as everything is: by posted work
    Executor& executor = connection.executor();
    executor.Post(
        executor.MakeStrand("refused request"),
        [error = std::move(request).error(), done = std::move(done)]() mutable { done(Fail(std::move(error))); });
    return;
  }
  connection.CallAsync(*std::move(request), [done = std::move(done)](Result<ApiResponse> response) mutable {
    if (!response) return done(Fail(std::move(response).error()));
    done(std::move(response->body));
  });
}

}  // namespace kgen::detail
