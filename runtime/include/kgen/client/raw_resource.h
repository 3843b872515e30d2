// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RawResource: checks the arguments of the verbs of one resource and builds the requests, without types.
// ResourceClient<T> adds the types.
#ifndef KGEN_CLIENT_RAW_RESOURCE_H_
#define KGEN_CLIENT_RAW_RESOURCE_H_

#include <string>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Builds requests for one resource in one namespace (or in all, or cluster-scoped). It is a plain value.
//
// Thread safety: const members from any thread. No function here does I/O; each returns a request or an error.
// Errors: every function returns kInvalidArgument for an empty name, an empty namespace where one is needed, and path
// segments that are ".", ".." or contain '/' or '%'.
class RawResource {
 public:
  // `kind` must live as long as the value and its copies, as the kinds of tables do.
  RawResource(Connection connection, const KindInfo& kind, std::string_view in_namespace)
      : connection_(std::move(connection)), kind_(&kind), namespace_(in_namespace) {}

  // Return the request of the verb, with `body` as JSON. A `subresource` of "" is the object itself.
  Result<ApiRequest> Create(std::string_view object_namespace, std::string body, const CreateOptions& options) const;
  Result<ApiRequest> Update(std::string_view object_namespace, std::string_view name, std::string_view subresource,
                            std::string body, const UpdateOptions& options) const;
  Result<ApiRequest> CreateSubresource(std::string_view body_namespace, std::string_view name,
                                       std::string_view subresource, std::string body,
                                       const CreateOptions& options) const;
  Result<ApiRequest> Get(std::string_view name, std::string_view subresource, const GetOptions& options) const;
  Result<ApiRequest> List(const ListOptions& options) const;
  Result<ApiRequest> Watch(const ListOptions& options) const;
  Result<ApiRequest> Patch(std::string_view name, std::string_view subresource, const kgen::Patch& patch,
                           const PatchOptions& options) const;
  Result<ApiRequest> Delete(std::string_view name, const DeleteOptions& options) const;
  Result<ApiRequest> DeleteCollection(const ListOptions& which, const DeleteOptions& options) const;

  // Return the request for a whole log, and for a log that is read as a stream.
  Result<ApiRequest> Logs(std::string_view name, const LogOptions& options) const;
  Result<ApiRequest> StreamLogs(std::string_view name, const LogOptions& options) const;

  // Return what the value was made of.
  const Connection& connection() const noexcept { return connection_; }
  const KindInfo& kind() const noexcept { return *kind_; }
  std::string_view namespace_name() const noexcept { return namespace_; }

 private:
  Connection connection_;
  const KindInfo* kind_;
  std::string namespace_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_RAW_RESOURCE_H_
