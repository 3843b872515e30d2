// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs of one resource, typed: what `clientset.CoreV1().Pods("default")` is made of.
//
//   auto pod = pods.Get("web-0");                                        // blocking: Result<Pod>
//   pods.GetAsync("web-0", {}, [](kgen::Result<Pod> pod) { ... });       // posted work: must not block
//   for (const auto& page : pods.Pages({.limit = 500})) ...              // a Result<PodList> per page
//
// Generated clients expose the verbs that the resource has. Each blocking form waits for the asynchronous one.
#ifndef KGEN_CLIENT_RESOURCE_CLIENT_H_
#define KGEN_CLIENT_RESOURCE_CLIENT_H_

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/pages.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/watcher.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen {

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

}  // namespace detail

// T is a kind, L its list type. A value: holds the connection.
//
// Thread safety: const members from any thread.
// Blocking: the forms without Async block until the response has arrived, or until the stop of Connection::With() is
// requested; the only other limit is Config::timeout. On a thread that runs posted work they fail with
// kInvalidArgument; handlers and reconcile functions may call them.
// Errors: kInvalidArgument (nothing sent), the server's (see Code), kUnavailable, kTls, kTimeout, kCancelled, kDecode.
template <typename T, typename L>
class ResourceClient {
 public:
  // T may be incomplete here: generated clients are declared before the types that they serve.
  ResourceClient(Connection connection, std::string_view in_namespace)
      : connection_(std::move(connection)), namespace_(in_namespace) {}

  // The server's answer holds what it added: uid, resourceVersion, defaults.
  [[nodiscard]] Result<T> Create(const T& object, const CreateOptions& options = {}) const {
    return Body<T>(CreateRequest(object, options));
  }
  void CreateAsync(const T& object, const CreateOptions& options, Callback<T> done) const {
    BodyAsync<T>(CreateRequest(object, options), std::move(done));
  }

  // Replaces the object; kConflict if metadata.resourceVersion is set and no longer the newest. Fields that the schema
  // of this program does not know go back as they came, if `object` was read from the server.
  [[nodiscard]] Result<T> Update(const T& object, const UpdateOptions& options = {}) const {
    return Body<T>(UpdateRequest(object, "", options));
  }
  void UpdateAsync(const T& object, const UpdateOptions& options, Callback<T> done) const {
    BodyAsync<T>(UpdateRequest(object, "", options), std::move(done));
  }
  // The same for the status alone; everything else in `object` is ignored by the server.
  [[nodiscard]] Result<T> UpdateStatus(const T& object, const UpdateOptions& options = {}) const {
    return Body<T>(UpdateRequest(object, "status", options));
  }
  void UpdateStatusAsync(const T& object, const UpdateOptions& options, Callback<T> done) const {
    BodyAsync<T>(UpdateRequest(object, "status", options), std::move(done));
  }

  [[nodiscard]] Result<T> Get(std::string_view name, const GetOptions& options = {}) const {
    return Body<T>(raw().Get(name, "", options));
  }
  void GetAsync(std::string_view name, const GetOptions& options, Callback<T> done) const {
    BodyAsync<T>(raw().Get(name, "", options), std::move(done));
  }

  // One page, or everything if options.limit is absent. A response that is not the requested list is an error
  // (kDecode), never an empty list. A list without a resourceVersion is accepted, as some servers have none to send.
  //
  // Items are decoded as they arrive, so besides the list itself at most one of them is in memory as text. Each item is
  // bounded by the limits of DecodeOptions, and the response by options.max_answer_bytes. An item that cannot be
  // decoded fails the call, with its position and name in the message.
  [[nodiscard]] Result<L> List(const ListOptions& options = {}) const {
    return detail::TakeList<L>(detail::CallForList(connection_, raw().List(options), L::kTable, *T::kTable.kind));
  }
  void ListAsync(const ListOptions& options, Callback<L> done) const {
    detail::CallForListAsync(
        connection_, raw().List(options), L::kTable, *T::kTable.kind,
        [done = std::move(done)](Result<AnyRef> list) mutable { done(detail::TakeList<L>(std::move(list))); });
  }

  // All pages, each requested when the loop reaches it. The range owns all that it needs, so a range-for may use it
  // directly.
  kgen::Pages<L> Pages(ListOptions options = {}) const { return kgen::Pages<L>(raw(), std::move(options)); }

  // A raw watch from options.resource_version on, without cache or reconnection. Most programs want an informer
  // instead.
  [[nodiscard]] Result<Watcher<T>> Watch(const ListOptions& options = {}) const {
    return Watcher<T>::Open(raw(), options);
  }

  [[nodiscard]] Result<T> Patch(std::string_view name, const kgen::Patch& patch,
                                const PatchOptions& options = {}) const {
    return Body<T>(raw().Patch(name, "", patch, options));
  }
  void PatchAsync(std::string_view name, const kgen::Patch& patch, const PatchOptions& options,
                  Callback<T> done) const {
    BodyAsync<T>(raw().Patch(name, "", patch, options), std::move(done));
  }
  [[nodiscard]] Result<T> PatchStatus(std::string_view name, const kgen::Patch& patch,
                                      const PatchOptions& options = {}) const {
    return Body<T>(raw().Patch(name, "status", patch, options));
  }
  // Server-side apply of the members that are set in `object`; options.field_manager is required by the server.
  [[nodiscard]] Result<T> Apply(const T& object, const PatchOptions& options) const {
    return Body<T>(raw().Patch(object.metadata.name, "", ApplyPatch(Encode(object)), options));
  }

  [[nodiscard]] Result<void> Delete(std::string_view name, const DeleteOptions& options = {}) const {
    return Discard(detail::CallForBody(connection_, raw().Delete(name, options)));
  }
  void DeleteAsync(std::string_view name, const DeleteOptions& options, Callback<void> done) const {
    detail::CallForBodyAsync(
        connection_, raw().Delete(name, options),
        [done = std::move(done)](Result<std::string> body) mutable { done(Discard(std::move(body))); });
  }
  [[nodiscard]] Result<void> DeleteCollection(const DeleteOptions& options, const ListOptions& which) const {
    return Discard(detail::CallForBody(connection_, raw().DeleteCollection(options, which)));
  }

  RawResource raw() const { return RawResource(connection_, *T::kTable.kind, namespace_); }
  const Connection& connection() const noexcept { return connection_; }

 protected:
  template <typename R>
  Result<R> Body(Result<ApiRequest> request) const {
    const std::string what = detail::WhatOf(request);
    return detail::DecodeBody<R>(detail::CallForBody(connection_, std::move(request)), what);
  }
  template <typename R>
  void BodyAsync(Result<ApiRequest> request, Callback<R> done) const {
    std::string what = detail::WhatOf(request);
    detail::CallForBodyAsync(connection_, std::move(request),
                             [done = std::move(done), what = std::move(what)](Result<std::string> body) mutable {
                               done(detail::DecodeBody<R>(body, what));
                             });
  }

 private:
  Result<ApiRequest> CreateRequest(const T& object, const CreateOptions& options) const {
    return raw().Create(object.metadata.namespace_, Encode(object), options);
  }
  Result<ApiRequest> UpdateRequest(const T& object, std::string_view subresource, const UpdateOptions& options) const {
    return raw().Update(object.metadata.namespace_, object.metadata.name, subresource, Encode(object), options);
  }

  Connection connection_;
  std::string namespace_;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_RESOURCE_CLIENT_H_
