// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Webhooks: defaults, validation and conversion of objects, served by a manager and called by the API server.
//
//   kgen::Manager manager = kgen::Must(kgen::Manager::New(config, {
//       .name = "shop",
//       .webhooks = {.enabled = true, .certificate = kgen::TlsFiles{"/certs/tls.crt", "/certs/tls.key"}}}));
//   manager.Webhook<Order>()
//       .Default([](Order& order, const kgen::Admission&) -> kgen::Result<void> {
//         if (!order.spec->quantity) order.spec->quantity = 1;
//         return {};
//       })
//       .ValidateCreate([](const Order& order, const kgen::Admission& request) -> kgen::Result<kgen::FieldErrors> {
//         kgen::FieldErrors errors;
//         if (order.spec->quantity < 1) errors.Invalid("spec.quantity", order.spec->quantity, "must be positive");
//         if (order.spec->quantity > 1000) request.Warn("orders above 1000 take a week");
//         return errors;
//       });
//   manager.Run(stop);
//
//   server --POST /mutate-shop-example-v1-order--> WebhookServer --AdmissionReview--> the function --patch--> server
//
// Paths are controller-runtime's: "/mutate-", "/validate-" and the group, with dashes in place of dots, the version and
// the kind in lower case; "/convert" for all conversions.
//
// A function that fails, throws or returns errors denies the request, with the HTTP status 200 and a Status:
//   errors of members           422, Invalid, with the causes, so that kubectl prints them as it prints built-in ones
//   Fail(Code::kForbidden, ...) 403; the codes of the server map to their HTTP status
//   any other error, an exception   500, with the name of the webhook; details go to the observer only
// A real HTTP 500 would admit the object under `failurePolicy: Ignore`.
//
// Functions of Default() must be idempotent: a server may call them again after other webhooks have changed the object.
#ifndef KGEN_CONTROLLER_WEBHOOK_H_
#define KGEN_CONTROLLER_WEBHOOK_H_

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kgen/controller/admission.h"
#include "kgen/controller/endpoint.h"
#include "kgen/controller/webhook_certificates.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"
#include "kgen/core/unstructured.h"

namespace kgen {

class Manager;
namespace controller {
class WebhookRoutes;
}

// Options of the server of webhooks.
struct WebhookOptions {
  // Default: false. Whether the server of webhooks listens.
  bool enabled = false;
  // Default: ":9443", this port of all addresses. Written as EndpointOptions::address.
  std::string address = ":9443";
  // Default: a certificate in memory, which no API server trusts, for tests and `url:` with a CA of your own. PEM
  // files, for instance as cert-manager mounts them. They are read again when they change; open connections keep the
  // old one. TLS 1.2 and newer.
  std::optional<TlsFiles> certificate{};
  // Default: none. Certificates that the replicas make and renew by themselves, in place of `certificate`.
  std::optional<ManagedCertificates> managed{};
  // Default: none, anybody may call. A PEM file with the CA of the API server's client certificate
  // (`--admission-control-config-file`): connections without a certificate of it are refused.
  std::string client_ca_file{};
  // Default: 7 MiB. A larger admission review is answered with 413. Reviews of conversions, which hold whole lists, are
  // limited by `max_conversion_bytes`.
  std::size_t max_review_bytes = 7u << 20;
  std::size_t max_conversion_bytes = 256u << 20;
  // Default: 256 MiB. What reviews that are being read or answered hold together. A connection whose review does not
  // fit waits, unread.
  std::size_t max_bytes = 256u << 20;
  // Default: 64. How many functions run at a time; further reviews wait. Conversions have as many of their own, because
  // a function of an admission webhook may read objects that the API server must convert first.
  int max_concurrent = 64;
  // Default: 5 s. How long the server serves on after a stop, unready and with `Connection: close`, while API servers
  // learn that this replica is gone.
  Nanos drain = std::chrono::seconds(5);
};

namespace detail {

// The functions of a webhook for one kind, erased: objects are default-constructed structs of the table.
struct WebhookSpec {
  enum class Role : std::uint8_t { kDefault, kCreate, kUpdate, kDelete };
  const TypeTable* table = nullptr;
  const KindInfo* kind = nullptr;  // null: `dynamic`
  GroupVersionKind dynamic{};
  std::string path{};  // "": the default
  Role role = Role::kDefault;
  // Make and destroy an object of the table.
  void* (*make)() = nullptr;
  void (*destroy)(void*) = nullptr;
  // A function of Default() changes `now`. For the others `before` or `now` is null if the operation has none.
  std::function<Result<FieldErrors>(const void* before, void* now, const Admission&)> function{};
};
// An error of the declaration (a path that is taken, an empty function) is returned by Manager::Run().
void AddWebhook(const Shared<controller::WebhookRoutes>& routes, WebhookSpec spec);

// For the in-memory cluster, which calls the webhooks of a manager in virtual time.
Shared<controller::WebhookRoutes> WebhookRoutesOf(const Manager& manager);

// Whether a function that a user passes is a std::function or a pointer without a target.
template <typename F>
bool IsEmptyFunction(const F& function) {
  if constexpr (std::is_pointer_v<F> || requires { function.target_type(); }) {
    return !function;
  } else {
    return false;
  }
}

inline Result<FieldErrors> AsErrors(Result<FieldErrors> result) { return result; }
inline Result<FieldErrors> AsErrors(Result<void> result) {
  if (!result) return Fail(std::move(result).error());
  return FieldErrors();
}

}  // namespace detail

// A function for any review at a path: Manager::RawWebhook().
using RawWebhookFunction = std::function<Result<AdmissionAnswer>(const RawAdmission&)>;

namespace detail {
// Errors: kInvalidArgument
Result<void> AddRawWebhook(const Shared<controller::WebhookRoutes>& routes, std::string path,
                           RawWebhookFunction function);
}  // namespace detail

// Declares the webhooks of a kind. Each call registers its function at once; what is wrong with it (a path that is
// taken, an empty function, the manager runs already) is the result of Manager::Run(). Validating functions return
// Result<FieldErrors> or Result<void>.
//
// Functions run on threads of the webhook server and may block. They may run at the same time, in every replica,
// whether it leads or not, so they are const.
template <typename T>
class WebhookBuilder {
 public:
  explicit WebhookBuilder(Shared<controller::WebhookRoutes> routes, GroupVersionKind dynamic = {})
      : routes_(std::move(routes)), dynamic_(std::move(dynamic)) {}

