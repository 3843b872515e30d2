// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/conversion_handler.h"

#include <optional>

#include "controller/webhook/lost_data.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "core/thrown.h"
#include "kgen/codec/decode.h"
#include "kgen/core/observer.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kExtensionsV1 = "apiextensions.k8s.io/v1";
constexpr std::string_view kExtensionsV1Beta1 = "apiextensions.k8s.io/v1beta1";

// What a server sends, as text.
struct ConversionRequest {
  std::string api_version{kExtensionsV1};  // of the review
  std::string uid{"\"\""};                 // in quotes
  std::string desired{};
  std::string_view objects{};
};

std::string VersionOf(std::string_view group, std::string_view version) {
  return std::string(group) + (group.empty() ? "" : "/") + std::string(version);
}

// "shop.example/v1" -> {"shop.example", "v1"}
std::pair<std::string, std::string> SplitVersion(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", std::string(api_version)};
  return {std::string(api_version.substr(0, slash)), std::string(api_version.substr(slash + 1))};
}

// The reason and the HTTP status of a failure. Servers show only the message.
std::pair<std::string_view, int> StatusOf(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kInvalidArgument:
      return {"Invalid", 422};
    case Code::kDecode:
      return {"BadRequest", 400};
    case Code::kTimeout:
    case Code::kCancelled:
      return {"Timeout", 504};
    case Code::kRequestTooLarge:
      return {"RequestEntityTooLarge", 413};
    default:
      return {"InternalError", 500};
  }
}

std::string Head(const ConversionRequest& request) {
  return "{\"apiVersion\":\"" + request.api_version +
         "\",\"kind\":\"ConversionReview\",\"response\":{\"uid\":" + request.uid;
}

std::string Failure(const ConversionRequest& request, const Error& error) {
  const auto [reason, code] = StatusOf(error.code());
  return Head(request) + ",\"result\":{\"status\":\"Failure\",\"message\":" + detail::QuoteJson(error.message()) +
         ",\"reason\":\"" + std::string(reason) + "\",\"code\":" + std::to_string(code) + "}}}";
}

Error BadReview(std::string_view why) {
  return Error(Code::kDecode,
               "this is no ConversionReview of apiextensions.k8s.io/v1 or v1beta1 with a request: " + std::string(why));
}

// Reads the review as far as possible, so that a failure has its version and uid.
Result<void> ReadReview(std::string_view review, ConversionRequest& request) {
  std::string kind;
  std::string_view inner;
  std::string version;
  const auto text = [](std::string_view json) { return detail::StringOfJson(json).value_or(""); };
  auto done = detail::ForEachJson(review, [&](std::string_view name, std::string_view value) {
    if (name == "kind") kind = text(value);
    if (name == "apiVersion") version = text(value);
    if (name == "request") inner = value;
  });
  if (!done || detail::KindOfJson(review) != "an object") return BadReview("the body is not a JSON object");
  if (version == kExtensionsV1 || version == kExtensionsV1Beta1) request.api_version = version;
  if (detail::KindOfJson(inner) == "an object") {
    done = detail::ForEachJson(inner, [&](std::string_view name, std::string_view value) {
      if (name == "uid") request.uid = detail::QuoteJson(text(value));
      if (name == "desiredAPIVersion") request.desired = text(value);
      if (name == "objects") request.objects = value;
    });
  }
  if (!done) return BadReview("the request is not JSON");
  if (kind != "ConversionReview" || version != request.api_version) {
    return BadReview("it has the kind '" + kind + "' of '" + version + "'");
  }
  if (request.desired.empty()) return BadReview("request.desiredAPIVersion is missing");
  const std::string_view what = detail::KindOfJson(request.objects);
  if (!request.objects.empty() && what != "a list" && what != "null") {
    return BadReview("request.objects is " + std::string(what) + ", not a list");
  }
  return {};
}

}  // namespace

std::string KindVersions::str() const {
  std::string text;
  std::set<std::string, std::less<>> versions{hub};
  for (const auto& [version, spoke] : spokes) versions.insert(version);
  for (const std::string& version : versions) {
    text.append(text.empty() ? "" : ", ").append(version).append(version == hub ? " (hub)" : "");
  }
  return text;
}

