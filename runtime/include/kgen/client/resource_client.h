// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ResourceClient: the typed verbs of one resource, as `clientset.CoreV1().Pods("default")` returns them.
//
//   auto pod = pods.Get("web-0");                            // blocks: Result<Pod>
//   for (const auto& page : pods.Pages({.limit = 500})) ...  // a Result<PodList> per page
//   pods.Async().Get("web-0", callback);                     // does not block: kgen/client/async_client.h
//   kgen::Evict(pods, "web-0", {});                          // what one kind has: kgen/client/subresources.h
#ifndef KGEN_CLIENT_RESOURCE_CLIENT_H_
#define KGEN_CLIENT_RESOURCE_CLIENT_H_

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/pages.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/requests.h"
#include "kgen/client/verbs.h"
#include "kgen/client/watcher.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/scale.h"

namespace kgen {

struct PartialObjectMetadata;
struct Unstructured;

// Objects whose type says which resource they belong to. Unstructured and PartialObjectMetadata do not: the clients of
// Unstructured come from kgen::DynamicClient.
template <typename T>
concept TypeNamesItsResource =
    !std::is_same_v<T, Unstructured> && !std::is_same_v<T, PartialObjectMetadata> && !detail::IsProjection<T> &&
    requires(const T& object) { object.metadata.resourceVersion; };

template <typename T, typename L, Verbs verbs, typename... Subresources>
class AsyncResourceClient;

namespace detail {
struct IncludeKgenClientAsyncClientH {};  // what Async() returns without that header: the compiler names it
}  // namespace detail

// The client of one resource. T is a kind and L its list type; `verbs` and `Subresources` are what the resource has,
// and others do not compile. Generated code has an alias for each resource (k8s::core::v1::PodsClient). A client is a
// value: copies share the connection.
//
// Thread safety: const members from any thread.
// Blocking: until the response has arrived, or until the stop of Connection::With() is requested; the only other limit
// is Config::timeout. On a thread that runs posted work the verbs fail with kInvalidArgument; handlers and reconcile
// functions may call them.
// Errors: kInvalidArgument (nothing sent), the server's (see Code), kUnavailable, kTls, kTimeout, kCancelled, kDecode.
template <typename T, typename L, Verbs verbs = Verbs::kAll, typename... Subresources>
class ResourceClient {
 public:
  // The declaration of a subresource. If its body belongs to another group, include that group's types.h.
  template <SubresourceName name>
  using Sub = typename detail::FindSubresource<name, Subresources...>::type;
  template <SubresourceName name>
  using BodyOf = typename Sub<name>::Body;

  // Make a client of one namespace, or of all or a cluster-scoped resource with "". Generated code calls these.
  ResourceClient(Connection connection, std::string_view in_namespace)
    requires TypeNamesItsResource<T>
      : requests_(RawResource(std::move(connection), *T::kTable.kind, in_namespace)) {}
  explicit ResourceClient(RawResource raw) : requests_(std::move(raw)) {}

  // Returns the form whose verbs do not block. Needs kgen/client/async_client.h.
  auto Async() const {
    using Client = AsyncResourceClient<T, L, verbs, Subresources...>;
    if constexpr (requires { sizeof(Client); }) {
      return Client(raw());
    } else {
      return detail::IncludeKgenClientAsyncClientH();
    }
  }

