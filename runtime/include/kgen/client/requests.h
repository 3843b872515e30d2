// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The part that both forms of a client share: the requests for typed objects, and the decoding of responses.
#ifndef KGEN_CLIENT_REQUESTS_H_
#define KGEN_CLIENT_REQUESTS_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/scale.h"
#include "kgen/core/type_table.h"

namespace kgen::detail {

// A RawResource that takes the bodies of requests as objects. No function here does I/O.
class ResourceRequests : public RawResource {
 public:
  explicit ResourceRequests(RawResource resource) : RawResource(std::move(resource)) {}

  template <typename T>
  Result<ApiRequest> Create(const T& object, const CreateOptions& options) const {
    return RawResource::Create(object.metadata.namespace_, Encode(object), options);
  }
  template <typename T>
  Result<ApiRequest> Update(const T& object, std::string_view subresource, const UpdateOptions& options) const {
    return RawResource::Update(object.metadata.namespace_, object.metadata.name, subresource, Encode(object), options);
  }
  template <typename T>
  Result<ApiRequest> Apply(const T& object, std::string_view subresource, const PatchOptions& options) const {
    return Patch(object.metadata.name, subresource, ApplyPatch(Encode(object)), options);
  }
  template <typename Body>
  Result<ApiRequest> CreateSubresource(std::string_view name, std::string_view subresource, const Body& body,
                                       const CreateOptions& options) const {
    return RawResource::CreateSubresource(body.metadata.namespace_, name, subresource, EncodeNamed(body, name),
                                          options);
  }
  Result<ApiRequest> UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale,
                                 const UpdateOptions& options) const;

 private:
  // Sets the name in the body, because servers require it there too and the caller has given it already.
  template <typename Body>
  static std::string EncodeNamed(const Body& body, std::string_view name) {
    if (!body.metadata.name.empty()) return Encode(body);
    Body named = body;
    named.metadata.name = name;
    return Encode(named);
  }
};

std::string WhatOf(const Result<ApiRequest>& request);  // "get pods default/web-0", before every error

// Decodes the body of a response into `object`, a default struct of that table. Errors: the error of `body`; kDecode;
// kInternal when out of memory, so that a callback whose caller waits for the response can use it.
Result<void> DecodeBody(const Result<std::string>& body, std::string_view what, void* object, const TypeTable& table);

// Returns the decoded body; for void, only whether there was a response.
template <typename T>
Result<T> DecodeBody(const Result<std::string>& body, std::string_view what) {
  if constexpr (std::is_void_v<T>) {
    if (!body) return Fail(body.error());
    return {};
  } else {
    Result<T> value{std::in_place};
    if (auto done = DecodeBody(body, what, &*value, T::kTable); !done) return Fail(std::move(done).error());
    return value;
  }
}

Result<std::string> CallForBody(const Connection& connection, Result<ApiRequest> request);
// Returns a list of `kind`, with the list type `table`, which is decoded as it arrives. The caller has the only
// reference to it.
Result<AnyRef> CallForList(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                           const KindInfo& kind);

template <typename T>
Result<T> Call(const Connection& connection, Result<ApiRequest> request) {
  const std::string what = WhatOf(request);
  return DecodeBody<T>(CallForBody(connection, std::move(request)), what);
}

}  // namespace kgen::detail

#endif  // KGEN_CLIENT_REQUESTS_H_
