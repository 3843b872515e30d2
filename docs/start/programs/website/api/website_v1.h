// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef WEBSITE_API_WEBSITE_V1_H_
#define WEBSITE_API_WEBSITE_V1_H_

#include <kgen/core/object.h>
#include <kgen/core/object_meta.h>

#include <cstdint>

namespace site::web::v1 {

// What a user wants.
struct WebsiteSpec {
  // The page that the site shows.
  // +required
  // +kgen:maxLength=100000
  kgen::String html{};
  // How many pods serve it.
  // +kgen:minimum=0
  // +kgen:maximum=10
  // +kgen:default=1
  kgen::Optional<std::int32_t> replicas{};
  KGEN_OBJECT(WebsiteSpec)
};

// What the controller has reached.
struct WebsiteStatus {
  // How many pods serve the page now.
  kgen::Optional<std::int32_t> readyReplicas{};
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(WebsiteStatus)
};

// A page, served by pods.
// +kgen:resource:group=web.example.com,version=v1,shortName=site
// +kgen:subresource:status
// +kgen:printcolumn:name=Wanted,type=integer,jsonPath=.spec.replicas
// +kgen:printcolumn:name=Ready,type=integer,jsonPath=.status.readyReplicas
struct Website {
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<WebsiteSpec> spec = kgen::kAbsent;
  kgen::Optional<WebsiteStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Website)
};

}  // namespace site::web::v1

#endif  // WEBSITE_API_WEBSITE_V1_H_