  // Creates the object and returns it with what the server added: uid, resourceVersion, defaults. The result is a
  // default object if the server only reports success, as for a Binding.
  [[nodiscard]] Result<T> Create(const T& object, const CreateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kCreate>
  {
    return Call<T>(requests_.Create(object, options));
  }

  // Replaces the object. It fails with kConflict if metadata.resourceVersion is set and no longer the newest. If
  // `object` was read from the server, fields that the schema of this program does not know are sent back as received.
  [[nodiscard]] Result<T> Update(const T& object, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdate>
  {
    return Call<T>(requests_.Update(object, "", options));
  }
  // Replaces the status alone; the server ignores everything else in `object`.
  [[nodiscard]] Result<T> UpdateStatus(const T& object, const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateStatus>
  {
    return Call<T>(requests_.Update(object, "status", options));
  }

  // Returns the object. Fails with kNotFound if there is none.
  [[nodiscard]] Result<T> Get(std::string_view name, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGet>
  {
    return Call<T>(requests_.Get(name, "", options));
  }

  // Returns one page, or everything if options.limit is absent. A response that is not the requested list is an error
  // (kDecode), never an empty list. A list without a resourceVersion is accepted, as some servers have none to send.
  //
  // Items are decoded as they arrive, so besides the list itself at most one of them is in memory as text. Each item is
  // bounded by the limits of DecodeOptions, and the response by options.max_answer_bytes. An item that cannot be
  // decoded fails the call, with its position and name in the message.
  [[nodiscard]] Result<L> List(const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    return detail::TakeList<L>(detail::CallForList(connection(), requests_.List(options), L::kTable, raw().kind()));
  }
  // Returns all pages as a range; each page is requested when the loop reaches it. The range owns everything that it
  // needs, so a range-for may use it directly.
  kgen::Pages<L> Pages(ListOptions options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kList>
  {
    return kgen::Pages<L>(raw(), std::move(options));
  }

  // Opens a raw watch from options.resource_version on, without cache or reconnection. Most programs want an informer.
  [[nodiscard]] Result<Watcher<T>> Watch(const ListOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kWatch>
  {
    return Watcher<T>::Open(raw(), options);
  }

  // Changes what the patch names, and returns the whole object. Fails with kNotFound if there is no such object,
  // unless the patch is an ApplyPatch().
  [[nodiscard]] Result<T> Patch(std::string_view name, const kgen::Patch& patch, const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    return Call<T>(requests_.Patch(name, "", patch, options));
  }
  // Changes the status alone; the server ignores everything else in the patch.
  [[nodiscard]] Result<T> PatchStatus(std::string_view name, const kgen::Patch& patch,
                                      const PatchOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    return Call<T>(requests_.Patch(name, "status", patch, options));
  }

  // Sends a server-side apply of the members that are set in `object`. The options have no default, because the server
  // requires a field_manager.
  [[nodiscard]] Result<T> Apply(const T& object, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatch>
  {
    return Call<T>(requests_.Apply(object, "", options));
  }
  // Sends a server-side apply of the status alone. It fails with kNotFound if there is no such object.
  [[nodiscard]] Result<T> ApplyStatus(const T& object, const PatchOptions& options) const
    requires ResourceHasVerb<verbs, Verbs::kPatchStatus>
  {
    return Call<T>(requests_.Apply(object, "status", options));
  }

  // Asks the server to delete the object. One with finalizers stays until they are gone. Fails with kNotFound if there
  // is none.
  [[nodiscard]] Result<void> Delete(std::string_view name, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDelete>
  {
    return Call<void>(requests_.Delete(name, options));
  }
  // Deletes what `which` selects; `{}` is everything in the namespace.
  [[nodiscard]] Result<void> DeleteCollection(const ListOptions& which, const DeleteOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kDeleteCollection>
  {
    return Call<void>(requests_.DeleteCollection(which, options));
  }

  // Returns the desired and the observed number of replicas of `name`. An absent spec->replicas means 0.
  [[nodiscard]] Result<autoscaling::v1::Scale> GetScale(std::string_view name, const GetOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kGetScale>
  {
    return Call<autoscaling::v1::Scale>(requests_.Get(name, "scale", options));
  }
  // Sets the desired number of replicas, 0 if spec->replicas is absent, and writes nothing else of `scale`. With a
  // metadata.resourceVersion it fails with kConflict if the object has changed since; without one the last write wins.
  // metadata.name may be empty. Returns the scale after the write.
  [[nodiscard]] Result<autoscaling::v1::Scale> UpdateScale(std::string_view name, const autoscaling::v1::Scale& scale,
                                                           const UpdateOptions& options = {}) const
    requires ResourceHasVerb<verbs, Verbs::kUpdateScale>
  {
    return Call<autoscaling::v1::Scale>(requests_.UpdateScale(name, scale, options));
  }

  // The verbs of any subresource that the document declares: pods.PatchSubresource<"resize">("web-0", patch). They send
  // and return the type that the document names, which may be the type of the object itself. Update takes the name from
  // `object`. Create sends its body as a POST to an object that exists already, and returns a default object if the
  // server only reports success.
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> GetSubresource(std::string_view name, const GetOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kGet>
  {
    return Call<BodyOf<sub>>(requests_.Get(name, sub.view(), options));
  }
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> UpdateSubresource(const BodyOf<sub>& object,
                                                      const UpdateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kUpdate>
  {
    return Call<BodyOf<sub>>(requests_.Update(object, sub.view(), options));
  }
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> PatchSubresource(std::string_view name, const kgen::Patch& patch,
                                                     const PatchOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kPatch>
  {
    return Call<BodyOf<sub>>(requests_.Patch(name, sub.view(), patch, options));
  }
  template <SubresourceName sub>
  [[nodiscard]] Result<BodyOf<sub>> CreateSubresource(std::string_view name, const BodyOf<sub>& body,
                                                      const CreateOptions& options = {}) const
    requires SubresourceHasVerb<Sub<sub>, Verbs::kCreate>
  {
    return Call<BodyOf<sub>>(requests_.CreateSubresource(name, sub.view(), body, options));
  }

  // Return what the client was made of.
  const RawResource& raw() const noexcept { return requests_; }
  const Connection& connection() const noexcept { return requests_.connection(); }

 private:
  template <typename R>
  Result<R> Call(Result<ApiRequest> request) const {
    return detail::Call<R>(connection(), std::move(request));
  }

  detail::ResourceRequests requests_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_RESOURCE_CLIENT_H_
