// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// RequestLog: one attempt of a request, for an observer that wants requests in its log (Observer::Requested).
//
// It never has what must not be in a log, whatever the level:
//   headers   the values of all but a few that are known to hold no secret
//   bodies    of Secrets, tokens, reviews, certificate requests and proxied requests, whose queries it leaves out, too;
//             and plain text such as a pod's log
//   tokens    that this process sends (core/secrets.h), wherever a server repeats them
#ifndef KGEN_SRC_CLIENT_REQUEST_REQUEST_LOG_H_
#define KGEN_SRC_CLIENT_REQUEST_REQUEST_LOG_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/observer.h"
#include "kgen/net/transport.h"

namespace kgen::client {

// Whether the bodies of requests for that path may hold secrets. `path` is escaped, as it is sent.
bool HidesBodies(std::string_view path);

// Thread safety: one thread at a time; an operation uses it on its strand.
class RequestLog {
 public:
  static constexpr std::size_t kShownBytes = 1024;  // of a body, and of the headers of a message

  // Begins for an attempt, which sends `http` for `request`. `origin` is what the URL has before the path of the
  // request.
  static std::unique_ptr<RequestLog> Begin(const Shared<Observer>& observer, Clock& clock, const ApiRequest& request,
                                           const HttpRequest& http, const std::string& origin, int attempt);

  // Reports a watch once it is open. What it then receives is not a part of the record.
  void OnHead(const HttpHead& head);
  void OnBytes(std::string_view bytes);
  // Reports the record, once. `error` says why there is no whole response.
  void Report(const Error* error) noexcept;

 private:
  struct Body {
    void Add(std::string_view bytes, bool keep);
    std::string Text(std::string_view content_type, bool hidden) const;
    std::string beginning{};
    std::size_t size = 0;
  };
  RequestLog(Shared<Observer> observer, Clock& clock, const ApiRequest& request, int attempt);

  const Shared<Observer> observer_;
  Clock& clock_;  // of the connection, which outlives its operations
  const TimePoint started_;
  const std::string method_, what_;
  const int attempt_;
  const bool detailed_;  // with headers and bodies
  const bool hides_bodies_;
  const bool streams_;
  bool reported_ = false;
  int status_ = 0;
  std::string url_{};
  std::string request_headers_{}, request_body_{}, response_headers_{}, response_type_{};
  Body response_body_{};
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_REQUEST_LOG_H_
