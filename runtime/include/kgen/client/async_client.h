// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AsyncResourceClient: the verbs of one resource without blocking, as `pods.Async()` returns them.
//
//   pods.Async().Get("web-0", [](kgen::Result<Pod> pod) { ... });  // the callback must not block
//   pods.Async().Get("web-0", callback, {.timeout = 1s});          // options come last
#ifndef KGEN_CLIENT_ASYNC_CLIENT_H_
#define KGEN_CLIENT_ASYNC_CLIENT_H_

#include <string>
#include <string_view>
#include <utility>

#include "kgen/client/resource_client.h"
#include "kgen/core/function.h"

namespace kgen {

// Receives the result of a verb, once.
template <typename T>
using Callback = UniqueFunction<void(Result<T>)>;

namespace detail {

void CallForBodyAsync(const Connection& connection, Result<ApiRequest> request, Callback<std::string> done);
void CallForListAsync(const Connection& connection, Result<ApiRequest> request, const TypeTable& table,
                      const KindInfo& kind, Callback<AnyRef> done);

}  // namespace detail

// The client of one resource whose verbs do not block. The verbs are those that ResourceClient describes. Each returns
// at once, and calls `done` exactly once with the result, as posted work of the executor (see Connection::CallAsync).
// The order of arguments is always the same: the subject of the verb, then the callback, then the options, which may be
// left out. Names, objects and options are read before a verb returns.
//
// Thread safety: const members from any thread. Does not block.
// Errors: as ResourceClient; they too arrive in `done`, never before the verb has returned.
template <typename T, typename L, Verbs verbs, typename... Subresources>
class AsyncResourceClient {
 public:
  // As in ResourceClient.
  template <SubresourceName name>
  using Sub = typename detail::FindSubresource<name, Subresources...>::type;
  template <SubresourceName name>
  using BodyOf = typename Sub<name>::Body;

  // ResourceClient::Async() calls this.
  explicit AsyncResourceClient(RawResource raw) : requests_(std::move(raw)) {}

  // Each sends the request of the function of that name of ResourceClient, and calls `done` with the result.
  void Create(const T& object, Callback<T> done, const CreateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kCreate>
  {
    Send<T>(requests_.Create(object, options), std::move(done));
  }
  // As ResourceClient::Update().
  void Update(const T& object, Callback<T> done, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdate>
  {
    Send<T>(requests_.Update(object, "", options), std::move(done));
  }
  // As ResourceClient::UpdateStatus().
  void UpdateStatus(const T& object, Callback<T> done, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateStatus>
  {
    Send<T>(requests_.Update(object, "status", options), std::move(done));
  }
  // As ResourceClient::Get().
  void Get(std::string_view name, Callback<T> done, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGet>
  {
    Send<T>(requests_.Get(name, "", options), std::move(done));
  }
  // As ResourceClient::List(): all pages, in one list.
  void List(Callback<L> done, const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    detail::CallForListAsync(
        connection(), requests_.List(options), L::kTable, raw().kind(),
        [done = std::move(done)](Result<AnyRef> list) mutable { done(detail::TakeList<L>(std::move(list))); });
  }
  // Opens the watch without blocking. Watcher::Next() blocks, so read the watcher on a thread that may.
  void Watch(Callback<Watcher<T>> done, const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kWatch>
  {
    Watcher<T>::OpenAsync(raw(), std::move(done), options);
  }
  void Patch(std::string_view name, const kgen::Patch& patch, Callback<T> done, const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    Send<T>(requests_.Patch(name, "", patch, options), std::move(done));
  }
  void PatchStatus(std::string_view name, const kgen::Patch& patch, Callback<T> done,
                   const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    Send<T>(requests_.Patch(name, "status", patch, options), std::move(done));
  }
  void Apply(const T& object, Callback<T> done, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    Send<T>(requests_.Apply(object, "", options), std::move(done));
  }
  void ApplyStatus(const T& object, Callback<T> done, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    Send<T>(requests_.Apply(object, "status", options), std::move(done));
  }
  void Delete(std::string_view name, Callback<void> done, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDelete>
  {
    Send<void>(requests_.Delete(name, options), std::move(done));
  }
  void DeleteCollection(const ListOptions& which, Callback<void> done, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDeleteCollection>
  {
    Send<void>(requests_.DeleteCollection(which, options), std::move(done));
  }
  void GetScale(std::string_view name, Callback<autoscaling::v1::Scale> done, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGetScale>
  {
    Send<autoscaling::v1::Scale>(requests_.Get(name, "scale", options), std::move(done));
  }
  void UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale, Callback<autoscaling::v1::Scale> done,
                   const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateScale>
  {
    Send<autoscaling::v1::Scale>(requests_.UpdateScale(name, scale, options), std::move(done));
  }

  // The typed subresources, as ResourceClient has them: "log", "resize", ...
  template <SubresourceName sub>
  void GetSubresource(std::string_view name, Callback<BodyOf<sub>> done, const GetOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kGet>
  {
    Send<BodyOf<sub>>(requests_.Get(name, sub.view(), options), std::move(done));
  }
  // As ResourceClient::UpdateSubresource().
  template <SubresourceName sub>
  void UpdateSubresource(const BodyOf<sub>& object, Callback<BodyOf<sub>> done, const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kUpdate>
  {
    Send<BodyOf<sub>>(requests_.Update(object, sub.view(), options), std::move(done));
  }
  // As ResourceClient::PatchSubresource().
  template <SubresourceName sub>
  void PatchSubresource(std::string_view name, const kgen::Patch& patch, Callback<BodyOf<sub>> done,
                        const PatchOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kPatch>
  {
    Send<BodyOf<sub>>(requests_.Patch(name, sub.view(), patch, options), std::move(done));
  }
  // As ResourceClient::CreateSubresource().
  template <SubresourceName sub>
  void CreateSubresource(std::string_view name, const BodyOf<sub>& body, Callback<BodyOf<sub>> done,
                         const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kCreate>
  {
    Send<BodyOf<sub>>(requests_.CreateSubresource(name, sub.view(), body, options), std::move(done));
  }

  // Return the resource without its types, and the connection that sends the requests.
  const RawResource& raw() const noexcept { return requests_; }
  const Connection& connection() const noexcept { return requests_.connection(); }

 private:
  template <typename R>
  void Send(Result<ApiRequest> request, Callback<R> done) const {
    std::string what = detail::WhatOf(request);
    detail::CallForBodyAsync(connection(), std::move(request),
                             [done = std::move(done), what = std::move(what)](Result<std::string> body) mutable {
                               done(detail::DecodeBody<R>(body, what));
                             });
  }

  detail::ResourceRequests requests_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_ASYNC_CLIENT_H_
