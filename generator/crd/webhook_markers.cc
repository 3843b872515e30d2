// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/webhook_markers.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/dns_names.h"
#include "generator/crd/marker_value.h"

namespace kgen::generator::crd {
namespace {

using Values = std::vector<std::string>;

bool Contains(const Values& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool IsNumberBetween(std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
}

// Returns why a server refuses the path of a webhook at a Service, or nothing.
std::string FaultOfPath(std::string_view path) {
  if (!path.starts_with('/')) return "it does not begin with a slash";
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment.empty()) return "it has an empty segment";
    if (!detail::IsDnsSubdomain(segment))
      return "its segment " + Quote(segment) + " is not of lower-case letters, digits, dashes and dots";
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
  }
  return {};
}

// Returns why a server refuses the URL of a webhook, or nothing.
std::string FaultOfUrl(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return "it does not begin with https://";
  const std::string_view rest = url.substr(kScheme.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  if (host.empty()) return "it names no host";
  if (host.contains('@')) return "it names a user";
  if (rest.find_first_of("?# ") != std::string_view::npos) return "it has a query, a fragment or a space";
  return {};
}

// "orders/status" is the resource "orders" and its subresource "status".
struct ResourceName {
  std::string_view resource, sub;
  bool has_sub;

  explicit ResourceName(std::string_view text)
      : resource(text.substr(0, text.find('/'))), has_sub(resource.size() != text.size()) {
    if (has_sub) sub = text.substr(resource.size() + 1);
  }
  bool IsValid() const {
    const auto named = [](std::string_view part) { return part == "*" || detail::IsDnsLabel(part); };
    return named(resource) && (!has_sub || named(sub));
  }
  // Whether a rule with this wildcard matches `other` too: a server refuses both in one list.
  bool Covers(const ResourceName& other) const {
    if (has_sub != other.has_sub) return false;
    if (!has_sub) return resource == "*";
    return sub == "*" ? resource == other.resource : resource == "*" && sub == other.sub;
  }
};

// Returns why a server refuses a list of resources, or nothing.
std::string FaultOfResources(const Values& resources) {
  for (const std::string& text : resources) {
    const ResourceName name(text);
    if (!name.IsValid())
      return Quote(text) + " is no resource: write the plural in lower case, as in orders or orders/status";
    if (text == "*/*" && resources.size() > 1) return "\"*/*\" covers all others: write it alone";
    for (const std::string& other : resources) {
      if (other != text && name.Covers(ResourceName(other)))
        return Quote(text) + " covers " + Quote(other) + ": leave one of the two out";
    }
  }
  return {};
}

// The arguments of one marker, with an error for each that a server would refuse.
class WebhookReader {
 public:
  WebhookReader(const Marker& marker, Diagnostics& diagnostics) : marker_(marker), diagnostics_(diagnostics) {}

  bool fine() const { return fine_; }

  bool Bool(std::string_view argument) {
    const std::string text = marker_.Arg(argument, "false");
    if (text != "true" && text != "false")
      Fail(argument, Quote(text) + " is neither true nor false", "write " + std::string(argument) + "=true");
    return text == "true";
  }

  // The value that `argument` has but for the case of its letters; "" if it is absent.
  std::string OneOf(std::string_view argument, std::initializer_list<std::string_view> values) {
    return marker_.args.contains(argument) ? Known(argument, marker_.Arg(argument), values) : std::string();
  }

  Values Operations() {
    Values out;
    for (const std::string& verb : List("verbs"))
      out.push_back(Known("verbs", verb, {"CREATE", "UPDATE", "DELETE", "CONNECT", "*"}));
    CheckWildcard("verbs", out);
    return out;
  }

  Values Groups() {
    Values out = List("groups");
    std::replace(out.begin(), out.end(), std::string("core"), std::string());  // as it is called in the API
    for (const std::string& group : out) {
      if (!group.empty() && group != "*" && !detail::IsDnsSubdomain(group))
        Fail("groups", Quote(group) + " is no API group", "write several as in groups=apps;batch, and core for pods");
    }
    CheckWildcard("groups", out);
    return out;
  }

  Values Versions() {
    Values out = List("versions");
    for (const std::string& version : out) {
      if (version != "*" && !detail::IsDnsLabel(version))
        Fail("versions", Quote(version) + " is no version", "write several as in versions=v1;v1beta1");
    }
    CheckWildcard("versions", out);
    return out;
  }

  Values Resources() {
    Values out = List("resources");
    if (const std::string fault = FaultOfResources(out); !fault.empty())
      Fail("resources", fault, "write several as in resources=orders;orders/status");
    return out;
  }

  // A server sends the first version that it knows, of v1 and v1beta1.
  Values ReviewVersions() {
    Values out = List("admissionReviewVersions");
    const auto first = std::find_if(out.begin(), out.end(),
                                    [](const std::string& version) { return version == "v1" || version == "v1beta1"; });
    if (first == out.end() || *first != "v1")
      Fail("admissionReviewVersions", "the webhooks of kgen answer v1, and a server takes the first version it knows",
           "write admissionReviewVersions=v1");
    return out;
  }

  void CheckWebhookVersions() {
    if (!marker_.list_args.contains("webhookVersions")) return;
    for (const std::string& version : List("webhookVersions")) {
      if (version != "v1")
        Fail("webhookVersions", "servers have v1 only, not " + Quote(version), "leave the argument out");
    }
  }

  std::string Name() {
    std::string name = marker_.Arg("name");
    if (!detail::IsDnsSubdomain(name) || std::count(name.begin(), name.end(), '.') < 2)
      Fail("name", Quote(name) + " is no domain with at least three parts", "write name=orders.shop.example.com");
    return name;
  }

  std::string Number(std::string_view argument, int least, int most) {
    std::string text = marker_.Arg(argument);
    if (marker_.args.contains(argument) && !IsNumberBetween(text, least, most))
      Fail(argument, Quote(text) + " is no number from " + std::to_string(least) + " to " + std::to_string(most),
           "leave it out for the default");
    return text;
  }

  std::string Label(std::string_view argument) {
    std::string text = marker_.Arg(argument);
    if (marker_.args.contains(argument) && !detail::IsDnsLabel(text))
      Fail(argument, Quote(text) + " is no name", "write lower-case letters, digits and dashes");
    return text;
  }

  // Where the server calls.
  void ReadClient(Webhook& out) {
    out.path = marker_.Arg("path");
    out.url = marker_.Arg("url");
    if (out.path.empty() == out.url.empty()) {
      Fail(out.path.empty() ? "path" : "url",
           out.path.empty() ? "it says neither where at the Service nor at which URL the server calls"
                            : "a webhook has a path at a Service or a URL, not both",
           "write path=/validate-shop-example-com-v1-order");
      return;
    }
    const std::string fault = out.url.empty() ? FaultOfPath(out.path) : FaultOfUrl(out.url);
    if (!fault.empty())
      Fail(out.url.empty() ? "path" : "url", Quote(out.url + out.path) + ": " + fault,
           out.url.empty() ? "write path=/validate-shop-example-com-v1-order"
                           : "write url=\"https://shop.example.com:9443/validate\"");
    for (const std::string_view argument : {"serviceName", "serviceNamespace", "servicePort"}) {
      if (!out.url.empty() && marker_.args.contains(argument))
        Fail(argument, "it has no effect beside url", "leave one of the two out");
    }
    out.service_name = Label("serviceName");
    out.service_namespace = Label("serviceNamespace");
    out.service_port = Number("servicePort", 1, 65535);
  }

  void CheckReinvocation(const Webhook& webhook) {
    if (!webhook.mutating && marker_.args.contains("reinvocationPolicy"))
      Fail("reinvocationPolicy", "it has no effect with mutating=false", "leave it out");
  }

 private:
  void Fail(std::string_view argument, const std::string& fault, const std::string& hint) {
    fine_ = false;
    diagnostics_.Error("webhook", marker_.origin, marker_.written + ": " + std::string(argument) + ": " + fault, {},
                       hint);
  }

  const Values& List(std::string_view argument) {
    static const Values kNone;
    const auto found = marker_.list_args.find(argument);
    return found == marker_.list_args.end() ? kNone : found->second;
  }

  std::string Known(std::string_view argument, const std::string& written,
                    std::initializer_list<std::string_view> values) {
    std::string all;
    for (const std::string_view value : values) {
      if (AsciiLower(value) == AsciiLower(written)) return std::string(value);
      all += (all.empty() ? "" : ", ") + std::string(value);
    }
    Fail(argument, "a server refuses " + Quote(written), "write one of " + all);
    return written;
  }

  void CheckWildcard(std::string_view argument, const Values& values) {
    if (values.size() > 1 && Contains(values, "*"))
      Fail(argument, "* covers all others", "write " + std::string(argument) + "=* alone, or leave * out");
  }

  const Marker& marker_;
  Diagnostics& diagnostics_;
  bool fine_ = true;
};

}  // namespace

std::optional<Webhook> ReadWebhook(const Marker& marker, Diagnostics& diagnostics) {
  WebhookReader reader(marker, diagnostics);
  Webhook out;
  out.origin = marker.origin;
  out.written = marker.written;
  out.name = reader.Name();
  out.mutating = reader.Bool("mutating");
  reader.ReadClient(out);
  out.groups = reader.Groups();
  out.versions = reader.Versions();
  out.resources = reader.Resources();
  out.operations = reader.Operations();
  out.failure_policy = reader.OneOf("failurePolicy", {"Fail", "Ignore"});
  out.match_policy = reader.OneOf("matchPolicy", {"Equivalent", "Exact"});
  out.side_effects = reader.OneOf("sideEffects", {"None", "NoneOnDryRun"});
  out.reinvocation_policy = reader.OneOf("reinvocationPolicy", {"Never", "IfNeeded"});
  reader.CheckReinvocation(out);
  out.timeout_seconds = reader.Number("timeoutSeconds", 1, 30);
  out.review_versions = reader.ReviewVersions();
  reader.CheckWebhookVersions();
  out.own_namespace = reader.Bool("ownNamespace");
  if (!reader.fine()) return std::nullopt;
  return out;
}

std::optional<WebhookConfiguration> ReadWebhookConfiguration(const Marker& marker, Diagnostics& diagnostics) {
  WebhookReader reader(marker, diagnostics);
  WebhookConfiguration out{.mutating = reader.Bool("mutating"),
                           .name = marker.Arg("name"),
                           .written = marker.written,
                           .origin = marker.origin};
  if (!out.name.empty() && !detail::IsDnsSubdomain(out.name)) {
    diagnostics.Error("webhook", marker.origin, marker.written + ": name: " + Quote(out.name) + " cannot be a name", {},
                      "write lower-case letters, digits, dashes and dots, as in name=shop");
    return std::nullopt;
  }
  if (!reader.fine()) return std::nullopt;
  return out;
}

std::expected<WebhookService, std::string> ParseWebhookService(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name_space = text.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  if (!detail::IsDnsLabel(name_space) || !detail::IsDnsLabel(name))
    return std::unexpected(Quote(text) +
                           " is not the namespace and the name of a Service; write, for example, "
                           "shop/shop-webhook");
  return WebhookService{.name_space = std::string(name_space), .name = std::string(name)};
}

Tree ClientConfig(const WebhookService& service, std::string_view path) {
  Tree out;
  out["service"]["name"] = Tree::Text(service.name);
  out["service"]["namespace"] = Tree::Text(service.name_space);
  out["service"]["path"] = Tree::Text(path);
  return out;
}

}  // namespace kgen::generator::crd
