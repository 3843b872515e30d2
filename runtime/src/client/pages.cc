// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/pages.h"

#include "kgen/client/resource_client.h"
#include "kgen/core/object_meta.h"

namespace kgen::detail {

PageCursor::PageCursor(RawResource resource, ListOptions options)
    : resource_(std::move(resource)),
      options_(std::move(options)),
      original_version_(options_.resource_version),
      original_match_(options_.resource_version_match) {
  if (options_.limit.value_or(0) == 0) options_.limit = kDefaultLimit;  // [INF LW-05]
}

Result<std::string> PageCursor::Fetch() {
  Result<std::string> body = CallForBody(resource_.connection(), resource_.List(options_));
  if (body || first_ || full_) return body;
  // Only the reason Expired means the token; a resource that is Gone stays gone. [INF LW-08; CLI PAGE-2]
  const meta::v1::Status* status = body.error().status();
  if (body.error().code() != Code::kExpired || status == nullptr || status->reason != "Expired") return body;
  full_ = true;
  options_.limit.reset();
  options_.continue_.clear();
  options_.resource_version = original_version_;
  options_.resource_version_match = original_match_;
  return CallForBody(resource_.connection(), resource_.List(options_));
}

void PageCursor::Advance(std::string_view continue_token) {
  first_ = false;
  done_ = continue_token.empty();
  options_.continue_ = continue_token;
  // Servers refuse a version together with a token. [INF LW-06; CLI PAGE-1]
  options_.resource_version.clear();
  options_.resource_version_match.clear();
}

}  // namespace kgen::detail
