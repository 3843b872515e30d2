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
  if (options_.limit.value_or(0) == 0) options_.limit = kDefaultLimit;
}

Result<void> TokenCycle::Follow(std::string_view token) {
  if (steps_ > 0 && token == remembered_) {
    return Fail(Code::kDecode,
                "the server sent the same continue token twice, so its list would never end; the token is \"" +
                    std::string(token.substr(0, 80)) + "\"");
  }
  if (++steps_ < limit_) return {};
  remembered_ = token;
  limit_ *= 2;
  steps_ = 1;
  return {};
}

Result<AnyRef> PageCursor::Fetch(const TypeTable& table) {
  if (repeats_) return Fail(repeats_->With(WhatOf(resource_.List(options_))));
  return FetchPage(table);
}

Result<AnyRef> PageCursor::FetchPage(const TypeTable& table) {
  const KindInfo& kind = resource_.kind();
  Result<AnyRef> page = CallForList(resource_.connection(), resource_.List(options_), table, kind);
  if (page || first_ || full_) return page;
  // Only the reason Expired refers to the token. With the reason Gone, a full list would fail as well.
  const meta::v1::Status* status = page.error().status();
  if (page.error().code() != Code::kExpired || status == nullptr || status->reason != "Expired") return page;
  full_ = true;
  tokens_ = {};
  options_.limit.reset();
  options_.continue_.clear();
  options_.resource_version = original_version_;
  options_.resource_version_match = original_match_;
  return CallForList(resource_.connection(), resource_.List(options_), table, kind);
}

void PageCursor::Advance(std::string_view continue_token) {
  first_ = false;
  done_ = continue_token.empty();
  if (Result<void> followed = tokens_.Follow(continue_token); !done_ && !followed) repeats_ = followed.error();
  options_.continue_ = continue_token;
  // Servers refuse a version together with a token.
  options_.resource_version.clear();
  options_.resource_version_match.clear();
}

}  // namespace kgen::detail
