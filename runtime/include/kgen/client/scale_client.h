// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of a resource that has a scale subresource: those of ResourceClient, and GetScale and UpdateScale.
//
//   auto scale = deployments.GetScale("web");               // Result<kgen::autoscaling::v1::Scale>
//   scale->spec->replicas = 3;
//   auto scaled = deployments.UpdateScale("web", *scale);   // kConflict if somebody has written it since
//
// Generated clients stand on it where the API document has a path `/scale`, or the CRD declares `subresources.scale`; a
// client of any other resource has no such call. [GEN OP-13, CRD-20]
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

  // How many replicas of `name` are wished, and how many there are. An absent spec->replicas is 0.
  [[nodiscard]] Result<autoscaling::v1::Scale> GetScale(std::string_view name, const GetOptions& options = {}) const {
    return detail::GetScale(this->raw(), name, options);
  }
  void GetScaleAsync(std::string_view name, const GetOptions& options, Callback<autoscaling::v1::Scale> done) const {
    detail::GetScaleAsync(this->raw(), name, options, std::move(done));
  }

  // Sets how many replicas are wished, to 0 if spec->replicas is absent; the rest of `scale` is not written. With a
  // metadata.resourceVersion, kConflict if the object has changed since; without one the write wins. metadata.name may
  // be left out. The answer is the scale afterwards.
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
