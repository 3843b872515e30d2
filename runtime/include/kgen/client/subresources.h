// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The subresources that only clients of pods have: eviction, binding and logs. Each function has two forms: one that
// blocks, and one that takes `pods.Async()` and a callback before the options.
//
//   auto evicted = kgen::Evict(pods, "web-0", {});
//   auto text = kgen::Logs(pods, "web-0", {.tail_lines = 100});
//   kgen::Logs(pods.Async(), "web-0", [](kgen::Result<std::string> text) { ... }, {.tail_lines = 100});
//
// Other subresources are verbs of the client: accounts.CreateSubresource<"token">("robot", request).
#ifndef KGEN_CLIENT_SUBRESOURCES_H_
#define KGEN_CLIENT_SUBRESOURCES_H_

#include <string>
#include <string_view>
#include <utility>

#include "kgen/client/async_client.h"
#include "kgen/client/log_stream.h"
#include "kgen/client/options.h"
#include "kgen/client/requests.h"
#include "kgen/client/resource_client.h"
#include "kgen/client/verbs.h"
#include "kgen/core/result.h"

namespace kgen {
namespace detail {

template <SubresourceName name, typename... Declared>
using Find = typename FindSubresource<name, Declared...>::type;
template <SubresourceName name, typename... Declared>
using FindBody = typename Find<name, Declared...>::Body;

}  // namespace detail

// Deletes a pod, or fails with kTooManyRequests while a PodDisruptionBudget forbids it. `eviction` is a policy/v1
// Eviction; it may say how to delete, and need not name the pod. While the server still counts the pods of a new
// budget, it names the time of the next attempt, and the call waits for it: set a timeout.
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"eviction", Subs...>, Verbs::kCreate>
[[nodiscard]] Result<void> Evict(const ResourceClient<T, L, verbs, Subs...>& pods, std::string_view name,
                                 const detail::FindBody<"eviction", Subs...>& eviction,
                                 const CreateOptions& options = {}) {
  return Discard(pods.template CreateSubresource<"eviction">(name, eviction, options));
}
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"eviction", Subs...>, Verbs::kCreate>
void Evict(const AsyncResourceClient<T, L, verbs, Subs...>& pods, std::string_view name,
           const detail::FindBody<"eviction", Subs...>& eviction, Callback<void> done,
           const CreateOptions& options = {}) {
  pods.template CreateSubresource<"eviction">(
      name, eviction, [done = std::move(done)](auto result) mutable { done(Discard(std::move(result))); }, options);
}

// Assigns the pod that metadata.name of `binding` names to the node target.name, as a scheduler does. It fails with
// kConflict if the pod has a node already.
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"binding", Subs...>, Verbs::kCreate>
[[nodiscard]] Result<void> Bind(const ResourceClient<T, L, verbs, Subs...>& pods,
                                const detail::FindBody<"binding", Subs...>& binding,
                                const CreateOptions& options = {}) {
  return Discard(pods.template CreateSubresource<"binding">(binding.metadata.name, binding, options));
}
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"binding", Subs...>, Verbs::kCreate>
void Bind(const AsyncResourceClient<T, L, verbs, Subs...>& pods, const detail::FindBody<"binding", Subs...>& binding,
          Callback<void> done, const CreateOptions& options = {}) {
  pods.template CreateSubresource<"binding">(
      binding.metadata.name, binding,
      [done = std::move(done)](auto result) mutable { done(Discard(std::move(result))); }, options);
}

// Returns the whole log of a container as text, empty if it has not started. With options.follow it fails with
// kInvalidArgument, because such a log has no end.
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceIsText<detail::Find<"log", Subs...>>
[[nodiscard]] Result<std::string> Logs(const ResourceClient<T, L, verbs, Subs...>& pods, std::string_view name,
                                       const LogOptions& options = {}) {
  return detail::CallForBody(pods.connection(), pods.raw().Logs(name, options));
}
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceIsText<detail::Find<"log", Subs...>>
void Logs(const AsyncResourceClient<T, L, verbs, Subs...>& pods, std::string_view name, Callback<std::string> done,
          const LogOptions& options = {}) {
  detail::CallForBodyAsync(pods.connection(), pods.raw().Logs(name, options), std::move(done));
}

// Opens the log of a container as a stream of lines; with `follow`, they arrive as they are written. The asynchronous
// form opens the stream without blocking.
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceIsText<detail::Find<"log", Subs...>>
[[nodiscard]] Result<LogStream> StreamLogs(const ResourceClient<T, L, verbs, Subs...>& pods, std::string_view name,
                                           const LogOptions& options = {}) {
  return LogStream::Open(pods.raw(), name, options);
}
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceIsText<detail::Find<"log", Subs...>>
void StreamLogs(const AsyncResourceClient<T, L, verbs, Subs...>& pods, std::string_view name, Callback<LogStream> done,
                const LogOptions& options = {}) {
  LogStream::OpenAsync(pods.raw(), name, options, std::move(done));
}

}  // namespace kgen

#endif  // KGEN_CLIENT_SUBRESOURCES_H_
