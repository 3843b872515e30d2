// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of a resource that has a scale subresource: those of ResourceClient, and GetScale and UpdateScale.
//
//   auto scale = deployments.GetScale("web");               // Result<kgen::autoscaling::v1::Scale>
//   scale->spec->replicas = 3;
//   auto scaled = deployments.UpdateScale("web", *scale);   // kConflict if it was changed since GetScale()
//
// Generated clients derive from it where the API document has a path `/scale`, or the CRD declares
// `subresources.scale`; clients of other resources have no such verbs.
#ifndef KGEN_CLIENT_SCALE_CLIENT_H_
#define KGEN_CLIENT_SCALE_CLIENT_H_

#include <string_view>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/resource_client.h"
#include "kgen/core/result.h"
#include "kgen/core/scale.h"

namespace kgen {
namespace detail {

Result<autoscaling::v1::Scale> GetScale(const RawResource& resource, std::string_view name, const GetOptions& options);
void GetScaleAsync(const RawResource& resource, std::string_view name, const GetOptions& options,
                   Callback<autoscaling::v1::Scale> done);
Result<autoscaling::v1::Scale> UpdateScale(const RawResource& resource, std::string_view name,
                                           const autoscaling::v1::Scale& scale, const UpdateOptions& options);
void UpdateScaleAsync(const RawResource& resource, std::string_view name, const autoscaling::v1::Scale& scale,
                      const UpdateOptions& options, Callback<autoscaling::v1::Scale> done);

}  // namespace detail

// Thread safety, blocking and errors are those of ResourceClient.
template <typename T, typename L>
class ScalableResourceClient : public ResourceClient<T, L> {
 public:
  using ResourceClient<T, L>::ResourceClient;

  // The desired and the observed number of replicas of `name`. An absent spec->replicas is 0.
  [[nodiscard]] Result<autoscaling::v1::Scale> GetScale(std::string_view name, const GetOptions& options = {}) const {
    return detail::GetScale(this->raw(), name, options);
  }
  void GetScaleAsync(std::string_view name, const GetOptions& options, Callback<autoscaling::v1::Scale> done) const {
    detail::GetScaleAsync(this->raw(), name, options, std::move(done));
  }

  // Sets the desired number of replicas (0 if spec->replicas is absent) and writes nothing else of `scale`. With a
  // metadata.resourceVersion it fails with kConflict if the object has changed since; without one the last write wins.
  // metadata.name may be empty. Returns the scale after the write.
  [[nodiscard]] Result<autoscaling::v1::Scale> UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale,
                                                           const UpdateOptions& options = {}) const {
    return detail::UpdateScale(this->raw(), name, scale, options);
  }
  void UpdateScaleAsync(std::string_view name, const autoscaling::v1::Scale& scale, const UpdateOptions& options,
                        Callback<autoscaling::v1::Scale> done) const {
    detail::UpdateScaleAsync(this->raw(), name, scale, options, std::move(done));
  }
};

}  // namespace kgen

#endif  // KGEN_CLIENT_SCALE_CLIENT_H_
