// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AnyInformer: a handle to one informer, whatever the type of its objects. SharedInformer<T> adds the type.
#ifndef KGEN_CACHE_ANY_INFORMER_H_
#define KGEN_CACHE_ANY_INFORMER_H_

#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/cache/events.h"
#include "kgen/cache/informer_status.h"
#include "kgen/cache/registration.h"
#include "kgen/cache/snapshot.h"
#include "kgen/cache/transform.h"
#include "kgen/core/clock.h"
#include "kgen/core/field_path.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace cache {
class Informer;
}

// A handle: copies are the same informer, and it may outlive the factory. An informer that has been stopped answers
// from its last state.
//
// Thread safety: all members from any thread. None blocks unless it says so.
class AnyInformer {
 public:
  explicit AnyInformer(Shared<cache::Informer> informer) noexcept : informer_(std::move(informer)) {}

  // Turns true when the first complete list has been applied, and stays true. After a warm start: when a bookmark or a
  // list shows that the cache is current; status().stale is true until then.
  bool HasSynced() const noexcept;
  // Returns whether the informer has stopped: nothing is applied and no handler is called any more.
  bool IsStopped() const noexcept;
  // Returns what the informer does now, how current its cache is, and what went wrong last.
  cache::InformerStatus status() const;

  // Blocks until the cache contains everything up to that resource version, such as the one in the server's answer to a
  // write. Only versions of this resource's server compare. A version whose object the informer does not select is
  // reached with the next event or bookmark, which may be a minute later. A saved state does not count before it is
  // current. A `limit` of zero looks once, and kNoLimit waits for ever.
  //
  // Errors: kInvalidArgument  `version` is not a decimal number; `limit` is negative; or a thread that must not block
  //         kTimeout          `limit` has passed; the message names both versions
  //         kCancelled        `stop` was requested
  //         kStopped          the informer has been stopped before it came so far
  [[nodiscard]] Result<void> WaitUntil(std::string_view version, std::stop_token stop = {},
                                       Nanos limit = std::chrono::seconds(5)) const;

  // For the library's own use.
  const Shared<cache::Informer>& informer() const noexcept { return informer_; }
  const Shared<cache::Store>& store() const noexcept;

 protected:
  // SharedInformer<T> has these with the type. No default argument: every user's file would compile the options'
  // members.
  Registration AddHandler(AnyHandler handler) const;
  Registration AddHandler(AnyHandler handler, HandlerOptions options) const;
  Result<void> AddIndexBy(std::string_view name, const FieldPath& path) const;
  Result<void> AddIndexBy(std::string_view name, const cache::IndexFunction& function) const;
  Result<void> SetTransformBy(TransformFunction transform) const;

 private:
  Shared<cache::Informer> informer_;
};

namespace detail {
// Blocks. Returns the errors of SharedInformerFactory::WaitForCacheSync, with its message.
Result<void> WaitForSync(std::stop_token stop, const std::vector<AnyInformer>& informers);
}  // namespace detail

}  // namespace kgen

#endif  // KGEN_CACHE_ANY_INFORMER_H_