// Converts the objects of one review.
class ConversionHandler::Review {
 public:
  Review(ConversionHandler& handler, const WebhookCall& call)
      : handler_(handler), call_(call), declared_(handler.declared()) {}

  // Appends the converted objects to `out`, with commas between them.
  Result<void> Run(const ConversionRequest& request, std::string& out) {
    const auto [group, version] = SplitVersion(request.desired);
    Result<void> result;
    if (request.objects.empty() || request.objects == "null") return result;
    const std::size_t begin = out.size();
    std::size_t position = 0;
    auto walked = detail::ForEachJson(request.objects, [&](std::string_view, std::string_view json) {
      if (!result) return;
      if (out.size() > begin) out += ',';
      result = One(json, group, version, position++, out);
    });
    if (result && !walked) result = BadReview("request.objects is not JSON");
    Report();
    return result;
  }

 private:
  // One object, and where it goes.
  struct Item {
    const KindVersions& versions;
    const std::string name;  // "Order shop.example/v1 shop/first"
    const std::string from, to;
  };

  Result<void> One(std::string_view json, const std::string& group, const std::string& version, std::size_t position,
                   std::string& out) {
    const Identity identity = PeekIdentity(json);
    std::string name = identity.kind + " " + identity.api_version + " " + identity.namespace_ +
                       (identity.namespace_.empty() ? "" : "/") + identity.name;
    if (identity.kind.empty() || identity.name.empty()) name += " (request.objects[" + std::to_string(position) + "])";
    if (call_.stop.stop_requested()) {
      return Fail(Code::kTimeout,
                  name + ": the time of the review has passed after " + std::to_string(position) + " objects");
    }
    const auto [own_group, own_version] = SplitVersion(identity.api_version);
    const auto found = declared_->kinds.find({group, identity.kind});
    const bool known = found != declared_->kinds.end() && own_group == group && found->second.Has(own_version) &&
                       found->second.Has(version);
    if (!known) {
      return Fail(Code::kInvalid, name + ": no conversion from " + identity.api_version + " to " +
                                      VersionOf(group, version) + "; " +
                                      (found == declared_->kinds.end()
                                           ? "the manager declares no versions of this kind: see Manager::Conversion()"
                                           : "the manager declares " + found->second.str() + " of " + group));
    }
    const Item item{found->second, std::move(name), own_version, version};
    if (item.from == item.to) {
      if (!ParseJson(json)) return Fail(Code::kDecode, item.name + ": the object is not JSON");
      out += json;
      return {};
    }
    Result<std::string> converted = Guarded(item, json);
    if (!converted) {
      const Error& error = converted.error();
      return Fail(error.code(), item.name + ": conversion to " + version + " failed: " + error.ToString());
    }
    out += *converted;
    return {};
  }

  // The functions may throw.
  Result<std::string> Guarded(const Item& item, std::string_view json) {
    try {
      if (item.from == item.versions.hub) return FromHub(item, json);
      Result<std::string> hub = ToHub(item, json);
      return !hub || item.to == item.versions.hub ? std::move(hub) : FromHub(item, *hub);
    } catch (...) {
      ++handler_.panics_;
      return Fail(detail::ErrorOfThrown("the conversion function"));
    }
  }

  Result<std::string> ToHub(const Item& item, std::string_view json) {
    const detail::SpokeSpec& spoke = item.versions.spokes.find(item.from)->second;
    if (!item.versions.keeps_lost) return spoke.to_hub(json);
    const Result<std::optional<TakenLost>> taken = TakeLost(json);
    if (!taken) return Fail(taken.error());
    if (!*taken) return spoke.to_hub(json);
    Result<std::string> hub = spoke.to_hub((*taken)->object);
    if (!hub) return hub;
    Result<RestoredLost> restored = RestoreLost({item.versions.hub, item.from}, *hub, (*taken)->object, (*taken)->data);
    if (!restored) return Fail(std::move(restored).error());
    if (!restored->ignored.empty() && ignored_++ == 0) {
      first_ignored_ = {item.name, restored->ignored};
    }
    return std::move(restored->hub);
  }