  // The paths for the functions that follow, for instance to serve two webhooks of one kind. Must begin with '/'.
  WebhookBuilder& MutatingPath(std::string path) {
    mutating_path_ = std::move(path);
    return *this;
  }
  WebhookBuilder& ValidatingPath(std::string path) {
    validating_path_ = std::move(path);
    return *this;
  }

  // Sets defaults on CREATE and UPDATE: Result<void>(T& object, const Admission&). What the function changes is
  // answered as a JSON patch; members that it does not assign never appear in it.
  template <typename F>
  WebhookBuilder& Default(F function) {
    static_assert(std::is_invocable_r_v<Result<void>, const F&, T&, const Admission&>,
                  "Default: write [](T& object, const kgen::Admission& request) -> kgen::Result<void>");
    const bool empty = detail::IsEmptyFunction(function);
    return Add(detail::WebhookSpec::Role::kDefault, mutating_path_, empty,
               [function = std::move(function)](const void*, void* now, const Admission& request) {
                 return detail::AsErrors(Result<void>(function(*static_cast<T*>(now), request)));
               });
  }
  // Checks an object that is created: Result<FieldErrors>(const T& object, const Admission&).
  template <typename F>
  WebhookBuilder& ValidateCreate(F function) {
    static_assert(std::is_invocable_v<const F&, const T&, const Admission&>,
                  "ValidateCreate: write [](const T& object, const kgen::Admission& request) -> "
                  "kgen::Result<kgen::FieldErrors>");
    const bool empty = detail::IsEmptyFunction(function);
    return Add(detail::WebhookSpec::Role::kCreate, validating_path_, empty,
               [function = std::move(function)](const void*, void* now, const Admission& request) {
                 return detail::AsErrors(function(*static_cast<const T*>(now), request));
               });
  }
  // Checks an update: Result<FieldErrors>(const T& before, const T& now, const Admission&).
  template <typename F>
  WebhookBuilder& ValidateUpdate(F function) {
    static_assert(std::is_invocable_v<const F&, const T&, const T&, const Admission&>,
                  "ValidateUpdate: write [](const T& before, const T& now, const kgen::Admission& request) -> "
                  "kgen::Result<kgen::FieldErrors>");
    const bool empty = detail::IsEmptyFunction(function);
    return Add(
        detail::WebhookSpec::Role::kUpdate, validating_path_, empty,
        [function = std::move(function)](const void* before, void* now, const Admission& request) {
          return detail::AsErrors(function(*static_cast<const T*>(before), *static_cast<const T*>(now), request));
        });
  }
  // Checks a deletion: Result<FieldErrors>(const T& before, const Admission&).
  template <typename F>
  WebhookBuilder& ValidateDelete(F function) {
    static_assert(std::is_invocable_v<const F&, const T&, const Admission&>,
                  "ValidateDelete: write [](const T& before, const kgen::Admission& request) -> "
                  "kgen::Result<kgen::FieldErrors>");
    const bool empty = detail::IsEmptyFunction(function);
    return Add(detail::WebhookSpec::Role::kDelete, validating_path_, empty,
               [function = std::move(function)](const void* before, void*, const Admission& request) {
                 return detail::AsErrors(function(*static_cast<const T*>(before), request));
               });
  }

 private:
  WebhookBuilder& Add(detail::WebhookSpec::Role role, const std::string& path, bool empty,
                      std::function<Result<FieldErrors>(const void*, void*, const Admission&)> function) {
    if (empty) function = nullptr;
    detail::AddWebhook(routes_, {.table = &T::kTable,
                                 .kind = dynamic_.kind.empty() ? T::kTable.kind : nullptr,
                                 .dynamic = dynamic_,
                                 .path = path,
                                 .role = role,
                                 .make = []() -> void* { return new T(); },
                                 .destroy = [](void* object) { delete static_cast<T*>(object); },
                                 .function = std::move(function)});
    return *this;
  }

  const Shared<controller::WebhookRoutes> routes_;
  const GroupVersionKind dynamic_;
  std::string mutating_path_, validating_path_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_WEBHOOK_H_
