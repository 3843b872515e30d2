// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ConversionHandler: answers the conversion reviews of all kinds of a manager, at "/convert".
//
//   ConversionReview --objects, one at a time--> versions of the kind --> the functions of spokes --> ConversionReview
//
// A whole list arrives in one review. The handler walks the objects in the bytes of the review and appends each
// converted object to the answer, so it holds the review, the answer and one decoded object.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CONVERSION_HANDLER_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CONVERSION_HANDLER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "controller/webhook/webhook_routes.h"
#include "core/memory/mutex.h"
#include "kgen/controller/conversion.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

inline constexpr std::string_view kConversionPath = "/convert";

// The versions of one kind.
struct KindVersions {
  std::string group{}, kind{};
  std::string hub{};                                               // the version
  std::map<std::string, detail::SpokeSpec, std::less<>> spokes{};  // by version
  bool keeps_lost = false;

  bool Has(std::string_view version) const { return version == hub || spokes.contains(version); }
  std::string str() const;  // "v1, v2 (hub)"
};

// By group and kind. Immutable once it is published, so reviews need no lock.
struct DeclaredVersions : SharedObject {
  std::map<std::pair<std::string, std::string>, KindVersions> kinds{};
};

// Thread safety: all members from any thread.
class ConversionHandler final : public WebhookHandler {
 public:
  // `routes` owns this handler. Whoever calls Answer() holds the routes.
  explicit ConversionHandler(const WebhookRoutes* routes) noexcept : routes_(routes) {}

  // Errors: kInvalidArgument  no kind; another group or kind than the hub's; a version twice; another hub of the kind
  Result<void> Add(detail::SpokeSpec spec);
  Result<void> KeepLost(const KindInfo& hub);

  Kind kind() const noexcept override { return Kind::kConversion; }
  std::string Answer(std::string_view review, const WebhookCall& call) override;
  std::string AnswerTooLarge(std::size_t limit) override;
  std::uint64_t panics() const noexcept override { return panics_.load(); }

 private:
  class Review;
  Shared<const DeclaredVersions> declared() const;
  Result<KindVersions*> VersionsOf(DeclaredVersions& declared, const KindInfo& hub) KGEN_REQUIRES(mutex_);
  void Warn(std::string_view key, std::string_view message) const;
  // Returns true at the first call for a kind.
  bool IsFirstNotKept(const KindVersions& versions);

  const WebhookRoutes* const routes_;
  std::atomic<std::uint64_t> panics_{0};
  mutable Mutex mutex_;
  Shared<const DeclaredVersions> declared_ KGEN_GUARDED_BY(mutex_) = MakeShared<DeclaredVersions>();
  std::set<std::pair<std::string, std::string>> not_kept_ KGEN_GUARDED_BY(mutex_);  // kinds that were reported
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CONVERSION_HANDLER_H_
