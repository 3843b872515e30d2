// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The subresources that one kind has: eviction, binding and logs of pods, tokens of service accounts. Each function has
// two forms: one that blocks, and one that takes `pods.Async()` and a callback before the options. The client of a
// resource that does not have the subresource does not compile.
//
//   auto evicted = kgen::Evict(pods, "web-0", {});
//   auto text = kgen::Logs(pods, "web-0", {.tail_lines = 100});
//   kgen::Logs(pods.Async(), "web-0", [](kgen::Result<std::string> text) { ... }, {.tail_lines = 100});
//
// Every other subresource is reached by its name: pods.UpdateSubresource<"resize">(pod).
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
  LogStream::OpenAsync(pods.raw(), name, std::move(done), options);
}

// Issues a token of a service account and returns `request` with status.token, which is secret, and
// status.expirationTimestamp, which may be earlier or later than asked for. `request` is an authentication.k8s.io/v1
// TokenRequest; it says for whom and for how long, and need not name the account. The server keeps no token, so each
// call issues another one.
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"token", Subs...>, Verbs::kCreate>
[[nodiscard]] Result<detail::FindBody<"token", Subs...>> CreateToken(
    const ResourceClient<T, L, verbs, Subs...>& accounts, std::string_view name,
    const detail::FindBody<"token", Subs...>& request, const CreateOptions& options = {}) {
  return accounts.template CreateSubresource<"token">(name, request, options);
}
template <typename T, typename L, Verbs verbs, typename... Subs>
  requires SubresourceHasVerb<detail::Find<"token", Subs...>, Verbs::kCreate>
void CreateToken(const AsyncResourceClient<T, L, verbs, Subs...>& accounts, std::string_view name,
                 const detail::FindBody<"token", Subs...>& request, Callback<detail::FindBody<"token", Subs...>> done,
                 const CreateOptions& options = {}) {
  accounts.template CreateSubresource<"token">(name, request, std::move(done), options);
}

}  // namespace kgen

#endif  // KGEN_CLIENT_SUBRESOURCES_H_
