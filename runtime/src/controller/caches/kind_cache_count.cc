// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Counts what a cache would hold, before any process holds something.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include "client/request/accept.h"
#include "controller/caches/kind_cache.h"
#include "core/json/json_depth.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/requests.h"

namespace kgen::controller {
namespace {

using nlohmann::json;

constexpr std::int64_t kPageSize = 500;
constexpr Nanos kPageLimit = std::chrono::seconds(10);  // a stop waits for the page under way

// A page of a list of metadata: the namespaces of its objects, and the token of the next page.
struct Page {
  std::unordered_map<std::string, double> counts{};
  std::string next{};
};

Result<Page> ReadPage(const std::string& body) {
  static const json::json_pointer kNamespace("/metadata/namespace"), kNext("/metadata/continue");
  const json list = detail::NestsTooDeep(body) ? json() : json::parse(body, nullptr, false);
  const auto items = list.is_object() ? list.find("items") : list.end();
  if (!list.is_object() || items == list.end() || !items->is_array()) {
    return Fail(Code::kDecode, "the answer is no list");
  }
  const auto text = [](const json& object, const json::json_pointer& at) {
    return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : std::string();
  };
  Page page{.next = text(list, kNext)};
  for (const json& item : *items) page.counts[text(item, kNamespace)] += 1;
  return page;
}

}  // namespace

Result<void> KindCache::CountOnServer(std::unordered_map<std::uint64_t, double>& loads,
                                      const std::stop_token& stop) const {
  const PartsView parts = parts_.Read();
  for (const Shared<Part>& part : *parts) {
    const cache::Selection& selection = part->scope.selection;
    const RawResource resource(state_->connection(), kind_, selection.namespace_);
    ListOptions options{
        .label_selector = selection.label_selector, .field_selector = selection.field_selector, .limit = kPageSize};
    do {
      if (stop.stop_requested()) return Fail(Code::kCancelled, "counting the objects of " + name() + " was stopped");
      Result<ApiRequest> request = resource.List(options);
      if (request) {
        request->accept = client::kAcceptMetadataList;
        request->timeout = kPageLimit;
      }
      const Result<std::string> body = kgen::detail::CallForBody(state_->connection(), std::move(request));
      Result<Page> page = body ? ReadPage(*body) : Fail(body.error());
      if (!page) return Fail(page.error().With("count the objects of " + name()));
      for (const auto& [in_namespace, count] : page->counts) {
        // A part without a namespace has those that no other part names.
        if (parts->Find(in_namespace) == part.get()) loads[ShardHash(in_namespace)] += count;
      }
      options.continue_ = std::move(page->next);
    } while (!options.continue_.empty());
  }
  return {};
}

}  // namespace kgen::controller
