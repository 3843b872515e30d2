// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of one resource, typed: what `clientset.CoreV1().Pods("default")` returns.
//
//   auto pod = pods.Get("web-0");                                    // blocks: Result<Pod>
//   pods.GetAsync("web-0", [](kgen::Result<Pod> pod) { ... });       // does not; the callback must not block
//   pods.GetAsync("web-0", {.timeout = 1s}, callback);               // options come before the callback
//   for (const auto& page : pods.Pages({.limit = 500})) ...          // a Result<PodList> per page
#ifndef KGEN_CLIENT_RESOURCE_CLIENT_H_
#define KGEN_CLIENT_RESOURCE_CLIENT_H_

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/client/log_stream.h"
#include "kgen/client/options.h"
#include "kgen/client/pages.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/verbs.h"
#include "kgen/client/watcher.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/scale.h"

namespace kgen {

struct PartialObjectMetadata;
struct Unstructured;

// Objects whose type says which resource they belong to. Unstructured and PartialObjectMetadata do not: the clients of
// Unstructured come from kgen::DynamicClient.
template <typename T>
concept TypeNamesItsResource = !std::is_same_v<T, Unstructured> && !std::is_same_v<T, PartialObjectMetadata> &&
                               requires(const T& object) { object.metadata.resourceVersion; };

template <typename T>
using Callback = std::move_only_function<void(Result<T>)>;

namespace detail {

Result<std::string> CallForBody(const Connection& connection, Result<ApiRequest> request);
void CallForBodyAsync(const Connection& connection, Result<ApiRequest> request, Callback<std::string> done);

// A list of `kind`, with the list type `table`, that is decoded as it arrives: the caller has the only reference to it.
Result<AnyRef> CallForList(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                           const KindInfo& kind);
void CallForListAsync(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                      const KindInfo& kind, Callback<AnyRef> done);

std::string WhatOf(const Result<ApiRequest>& request);  // "get pods default/web-0", before every error

// Decodes the body of a response into `object`, a default struct of that table. Errors: those of `body`; kDecode;
// kInternal when out of memory, so that a callback whose caller waits for the response can use it.
Result<void> DecodeBody(const Result<std::string>& body, std::string_view what, void* object, const TypeTable& table);

template <typename T>
Result<T> DecodeBody(const Result<std::string>& body, std::string_view what) {
  Result<T> value{std::in_place};
  if (auto done = DecodeBody(body, what, &*value, T::kTable); !done) return Fail(std::move(done).error());
  return value;
}

Result<ApiRequest> UpdateScaleRequest(const RawResource& resource, std::string_view name,
                                      const autoscaling::v1::Scale& scale, const UpdateOptions& options);

}  // namespace detail

// T is a kind and L its list type; `verbs` and `Subresources` are what the resource has, and others do not compile.
// Generated code has an alias for each resource (k8s::core::v1::PodsClient). A value: copies share the connection.
//
// Each verb has two forms. The blocking one returns the result; the one with Async returns at once, and calls `done`
// exactly once with the result, as posted work of the executor (see Connection::CallAsync). The order of arguments is
// always the same: the subject of the verb, then its options, which may be left out, then the callback.
//
// Thread safety: const members from any thread.
// Blocking: the forms without Async block until the response has arrived, or until the stop of Connection::With() is
// requested; the only other limit is Config::timeout. On a thread that runs posted work they fail with
// kInvalidArgument; handlers and reconcile functions may call them.
// Errors: kInvalidArgument (nothing sent), the server's (see Code), kUnavailable, kTls, kTimeout, kCancelled, kDecode.
template <typename T, typename L, Verbs verbs = Verbs::kAll, typename... Subresources>
class ResourceClient {
  // What the document says of a subresource. Its body may be of another group, whose types.h the program includes.
  template <SubresourceName name>
  using Sub = typename detail::FindSubresource<name, Subresources...>::type;
  template <SubresourceName name>
  using BodyOf = typename Sub<name>::Body;

 public:
  ResourceClient(Connection connection, std::string_view in_namespace)
    requires TypeNamesItsResource<T>
      : raw_(std::move(connection), *T::kTable.kind, in_namespace) {}
  explicit ResourceClient(RawResource raw) : raw_(std::move(raw)) {}

