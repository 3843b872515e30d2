// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/config.h"

#include <string>
#include <string_view>

#include "net/duration_text.h"
#include "net/url.h"

namespace kgen {
namespace {

constexpr std::string_view kRedacted = "--- REDACTED ---";
constexpr std::string_view kTruncated = "--- TRUNCATED ---";

void Say(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out.append(", ").append(name).append(": ").append(value);
}

std::string Number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::string rest::Config::ToString() const {
  const auto hide = [](const std::string& secret, std::string_view mark) {
    return secret.empty() ? std::string_view() : mark;
  };
  std::string out = "host: " + (host.empty() ? "localhost" : net::WithoutUser(host));
  Say(out, "ca_data", hide(tls.ca_data, kTruncated));
  Say(out, "ca_file", tls.ca_file);
  Say(out, "certificate_data", hide(tls.certificate_data, kTruncated));
  Say(out, "certificate_file", tls.certificate_file);
  Say(out, "key_data", hide(tls.key_data, kRedacted));
  Say(out, "key_file", tls.key_file);
  Say(out, "server_name", tls.server_name);
  if (tls.insecure_skip_verify) Say(out, "insecure_skip_verify", "true");
  Say(out, "bearer_token", hide(bearer_token, kRedacted));
  Say(out, "bearer_token_file", bearer_token_file);
  Say(out, "exec", exec.command);
  Say(out, "proxy_url", net::WithoutUser(proxy_url));
  Say(out, "user_agent", user_agent);
  Say(out, "namespace", namespace_);
  if (!protobuf) Say(out, "protobuf", "false");
  if (qps) Say(out, "qps", Number(*qps));
  if (burst) Say(out, "burst", std::to_string(*burst));
  if (timeout && timeout != kNoLimit) Say(out, "timeout", net::DurationText(*timeout));
  return out;
}

}  // namespace kgen
