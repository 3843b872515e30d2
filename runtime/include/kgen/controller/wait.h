// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// WaitFor: blocks until a cached object satisfies a condition.
//
//   auto ready = kgen::WaitFor<Pod>(client, key, [](const kgen::Ref<const Pod>& pod) {
//     return pod && pod->status->phase == "Running";
//   }, stop, 30s);
#ifndef KGEN_CONTROLLER_WAIT_H_
#define KGEN_CONTROLLER_WAIT_H_

#include <chrono>
#include <concepts>
#include <stop_token>
#include <utility>

#include "kgen/controller/cached_client.h"
#include "kgen/controller/caches.h"

namespace kgen {

namespace detail {
// Errors: kInvalidArgument  it is negative
Result<void> CheckWaitLimit(const ObjectKey& key, Nanos limit);
}  // namespace detail

// Blocks until `predicate` returns true for the cached object, and returns that state of the object: a null Ref if the
// predicate accepted its absence. The predicate is called on the calling thread, at the beginning and again after
// changes of the cache; it does not see the states between two calls. Waits for the cache to sync first.
// A `limit` of zero calls the predicate once, and kNoLimit waits forever.
//
// Errors: kTimeout (`limit` has passed), kCancelled (`stop`), kInvalidArgument (the namespace is not cached, `limit` is
// negative, or a thread that must not block), kStopped, and the errors of Cache::WaitForSync(). An exception of the
// predicate reaches the caller.
template <typename T, std::predicate<const Ref<const T>&> Predicate>
[[nodiscard]] Result<Ref<const T>> WaitFor(const Cache<T>& cache, const ObjectKey& key, Predicate predicate,
                                           std::stop_token stop, Nanos limit) {
  if (Result<void> valid = detail::CheckWaitLimit(key, limit); !valid) return Fail(std::move(valid).error());
  Result<AnyRef> object = cache.any().WaitFor(
      key, [&](const AnyRef& any) { return static_cast<bool>(predicate(any.As<T>())); }, std::move(stop), limit);
  if (!object) return Fail(std::move(object).error());
  return object->template As<T>();
}

// Waits in the client's cache. The first state that the predicate sees is not older than the client's last write;
// `limit` counts from this state, which CachedClient::Get() returns.
template <detail::NamesItsKind T, std::predicate<const Ref<const T>&> Predicate>
[[nodiscard]] Result<Ref<const T>> WaitFor(const CachedClient& client, const ObjectKey& key, Predicate predicate,
                                           std::stop_token stop, Nanos limit) {
  if (Result<void> valid = detail::CheckWaitLimit(key, limit); !valid) return Fail(std::move(valid).error());
  if (stop.stop_requested()) return Fail(Code::kCancelled, "wait for " + key.str() + ": a stop was requested");
  Result<Ref<const T>> first = client.With(stop).template Get<T>(key);
  if (!first || predicate(*first)) return first;
  Result<Cache<T>> cache = client.caches().template Of<T>();
  if (!cache) return Fail(std::move(cache).error());
  return WaitFor(*cache, key, std::move(predicate), std::move(stop), limit);
}

}  // namespace kgen

#endif  // KGEN_CONTROLLER_WAIT_H_