  // The server's answer holds what it added: uid, resourceVersion, defaults. It is a default object if the server only
  // reports success, as for a Binding.
  [[nodiscard]] Result<T> Create(const T& object, const CreateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kCreate>
  {
    return Body<T>(CreateRequest(object, options));
  }
  void CreateAsync(const T& object, const CreateOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kCreate>
  {
    BodyAsync<T>(CreateRequest(object, options), std::move(done));
  }
  void CreateAsync(const T& object, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kCreate>
  {
    CreateAsync(object, {}, std::move(done));
  }

  // Replaces the object; kConflict if metadata.resourceVersion is set and no longer the newest. If `object` was read
  // from the server, fields that the schema of this program does not know are sent back as received.
  [[nodiscard]] Result<T> Update(const T& object, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdate>
  {
    return Body<T>(UpdateRequest(object, "", options));
  }
  void UpdateAsync(const T& object, const UpdateOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdate>
  {
    BodyAsync<T>(UpdateRequest(object, "", options), std::move(done));
  }
  void UpdateAsync(const T& object, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdate>
  {
    UpdateAsync(object, {}, std::move(done));
  }

  // The same for the status alone; the server ignores everything else in `object`.
  [[nodiscard]] Result<T> UpdateStatus(const T& object, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateStatus>
  {
    return Body<T>(UpdateRequest(object, "status", options));
  }
  void UpdateStatusAsync(const T& object, const UpdateOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateStatus>
  {
    BodyAsync<T>(UpdateRequest(object, "status", options), std::move(done));
  }
  void UpdateStatusAsync(const T& object, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateStatus>
  {
    UpdateStatusAsync(object, {}, std::move(done));
  }

  [[nodiscard]] Result<T> Get(std::string_view name, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGet>
  {
    return Body<T>(raw_.Get(name, "", options));
  }
  void GetAsync(std::string_view name, const GetOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kGet>
  {
    BodyAsync<T>(raw_.Get(name, "", options), std::move(done));
  }
  void GetAsync(std::string_view name, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kGet>
  {
    GetAsync(name, {}, std::move(done));
  }

  // One page, or everything if options.limit is absent. A response that is not the requested list is an error
  // (kDecode), never an empty list. A list without a resourceVersion is accepted, as some servers have none to send.
  //
  // Items are decoded as they arrive, so besides the list itself at most one of them is in memory as text. Each item is
  // bounded by the limits of DecodeOptions, and the response by options.max_answer_bytes. An item that cannot be
  // decoded fails the call, with its position and name in the message.
  [[nodiscard]] Result<L> List(const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    return detail::TakeList<L>(detail::CallForList(connection(), raw_.List(options), L::kTable, raw_.kind()));
  }
  void ListAsync(const ListOptions& options, Callback<L> done) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    detail::CallForListAsync(
        connection(), raw_.List(options), L::kTable, raw_.kind(),
        [done = std::move(done)](Result<AnyRef> list) mutable { done(detail::TakeList<L>(std::move(list))); });
  }
  void ListAsync(Callback<L> done) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    ListAsync({}, std::move(done));
  }

  // All pages, each requested when the loop reaches it. The range owns all that it needs, so a range-for may use it
  // directly.
  kgen::Pages<L> Pages(ListOptions options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    return kgen::Pages<L>(raw_, std::move(options));
  }

  // A raw watch from options.resource_version on, without cache or reconnection. Most programs want an informer
  // instead. The asynchronous form opens the watch without blocking; Watcher::Next() blocks, so read the watcher on a
  // thread that may.
  [[nodiscard]] Result<Watcher<T>> Watch(const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kWatch>
  {
    return Watcher<T>::Open(raw_, options);
  }
  void WatchAsync(const ListOptions& options, Callback<Watcher<T>> done) const
    requires ResourceHasVerb<verbs, Verbs::kWatch>
  {
    Watcher<T>::OpenAsync(raw_, options, std::move(done));
  }
  void WatchAsync(Callback<Watcher<T>> done) const
    requires ResourceHasVerb<verbs, Verbs::kWatch>
  {
    WatchAsync({}, std::move(done));
  }

  [[nodiscard]] Result<T> Patch(std::string_view name, const kgen::Patch& patch, const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    return Body<T>(raw_.Patch(name, "", patch, options));
  }
  void PatchAsync(std::string_view name, const kgen::Patch& patch, const PatchOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    BodyAsync<T>(raw_.Patch(name, "", patch, options), std::move(done));
  }
  void PatchAsync(std::string_view name, const kgen::Patch& patch, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    PatchAsync(name, patch, {}, std::move(done));
  }
  [[nodiscard]] Result<T> PatchStatus(std::string_view name, const kgen::Patch& patch,
                                      const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    return Body<T>(raw_.Patch(name, "status", patch, options));
  }
  void PatchStatusAsync(std::string_view name, const kgen::Patch& patch, const PatchOptions& options,
                        Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    BodyAsync<T>(raw_.Patch(name, "status", patch, options), std::move(done));
  }
  void PatchStatusAsync(std::string_view name, const kgen::Patch& patch, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    PatchStatusAsync(name, patch, {}, std::move(done));
  }
  // Server-side apply of the members that are set in `object`. The options have no default, because the server requires
  // a field_manager.
  [[nodiscard]] Result<T> Apply(const T& object, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    return Body<T>(raw_.Patch(object.metadata.name, "", ApplyPatch(Encode(object)), options));
  }
  void ApplyAsync(const T& object, const PatchOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    BodyAsync<T>(raw_.Patch(object.metadata.name, "", ApplyPatch(Encode(object)), options), std::move(done));
  }

  // Server-side apply to the status alone. It fails with kNotFound if there is no such object.
  [[nodiscard]] Result<T> ApplyStatus(const T& object, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    return Body<T>(raw_.Patch(object.metadata.name, "status", ApplyPatch(Encode(object)), options));
  }
  void ApplyStatusAsync(const T& object, const PatchOptions& options, Callback<T> done) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    BodyAsync<T>(raw_.Patch(object.metadata.name, "status", ApplyPatch(Encode(object)), options), std::move(done));
  }

  [[nodiscard]] Result<void> Delete(std::string_view name, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDelete>
  {
    return Discard(detail::CallForBody(connection(), raw_.Delete(name, options)));
  }
  void DeleteAsync(std::string_view name, const DeleteOptions& options, Callback<void> done) const
    requires ResourceHasVerb<verbs, Verbs::kDelete>
  {
    DiscardAsync(raw_.Delete(name, options), std::move(done));
  }
  void DeleteAsync(std::string_view name, Callback<void> done) const
    requires ResourceHasVerb<verbs, Verbs::kDelete>
  {
    DeleteAsync(name, {}, std::move(done));
  }
  // Deletes what `which` selects; `{}` is everything in the namespace.
  [[nodiscard]] Result<void> DeleteCollection(const ListOptions& which, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDeleteCollection>
  {
    return Discard(detail::CallForBody(connection(), raw_.DeleteCollection(which, options)));
  }
  void DeleteCollectionAsync(const ListOptions& which, const DeleteOptions& options, Callback<void> done) const
    requires ResourceHasVerb<verbs, Verbs::kDeleteCollection>
  {
    DiscardAsync(raw_.DeleteCollection(which, options), std::move(done));
  }
  void DeleteCollectionAsync(const ListOptions& which, Callback<void> done) const
    requires ResourceHasVerb<verbs, Verbs::kDeleteCollection>
  {
    DeleteCollectionAsync(which, {}, std::move(done));
  }

  // The desired and the observed number of replicas of `name`. An absent spec->replicas is 0.
  [[nodiscard]] Result<autoscaling::v1::Scale> GetScale(std::string_view name, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGetScale>
  {
    return Body<autoscaling::v1::Scale>(raw_.Get(name, "scale", options));
  }
  void GetScaleAsync(std::string_view name, const GetOptions& options, Callback<autoscaling::v1::Scale> done) const
    requires ResourceHasVerb<verbs, Verbs::kGetScale>
  {
    BodyAsync<autoscaling::v1::Scale>(raw_.Get(name, "scale", options), std::move(done));
  }
  void GetScaleAsync(std::string_view name, Callback<autoscaling::v1::Scale> done) const
    requires ResourceHasVerb<verbs, Verbs::kGetScale>
  {
    GetScaleAsync(name, {}, std::move(done));
  }
  // Sets the desired number of replicas, 0 if spec->replicas is absent, and writes nothing else of `scale`. With a
  // metadata.resourceVersion it fails with kConflict if the object has changed since; without one the last write wins.
  // metadata.name may be empty. Returns the scale after the write.
  [[nodiscard]] Result<autoscaling::v1::Scale> UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale,
                                                           const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateScale>
  {
    return Body<autoscaling::v1::Scale>(detail::UpdateScaleRequest(raw_, name, scale, options));
  }
  void UpdateScaleAsync(std::string_view name, const autoscaling::v1::Scale& scale, const UpdateOptions& options,
                        Callback<autoscaling::v1::Scale> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateScale>
  {
    BodyAsync<autoscaling::v1::Scale>(detail::UpdateScaleRequest(raw_, name, scale, options), std::move(done));
  }
  void UpdateScaleAsync(std::string_view name, const autoscaling::v1::Scale& scale,
                        Callback<autoscaling::v1::Scale> done) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateScale>
  {
    UpdateScaleAsync(name, scale, {}, std::move(done));
  }

  // Any subresource that the document declares: pods.PatchSubresource<"resize">("web-0", patch). What it sends and
  // returns is of the type that the document names, which may be that of the object. Those that are used often have
  // verbs of their own below. What a Create sends is the body of a POST, and the object that is its subject exists
  // already; it returns a default object if the server only reports success.
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> GetSubresource(std::string_view name, const GetOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kGet>
  {
    return Body<BodyOf<sub>>(raw_.Get(name, sub.view(), options));
  }
  template <SubresourceName sub>
  void GetSubresourceAsync(std::string_view name, const GetOptions& options, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kGet>
  {
    BodyAsync<BodyOf<sub>>(raw_.Get(name, sub.view(), options), std::move(done));
  }
  template <SubresourceName sub>
  void GetSubresourceAsync(std::string_view name, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kGet>
  {
    GetSubresourceAsync<sub>(name, {}, std::move(done));
  }
  // The name of the object is that in `object`.
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> UpdateSubresource(const BodyOf<sub>& object,
                                                      const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kUpdate>
  {
    return Body<BodyOf<sub>>(UpdateRequest(object, sub.view(), options));
  }
  template <SubresourceName sub>
  void UpdateSubresourceAsync(const BodyOf<sub>& object, const UpdateOptions& options, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kUpdate>
  {
    BodyAsync<BodyOf<sub>>(UpdateRequest(object, sub.view(), options), std::move(done));
  }
  template <SubresourceName sub>
  void UpdateSubresourceAsync(const BodyOf<sub>& object, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kUpdate>
  {
    UpdateSubresourceAsync<sub>(object, {}, std::move(done));
  }
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> PatchSubresource(std::string_view name, const kgen::Patch& patch,
                                                     const PatchOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kPatch>
  {
    return Body<BodyOf<sub>>(raw_.Patch(name, sub.view(), patch, options));
  }
  template <SubresourceName sub>
  void PatchSubresourceAsync(std::string_view name, const kgen::Patch& patch, const PatchOptions& options,
                             Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kPatch>
  {
    BodyAsync<BodyOf<sub>>(raw_.Patch(name, sub.view(), patch, options), std::move(done));
  }
  template <SubresourceName sub>
  void PatchSubresourceAsync(std::string_view name, const kgen::Patch& patch, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kPatch>
  {
    PatchSubresourceAsync<sub>(name, patch, {}, std::move(done));
  }
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> CreateSubresource(std::string_view name, const BodyOf<sub>& body,
                                                      const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kCreate>
  {
    return Body<BodyOf<sub>>(CreateSubRequest<sub>(name, body, options));
  }
  template <SubresourceName sub>
  void CreateSubresourceAsync(std::string_view name, const BodyOf<sub>& body, const CreateOptions& options,
                              Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kCreate>
  {
    BodyAsync<BodyOf<sub>>(CreateSubRequest<sub>(name, body, options), std::move(done));
  }
  template <SubresourceName sub>
  void CreateSubresourceAsync(std::string_view name, const BodyOf<sub>& body, Callback<BodyOf<sub>> done) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kCreate>
  {
    CreateSubresourceAsync<sub>(name, body, {}, std::move(done));
  }

  // Deletes a pod unless a PodDisruptionBudget forbids it now, which is kTooManyRequests: pods.Evict("web-0", {}).
  // `eviction` is a policy/v1 Eviction; it may say how to delete, and need not name the pod. While the server still
  // counts the pods of a new budget, it names the time of another attempt, which the call waits for: set a timeout.
  [[nodiscard]] Result<void> Evict(std::string_view name, const BodyOf<"eviction">& eviction,
                                   const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"eviction">, Verbs::kCreate>
  {
    return Discard(detail::CallForBody(connection(), CreateSubRequest<"eviction">(name, eviction, options)));
  }
  void EvictAsync(std::string_view name, const BodyOf<"eviction">& eviction, const CreateOptions& options,
                  Callback<void> done) const
    requires SubresourceHasVerb<Sub<"eviction">, Verbs::kCreate>
  {
    DiscardAsync(CreateSubRequest<"eviction">(name, eviction, options), std::move(done));
  }
  void EvictAsync(std::string_view name, const BodyOf<"eviction">& eviction, Callback<void> done) const
    requires SubresourceHasVerb<Sub<"eviction">, Verbs::kCreate>
  {
    EvictAsync(name, eviction, {}, std::move(done));
  }
  // Assigns the pod metadata.name of `binding` to the node target.name, as a scheduler does. Once for each pod: a pod
  // that has a node is kConflict.
  [[nodiscard]] Result<void> Bind(const BodyOf<"binding">& binding, const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"binding">, Verbs::kCreate>
  {
    return Discard(
        detail::CallForBody(connection(), CreateSubRequest<"binding">(binding.metadata.name, binding, options)));
  }
  void BindAsync(const BodyOf<"binding">& binding, const CreateOptions& options, Callback<void> done) const
    requires SubresourceHasVerb<Sub<"binding">, Verbs::kCreate>
  {
    DiscardAsync(CreateSubRequest<"binding">(binding.metadata.name, binding, options), std::move(done));
  }
  void BindAsync(const BodyOf<"binding">& binding, Callback<void> done) const
    requires SubresourceHasVerb<Sub<"binding">, Verbs::kCreate>
  {
    BindAsync(binding, {}, std::move(done));
  }
  // A token of the service account `name`, in status->token of the result. `request` is an authentication/v1
  // TokenRequest.
  [[nodiscard]] Result<BodyOf<"token">> CreateToken(std::string_view name, const BodyOf<"token">& request,
                                                    const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"token">, Verbs::kCreate>
  {
    return CreateSubresource<"token">(name, request, options);
  }
  void CreateTokenAsync(std::string_view name, const BodyOf<"token">& request, const CreateOptions& options,
                        Callback<BodyOf<"token">> done) const
    requires SubresourceHasVerb<Sub<"token">, Verbs::kCreate>
  {
    CreateSubresourceAsync<"token">(name, request, options, std::move(done));
  }
  void CreateTokenAsync(std::string_view name, const BodyOf<"token">& request, Callback<BodyOf<"token">> done) const
    requires SubresourceHasVerb<Sub<"token">, Verbs::kCreate>
  {
    CreateTokenAsync(name, request, {}, std::move(done));
  }
  // Approves or denies a certificate signing request: writes the conditions in the status of `object`, and its
  // metadata.
  [[nodiscard]] Result<BodyOf<"approval">> UpdateApproval(const BodyOf<"approval">& object,
                                                          const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"approval">, Verbs::kUpdate>
  {
    return UpdateSubresource<"approval">(object, options);
  }
  void UpdateApprovalAsync(const BodyOf<"approval">& object, const UpdateOptions& options,
                           Callback<BodyOf<"approval">> done) const
    requires SubresourceHasVerb<Sub<"approval">, Verbs::kUpdate>
  {
    UpdateSubresourceAsync<"approval">(object, options, std::move(done));
  }
  void UpdateApprovalAsync(const BodyOf<"approval">& object, Callback<BodyOf<"approval">> done) const
    requires SubresourceHasVerb<Sub<"approval">, Verbs::kUpdate>
  {
    UpdateApprovalAsync(object, {}, std::move(done));
  }
  // Writes spec.ephemeralContainers alone. They can be added, and neither changed nor removed.
  [[nodiscard]] Result<BodyOf<"ephemeralcontainers">> UpdateEphemeralContainers(
      const BodyOf<"ephemeralcontainers">& object, const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"ephemeralcontainers">, Verbs::kUpdate>
  {
    return UpdateSubresource<"ephemeralcontainers">(object, options);
  }
  void UpdateEphemeralContainersAsync(const BodyOf<"ephemeralcontainers">& object, const UpdateOptions& options,
                                      Callback<BodyOf<"ephemeralcontainers">> done) const
    requires SubresourceHasVerb<Sub<"ephemeralcontainers">, Verbs::kUpdate>
  {
    UpdateSubresourceAsync<"ephemeralcontainers">(object, options, std::move(done));
  }
  void UpdateEphemeralContainersAsync(const BodyOf<"ephemeralcontainers">& object,
                                      Callback<BodyOf<"ephemeralcontainers">> done) const
    requires SubresourceHasVerb<Sub<"ephemeralcontainers">, Verbs::kUpdate>
  {
    UpdateEphemeralContainersAsync(object, {}, std::move(done));
  }
  // Writes the resources of the containers alone; the pod keeps running.
  [[nodiscard]] Result<BodyOf<"resize">> UpdateResize(const BodyOf<"resize">& object,
                                                      const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<"resize">, Verbs::kUpdate>
  {
    return UpdateSubresource<"resize">(object, options);
  }
  void UpdateResizeAsync(const BodyOf<"resize">& object, const UpdateOptions& options,
                         Callback<BodyOf<"resize">> done) const
    requires SubresourceHasVerb<Sub<"resize">, Verbs::kUpdate>
  {
    UpdateSubresourceAsync<"resize">(object, options, std::move(done));
  }
  void UpdateResizeAsync(const BodyOf<"resize">& object, Callback<BodyOf<"resize">> done) const
    requires SubresourceHasVerb<Sub<"resize">, Verbs::kUpdate>
  {
    UpdateResizeAsync(object, {}, std::move(done));
  }

  // The whole log of a container as text, empty if it has not started. options.follow is kInvalidArgument, as such a
  // log has no end.
  [[nodiscard]] Result<std::string> Logs(std::string_view name, const LogOptions& options = {}) const
    requires SubresourceIsText<Sub<"log">>
  {
    return detail::CallForBody(connection(), raw_.Logs(name, options));
  }
  void LogsAsync(std::string_view name, const LogOptions& options, Callback<std::string> done) const
    requires SubresourceIsText<Sub<"log">>
  {
    detail::CallForBodyAsync(connection(), raw_.Logs(name, options), std::move(done));
  }
  void LogsAsync(std::string_view name, Callback<std::string> done) const
    requires SubresourceIsText<Sub<"log">>
  {
    LogsAsync(name, {}, std::move(done));
  }
  // The log line by line, with `follow` as it is written. The asynchronous form opens the stream without blocking.
  [[nodiscard]] Result<LogStream> StreamLogs(std::string_view name, const LogOptions& options = {}) const
    requires SubresourceIsText<Sub<"log">>
  {
    return LogStream::Open(raw_, name, options);
  }
  void StreamLogsAsync(std::string_view name, const LogOptions& options, Callback<LogStream> done) const
    requires SubresourceIsText<Sub<"log">>
  {
    LogStream::OpenAsync(raw_, name, options, std::move(done));
  }
  void StreamLogsAsync(std::string_view name, Callback<LogStream> done) const
    requires SubresourceIsText<Sub<"log">>
  {
    StreamLogsAsync(name, {}, std::move(done));
  }

  const RawResource& raw() const noexcept { return raw_; }
  const Connection& connection() const noexcept { return raw_.connection(); }

 private:
  template <typename R>
  Result<R> Body(Result<ApiRequest> request) const {
    const std::string what = detail::WhatOf(request);
    return detail::DecodeBody<R>(detail::CallForBody(connection(), std::move(request)), what);
  }
  template <typename R>
  void BodyAsync(Result<ApiRequest> request, Callback<R> done) const {
    std::string what = detail::WhatOf(request);
    detail::CallForBodyAsync(connection(), std::move(request),
                             [done = std::move(done), what = std::move(what)](Result<std::string> body) mutable {
                               done(detail::DecodeBody<R>(body, what));
                             });
  }
  void DiscardAsync(Result<ApiRequest> request, Callback<void> done) const {
    detail::CallForBodyAsync(
        connection(), std::move(request),
        [done = std::move(done)](Result<std::string> body) mutable { done(Discard(std::move(body))); });
  }

  Result<ApiRequest> CreateRequest(const T& object, const CreateOptions& options) const {
    return raw_.Create(object.metadata.namespace_, Encode(object), options);
  }
  template <SubresourceName sub>
  Result<ApiRequest> CreateSubRequest(std::string_view name, const BodyOf<sub>& body,
                                      const CreateOptions& options) const {
    if (!body.metadata.name.empty()) {
      return raw_.CreateSubresource(body.metadata.namespace_, name, sub.view(), Encode(body), options);
    }
    // Servers want the name in the body too; the caller has said it once already.
    BodyOf<sub> named = body;
    named.metadata.name = name;
    return raw_.CreateSubresource(body.metadata.namespace_, name, sub.view(), Encode(named), options);
  }
  template <typename B>
  Result<ApiRequest> UpdateRequest(const B& object, std::string_view subresource, const UpdateOptions& options) const {
    return raw_.Update(object.metadata.namespace_, object.metadata.name, subresource, Encode(object), options);
  }

  RawResource raw_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_RESOURCE_CLIENT_H_