  Result<std::string> FromHub(const Item& item, std::string_view json) {
    const detail::SpokeSpec& spoke = item.versions.spokes.find(item.to)->second;
    if (!item.versions.keeps_lost) return spoke.from_hub(json);
    // An old annotation, for instance of an object that was copied from another version.
    const Result<std::optional<TakenLost>> taken = TakeLost(json);
    if (!taken) return Fail(taken.error());
    const std::string_view hub = *taken ? std::string_view((*taken)->object) : json;
    Result<std::string> converted = spoke.from_hub(hub);
    if (!converted) return converted;
    Result<std::string> back = spoke.to_hub(*converted);
    if (!back) {
      WarnOnce(item, "the object in version " + item.to + " cannot be converted back to " + item.versions.hub +
                         ", so what it cannot say is not kept: " + back.error().ToString());
      return converted;
    }
    const Result<std::string> data = FindLost({item.versions.hub, item.to}, hub, *back, *converted);
    if (!data) return Fail(data.error());
    if (data->empty()) return converted;
    Result<std::optional<std::string>> with = AddLost(*converted, *data);
    if (!with) return Fail(std::move(with).error());
    if (*with) return **std::move(with);
    WarnOnce(item, "what version " + item.to + " cannot say is not kept, because it has " +
                       std::to_string(data->size()) + " bytes: 128 KiB are kept in the annotation " +
                       std::string(kLostAnnotation) +
                       ", and 256 KiB in all annotations. A write of the object in that " + "version loses it");
    return converted;
  }

  // What is not kept is reported once for each kind, because every read of such an object converts it.
  void WarnOnce(const Item& item, const std::string& message) {
    if (!handler_.IsFirstNotKept(item.versions)) return;
    handler_.Warn(item.name, message + ". Further objects of this kind are not reported");
  }

  // One warning for a review, however many objects it has.
  void Report() const {
    if (ignored_ == 0) return;
    std::string text =
        "the data in the annotation " + std::string(kLostAnnotation) + " is ignored: " + first_ignored_.second;
    if (ignored_ > 1) text += " (and of " + std::to_string(ignored_ - 1) + " more objects of the review)";
    handler_.Warn(first_ignored_.first, text);
  }

  ConversionHandler& handler_;
  const WebhookCall& call_;
  const Shared<const DeclaredVersions> declared_;
  std::size_t ignored_ = 0;
  std::pair<std::string, std::string> first_ignored_{};  // the object, and why
};

Shared<const DeclaredVersions> ConversionHandler::declared() const {
  const MutexLock lock(mutex_);
  return declared_;
}

bool ConversionHandler::IsFirstNotKept(const KindVersions& versions) {
  const MutexLock lock(mutex_);
  return not_kept_.emplace(versions.group, versions.kind).second;
}

void ConversionHandler::Warn(std::string_view key, std::string_view message) const {
  const Shared<Observer> observer = routes_->context().observer;
  if (!observer) return;
  observer->OnLogged({.source = "conversion", .key = key, .message = message, .level = LogLevel::kWarning});
}

Result<KindVersions*> ConversionHandler::VersionsOf(DeclaredVersions& declared, const KindInfo& hub) {
  KindVersions& versions = declared.kinds[{std::string(hub.group), std::string(hub.kind)}];
  if (versions.hub.empty()) {
    versions.group = hub.group;
    versions.kind = hub.kind;
    versions.hub = hub.version;
  }
  if (versions.hub != hub.version) {
    return Fail(Code::kInvalidArgument, "conversion of " + versions.kind + ": the hub is " + versions.hub +
                                            " already, so " + std::string(hub.version) +
                                            " cannot be one; declare it with Spoke()");
  }
  return &versions;
}

