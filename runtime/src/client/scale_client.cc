// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/scale_client.h"

#include <string>

#include "kgen/codec/encode.h"

namespace kgen::detail {
namespace {

using autoscaling::v1::Scale;

Result<ApiRequest> UpdateRequest(const RawResource& resource, std::string_view name, const Scale& scale,
                                 const UpdateOptions& options) {
  // Servers want the name in the body too; the caller has said it once already.
  std::string body;
  if (scale.metadata.name.empty()) {
    Scale named = scale;
    named.metadata.name = name;
    body = Encode(named);
  } else {
    body = Encode(scale);
  }
  return resource.Update(scale.metadata.namespace_, name, "scale", std::move(body), options);
}

Result<Scale> Call(const Connection& connection, Result<ApiRequest> request) {
  const std::string what = WhatOf(request);
  return DecodeBody<Scale>(CallForBody(connection, std::move(request)), what);
}

void CallAsync(const Connection& connection, Result<ApiRequest> request, Callback<Scale> done) {
  std::string what = WhatOf(request);
  CallForBodyAsync(connection, std::move(request),
                   [done = std::move(done), what = std::move(what)](Result<std::string> body) mutable {
                     done(DecodeBody<Scale>(body, what));
                   });
}

}  // namespace

Result<Scale> GetScale(const RawResource& resource, std::string_view name, const GetOptions& options) {
  return Call(resource.connection(), resource.Get(name, "scale", options));
}

void GetScaleAsync(const RawResource& resource, std::string_view name, const GetOptions& options,
                   Callback<Scale> done) {
  CallAsync(resource.connection(), resource.Get(name, "scale", options), std::move(done));
}

Result<Scale> UpdateScale(const RawResource& resource, std::string_view name, const Scale& scale,
                          const UpdateOptions& options) {
  return Call(resource.connection(), UpdateRequest(resource, name, scale, options));
}

void UpdateScaleAsync(const RawResource& resource, std::string_view name, const Scale& scale,
                      const UpdateOptions& options, Callback<Scale> done) {
  CallAsync(resource.connection(), UpdateRequest(resource, name, scale, options), std::move(done));
}

}  // namespace kgen::detail
