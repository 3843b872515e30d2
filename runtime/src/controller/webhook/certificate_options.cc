// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/certificate_options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "client/auth/kubeconfig.h"
#include "core/dns_names.h"
#include "net/duration_text.h"
#include "net/event_loop.h"

namespace kgen::controller {
namespace {

std::unexpected<Error> RefuseOption(const std::string& option, const std::string& why) {
  return Fail(Code::kInvalidArgument, "ManagedCertificates::" + option + " " + why);
}

std::string InQuotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

Result<void> CheckLabel(const std::string& option, const std::string& value) {
  if (detail::IsDnsLabel(value)) return {};
  return RefuseOption(option, "is " + InQuotes(value) +
                                  "; it must be lower-case letters, digits and inner dashes, at most 63 characters");
}

Result<void> CheckSubdomain(const std::string& option, const std::string& value) {
  if (detail::IsDnsSubdomain(value)) return {};
  return RefuseOption(option,
                      "has " + InQuotes(value) + "; it must be lower-case letters, digits, dots and inner dashes");
}

Result<void> CheckNames(const ManagedCertificates& options) {
  if (options.service.empty() && options.url.empty()) {
    return RefuseOption("service", "is empty: name the Service that the API server calls, or a `url`");
  }
  if (!options.service.empty()) {
    if (Result<void> good = CheckLabel("service", options.service); !good) return good;
  }
  if (Result<void> good = CheckLabel("namespace_", options.namespace_); !good) return good;
  if (Result<void> good = CheckSubdomain("secret", options.secret); !good) return good;
  for (const auto& [option, list] :
       {std::pair("configurations", &options.configurations), std::pair("crds", &options.crds)}) {
    for (const std::string& name : *list) {
      if (Result<void> good = CheckSubdomain(option, name); !good) return good;
    }
  }
  for (const std::string& name : options.names) {
    if (net::IsIpAddress(name)) continue;
    if (Result<void> good = CheckSubdomain("names", name); !good) return good;
  }
  return {};
}

Result<void> CheckTimes(const ManagedCertificates& options) {
  using net::DurationText;
  constexpr Nanos kShortest = std::chrono::minutes(1);
  constexpr Nanos kLongest = std::chrono::hours(24 * 365 * 50);  // a sum of two fits into Nanos
  const auto refuse = [](const char* option, Nanos value, const std::string& why) {
    return RefuseOption(option, "is " + DurationText(value) + "; it must be " + why);
  };
  const std::string range = DurationText(kShortest) + " to " + DurationText(kLongest);
  if (options.validity < kShortest || options.validity > kLongest) return refuse("validity", options.validity, range);
  if (options.ca_validity > kLongest || options.ca_validity / 2 < options.validity) {
    return refuse("ca_validity", options.ca_validity,
                  "at least twice `validity`, and at most " + DurationText(kLongest));
  }
  if (options.renew_before && (*options.renew_before <= Nanos() || *options.renew_before > options.validity / 2)) {
    return refuse("renew_before", *options.renew_before, "positive, and at most half of `validity`");
  }
  const Nanos renew_before = options.renew_before.value_or(options.validity / 3);
  if (options.settle < Nanos() || options.settle > renew_before) {
    return refuse("settle", options.settle, "zero or positive, and at most `renew_before`");
  }
  if (options.poll <= Nanos() || options.poll > renew_before) {
    return refuse("poll", options.poll, "positive, and at most `renew_before`");
  }
  return {};
}

// Returns the host of https://HOST[:PORT].
Result<std::string> HostOfUrl(const std::string& url) {
  constexpr std::string_view kScheme = "https://";
  std::string_view rest = url;
  const bool https = rest.starts_with(kScheme);
  if (https) rest.remove_prefix(kScheme.size());
  std::string_view host = rest;
  std::string_view port;
  if (const std::size_t end = rest.find(']'); rest.starts_with('[') && end != std::string_view::npos) {
    host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
  } else if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    host = rest.substr(0, colon);
    port = rest.substr(colon);
  }
  const bool good_port = port.empty() || (port.starts_with(':') && port.size() > 1 && port.size() <= 6 &&
                                          port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  if (!https || !good_port || (!net::IsIpAddress(host) && !detail::IsDnsSubdomain(host))) {
    return RefuseOption("url", "is " + InQuotes(url) +
                                   "; write https://HOST or https://HOST:PORT without a path, because the paths are "
                                   "in the configurations");
  }
  return std::string(host);
}

Result<std::vector<std::string>> NamesOf(const ManagedCertificates& options) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  };
  if (!options.service.empty()) {
    const std::string name = options.service + "." + options.namespace_ + ".svc";
    add(name);
    add(name + ".cluster.local");
  }
  if (!options.url.empty()) {
    Result<std::string> host = HostOfUrl(options.url);
    if (!host) return Fail(host.error());
    add(*std::move(host));
    for (const char* each : {"localhost", "127.0.0.1", "::1"}) add(each);
  }
  for (const std::string& name : options.names) add(name);
  return names;
}

}  // namespace

Result<CertificateSetup> SetUpCertificates(ManagedCertificates options) {
  if (options.namespace_.empty()) {
    const Result<rest::Config> in_cluster = client::InClusterConfig(client::Surroundings::OfProcess());
    if (in_cluster) options.namespace_ = in_cluster->namespace_;
    if (options.namespace_.empty()) {
      return RefuseOption("namespace_",
                          "is empty, and there is no service account of a pod: name the namespace of the "
                          "Service and the Secret");
    }
  }
  if (options.secret.empty()) {
    options.secret = options.service.empty() ? "webhook-certificates" : options.service + "-certificates";
  }
  if (Result<void> good = CheckNames(options); !good) return Fail(good.error());
  if (Result<void> good = CheckTimes(options); !good) return Fail(good.error());
  Result<std::vector<std::string>> names = NamesOf(options);
  if (!names) return Fail(names.error());
  CertificateSetup setup{.names = *std::move(names),
                         .around = {.namespace_ = options.namespace_, .crds = !options.crds.empty()}};
  Result<std::vector<WebhookManifest>> install = ReadWebhookManifests(options.install, options.url, setup.around);
  if (!install) return Fail(install.error());
  setup.install = *std::move(install);
  setup.options = std::move(options);
  return setup;
}

}  // namespace kgen::controller