Result<void> ConversionHandler::Add(detail::SpokeSpec spec) {
  if (spec.hub == nullptr || spec.spoke == nullptr) {
    return Fail(Code::kInvalidArgument, "conversion: a type names no kind; hub and spokes are kinds with a version");
  }
  const std::string spoke = std::string(spec.spoke->kind) + " " + VersionOf(spec.spoke->group, spec.spoke->version);
  const std::string hub = std::string(spec.hub->kind) + " " + VersionOf(spec.hub->group, spec.hub->version);
  if (spec.spoke->group != spec.hub->group || spec.spoke->kind != spec.hub->kind) {
    return Fail(Code::kInvalidArgument,
                "conversion: the spoke " + spoke + " has another group or kind than the hub " + hub);
  }
  const MutexLock lock(mutex_);
  auto next = MakeShared<DeclaredVersions>();
  next->kinds = declared_->kinds;
  Result<KindVersions*> versions = VersionsOf(*next, *spec.hub);
  if (!versions) return Fail(std::move(versions).error());
  if ((*versions)->Has(spec.spoke->version)) {
    return Fail(Code::kInvalidArgument, "conversion: " + spoke + " is declared twice");
  }
  std::string version(spec.spoke->version);
  (*versions)->spokes.emplace(std::move(version), std::move(spec));
  declared_ = std::move(next);
  return {};
}

Result<void> ConversionHandler::KeepLost(const KindInfo& hub) {
  const MutexLock lock(mutex_);
  auto next = MakeShared<DeclaredVersions>();
  next->kinds = declared_->kinds;
  Result<KindVersions*> versions = VersionsOf(*next, hub);
  if (!versions) return Fail(std::move(versions).error());
  (*versions)->keeps_lost = true;
  declared_ = std::move(next);
  return {};
}

std::string ConversionHandler::Answer(std::string_view review, const WebhookCall& call) {
  try {
    ConversionRequest request;
    Result<void> result = ReadReview(review, request);
    if (result) {
      std::string out = Head(request) + ",\"convertedObjects\":[";
      // Another version may need more text. To grow would copy the answer, while memory that is not written costs
      // nothing.
      out.reserve(review.size() + review.size() / 2);
      result = Review(*this, call).Run(request, out);
      out += "],\"result\":{\"status\":\"Success\"}}}";
      if (result) return out;
    }
    Warn("", result.error().message());
    return Failure(request, result.error());
  } catch (...) {  // there is no memory for the answer
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"","result":)"
           R"({"status":"Failure","message":"out of memory","code":500}}})";
  }
}

std::string ConversionHandler::AnswerTooLarge(std::size_t limit) {
  return Failure({}, Error(Code::kRequestTooLarge, "the conversion review has more than " + std::to_string(limit) +
                                                       " bytes; see WebhookOptions::max_conversion_bytes"));
}

}  // namespace kgen::controller

namespace kgen::detail {
namespace {

// Returns the handler at "/convert", which the first declaration adds.
Result<Shared<controller::WebhookHandler>> HandlerOf(const Shared<controller::WebhookRoutes>& routes) {
  Shared<controller::WebhookHandler> handler = routes->Find(controller::kConversionPath);
  if (!handler) {
    handler = MakeShared<controller::ConversionHandler>(routes.get());
    auto added = routes->Add(std::string(controller::kConversionPath), handler);
    if (!added) return Fail(std::move(added).error());
  }
  if (handler->kind() != controller::WebhookHandler::Kind::kConversion) {
    return Fail(Code::kInvalidArgument, "conversion: the path '/convert' is taken by another webhook");
  }
  return handler;
}

template <typename F>
void Declare(const Shared<controller::WebhookRoutes>& routes, F declare) {
  const auto handler = HandlerOf(routes);
  if (!handler) return routes->Refuse(handler.error());
  auto declared = declare(static_cast<controller::ConversionHandler&>(**handler));
  if (!declared) routes->Refuse(std::move(declared).error());
}

}  // namespace

void AddSpoke(const Shared<controller::WebhookRoutes>& routes, SpokeSpec spec) {
  Declare(routes, [&](controller::ConversionHandler& handler) { return handler.Add(std::move(spec)); });
}

void KeepLost(const Shared<controller::WebhookRoutes>& routes, const KindInfo* hub) {
  if (hub == nullptr) {
    return routes->Refuse(Error(Code::kInvalidArgument,
                                "conversion: KeepsWhatIsLost() of a hub that is no kind; mark it with +kgen:resource"));
  }
  Declare(routes, [&](controller::ConversionHandler& handler) { return handler.KeepLost(*hub); });
}

}  // namespace kgen::detail
