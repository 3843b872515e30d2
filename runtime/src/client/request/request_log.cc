// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/request/request_log.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "core/observers/notify_observer.h"
#include "core/secrets.h"

namespace kgen::client {
namespace {

// A secret is recognized by its first bytes. So more is kept than is shown, and what could be a part of a secret that
// is no longer recognized is not shown.
constexpr std::size_t kMore = 64;
constexpr std::size_t kKeptBytes = RequestLog::kShownBytes + kMore;

// The headers whose values are shown. A list of those to hide would miss the ones that a proxy adds.
constexpr std::string_view kShownHeaders[] = {
    "accept", "audit-id",    "cache-control", "content-encoding", "content-length",   "content-type",
    "date",   "retry-after", "user-agent",    "warning",          "transfer-encoding"};

// Returns a segment of a path as the server reads it, in lower case.
std::string Decoded(std::string_view segment) {
  std::string text;
  for (std::size_t at = 0; at < segment.size(); ++at) {
    char c = segment[at];
    if (c == '%' && at + 2 < segment.size()) {
      unsigned char code = 0;
      const char* const digits = segment.data() + at + 1;
      if (std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
        c = static_cast<char>(code);
        at += 2;
      }
    }
    text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

std::string Hidden(std::string_view text, std::size_t size) {
  std::string shown(text.substr(0, kKeptBytes));
  detail::HideSecrets(shown);
  if (size <= RequestLog::kShownBytes) return shown;
  const std::size_t doubtful = size > kKeptBytes ? kMore : 0;
  shown.resize(std::min(shown.size() - std::min(shown.size(), doubtful), RequestLog::kShownBytes));
  return shown + "... (" + std::to_string(size) + " bytes)";
}

std::string Shown(const std::vector<HttpHeader>& headers) {
  std::string text;
  for (const HttpHeader& header : headers) {
    const bool known = std::ranges::find(kShownHeaders, header.name) != std::end(kShownHeaders);
    text.append(text.empty() ? "" : ", ").append(header.name).append(": ").append(known ? header.value : "(hidden)");
  }
  return Hidden(text, text.size());
}

bool IsText(std::string_view content_type) {
  return content_type.empty() || content_type.contains("json") || content_type.contains("yaml");
}

}  // namespace

bool HidesBodies(std::string_view path) {
  path = path.substr(0, path.find('?'));
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string segment = Decoded(path.substr(0, end));
    for (const std::string_view hidden : {"secrets", "token", "certificatesigningrequests", "proxy"}) {
      if (segment == hidden) return true;
    }
    // TokenReview, and all that say who may do what: SubjectAccessReview, SelfSubjectReview, ...
    if (segment.ends_with("reviews") || segment.ends_with("tokenrequests")) return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

void RequestLog::Body::Add(std::string_view bytes, bool keep) {
  size += bytes.size();
  if (keep) beginning.append(bytes.substr(0, kKeptBytes - beginning.size()));
}

std::string RequestLog::Body::Text(std::string_view content_type, bool hidden) const {
  if (size == 0) return {};
  if (hidden) return "(hidden, " + std::to_string(size) + " bytes)";
  if (!IsText(content_type)) return "(" + std::to_string(size) + " bytes)";
  return Hidden(beginning, size);
}

RequestLog::RequestLog(Shared<Observer> observer, Clock& clock, const ApiRequest& request, int attempt)
    : observer_(std::move(observer)),
      clock_(clock),
      started_(clock.Now()),
      method_(request.method),
      what_(request.what),
      attempt_(attempt),
      detailed_(observer_->IsEnabled(LogComponent::kClient, LogLevel::kTrace)),
      hides_bodies_(request.text || HidesBodies(request.path)),
      streams_(request.watch) {}

std::unique_ptr<RequestLog> RequestLog::Begin(const Shared<Observer>& observer, Clock& clock, const ApiRequest& request,
                                              const HttpRequest& http, const std::string& origin, int attempt) {
  auto log = std::unique_ptr<RequestLog>(new RequestLog(observer, clock, request, attempt));
  const std::size_t query = std::min(http.path.find('?'), http.path.size());
  log->url_ = origin + request.path;
  if (query < http.path.size()) log->url_ += HidesBodies(request.path) ? "?(hidden)" : http.path.substr(query);
  if (!log->detailed_) return log;
  log->request_headers_ = Shown(http.headers);
  Body body;
  body.Add(http.body, !log->hides_bodies_);
  log->request_body_ = body.Text(request.content_type, log->hides_bodies_);
  return log;
}

void RequestLog::OnHead(const HttpHead& head) {
  status_ = head.status;
  if (detailed_) {
    response_headers_ = Shown(head.headers);
    response_type_ = head.Header("content-type");
  }
  if (streams_ && status_ >= 200 && status_ <= 299) Report(nullptr);
}

void RequestLog::OnBytes(std::string_view bytes) {
  if (detailed_ && !reported_) response_body_.Add(bytes, !hides_bodies_);
}

void RequestLog::Report(const Error* error) noexcept {
  if (std::exchange(reported_, true)) return;
  NotifyObserver(observer_, [&](Observer& o) {
    const std::string body = response_body_.Text(response_type_, hides_bodies_);
    o.OnRequested({.method = method_,
                   .url = url_,
                   .what = what_,
                   .status = status_,
                   .took = clock_.Now() - started_,
                   .error = error,
                   .attempt = attempt_,
                   .detailed = detailed_,
                   .request_headers = request_headers_,
                   .request_body = request_body_,
                   .response_headers = response_headers_,
                   .response_body = body});
  });
}

}  // namespace kgen::client
