// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Endpoint: the HTTP server of a controller for the kubelet, Prometheus and people.
//
//   GET /healthz, /readyz     the named checks, as of their last run: 200 if all pass, else 500
//   GET /healthz/NAME, ...    one of them
//   GET /metrics              Metrics::Text()
//   GET /debug                the sections, as a page for people, as text or as JSON
//   GET /PATH                 pages of your own, see AddPage()
//
//   auto endpoint = kgen::Must(kgen::Endpoint::Listen({.address = ":8080", .metrics = metrics}));
//   kgen::Must(endpoint.AddReadyCheck("caches", [&](std::stop_token) { return Synced(); }));
//   kgen::Must(endpoint.Start());
//   ...
//   kgen::Must(endpoint.Stop(std::chrono::seconds(30)));
//
// /healthz and /readyz take `?verbose`, which lists the checks, and `?exclude=NAME`, any number of times. A failure
// always lists them. The reply does not say why a check failed; the observer gets the reason. If there is no check, the
// endpoint has one named "ping", which always passes.
//
// No probe waits for a check. A check runs once at Start(). For two minutes after a probe it runs every 5 seconds, and
// also when a probe arrives and the last run began at least a second ago. So results are at most 5 seconds old (plus
// the time of one run), and a process that nobody probes runs no checks. The header `age` of a reply is the age of the
// oldest result in it, in seconds; a list shows the age of each result that is older than a second: "[+]db ok (4s
// ago)". A check that has not completed yet passes for /healthz and fails for /readyz, as with the kubelet.
//
// /debug is HTML if the header `accept` names text/html, as browsers do; or else JSON if it names application/json; or
// else text, as for curl. The HTML loads nothing from elsewhere, and asks for itself again every five seconds while it
// is visible. Its content policy admits nothing but its own style and script, by a nonce.
//
// It speaks HTTP/1.1, also over TLS, with GET and HEAD. Requests have at most 16 KiB of headers, which must arrive
// within 32 seconds; an idle connection is closed after 90 seconds, and so is one whose client takes nothing of a
// response for 10 seconds. An address has at most 256 connections. A new one is never refused: instead, the endpoint
// closes the connection that has waited for a request for the longest time, or else the oldest one with a request for a
// page: /metrics, /debug or one of your own. At most 64 connections have such requests, and at most 8 large responses
// wait in memory for their readers: more requests of this kind close the connection of the oldest. If clients of
// several addresses compete, the one with the most connections loses one.
#ifndef KGEN_CONTROLLER_ENDPOINT_H_
#define KGEN_CONTROLLER_ENDPOINT_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/controller/metrics.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen {

namespace controller {
class ManagerState;
struct DebugSection;
}  // namespace controller

// The certificate and key of the endpoint, as PEM files. They are read again every 10 seconds; if they cannot be read
// or do not belong together, the pair before stays in use.
//
// Without any name, as in {.tls = TlsFiles()}, Endpoint::Listen() makes a certificate in memory. It is for localhost,
// 127.0.0.1, ::1 and the address of the endpoint, signed with its own key (P-256), and valid for a year. It encrypts,
// but it proves nothing: each process has another one, so clients must skip the verification (`insecure_skip_verify` of
// Prometheus).
struct TlsFiles {
  std::string certificate_file{};  // with the intermediate certificates
  std::string key_file{};
};

// The options of an Endpoint.
struct EndpointOptions {
  // Default: ":8080", which is this port of all addresses of the machine. "127.0.0.1:8080", "[::1]:8080",
  // "localhost:8080". Port 0 is any free one. "" turns the endpoint off: then it accepts every call and does nothing.
  std::string address = ":8080";
  // Default: `address`. If set, /healthz and /readyz are served here instead, and `address` has only the pages:
  // /metrics, /debug and what AddPage() adds. It is always plain HTTP: the kubelet does not verify certificates. It is
  // written like `address`, and may be used without it. The connections of one address take no room from the other.
  std::string health_address{};
  // Default: none. If set, /debug is served here, too, without a token, which a browser cannot send: for the page
  // through `kubectl port-forward`. It must be a loopback address, such as "127.0.0.1:6060", and is always plain HTTP.
  // Whoever may forward ports of the pod, or runs in it, can read the page. A request whose header `host` is not a name
  // of a loopback address is refused, so that no page of another site reads it in the same browser.
  std::string debug_address{};
  std::optional<TlsFiles> tls{};     // Default: plain HTTP. The certificate of `address`.
  std::optional<Metrics> metrics{};  // Default: there is no /metrics. With `tls`, reads of its files are counted there.
  // Default: everybody may read the pages. If set, they need a bearer token. The API server of this connection says
  // whose it is (TokenReview) and whether the user may `get` the path (SubjectAccessReview on the non-resource URL).
  // Use it with `tls`, because the token is not encrypted otherwise.
  //
  // The process may create tokenreviews.authentication.k8s.io and subjectaccessreviews.authorization.k8s.io. Answers
  // are kept: the user of a token for a minute, an allowed access for five minutes, a denied one for 30 seconds.
  std::optional<Connection> authorize{};
  // Default: threads of the endpoint, one for each function that runs at a time. Runs the functions of Endpoint. If you
  // give one, nothing else that may hang must run on it, because checks would wait for a free thread.
  Shared<Executor> executor{};
  Shared<Observer> observer{};  // Default: warnings on standard error. Gets the checks that failed.
};

// A page, as a function of AddPage() returns it.
struct EndpointPage {
  // What the response has.
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
};

// A handle to an endpoint; copies share it. The last one closes it, as Stop(0) does.
//
// Thread safety: all members from any thread. Only Stop() blocks, and Listen() while it reads the files.
//
// The functions run as Blocking work of the executor, and may block. Each of them runs at most once at a time: requests
// for metrics, sections and pages that arrive meanwhile share its result. One that has not returned after 10 seconds
// counts as failed, and its stop is requested; until it returns, it is not called again. An exception counts as a
// failure.
class Endpoint {
 public:
  // What is added: a check of health, a section of /debug, and a page.
  using Check = std::function<Result<void>(std::stop_token)>;
  using Section = std::function<std::string()>;
  using Page = std::function<Result<EndpointPage>(std::stop_token)>;

  // Binds the address. Connections are accepted, and wait until Start().
  // Errors: kConfig       the address is malformed, or `debug_address` is no loopback address, or a file cannot be read
  // or used, or only one of the two is named
  //         kUnavailable  the address is in use or not one of this machine
  //         kInternal     OpenSSL cannot make a certificate
  static Result<Endpoint> Listen(const EndpointOptions& options);

  // These three add a function by name. A name has letters, digits, '.', '_' and '-', and may be used once for each of
  // the three.
  // Errors: kInvalidArgument  the name is empty, malformed or taken, the function is empty, or Start() was called
  Result<void> AddHealthCheck(std::string_view name, Check check);
  Result<void> AddReadyCheck(std::string_view name, Check check);
  // Sections appear on /debug in the order of these calls, after a manager's own. What they return is plain text in
  // each form of the page.
  Result<void> AddDebugSection(std::string_view name, Section section);
  // Serves `page` at exactly this path, beside /metrics and under the same rules: GET and HEAD, with the token that
  // EndpointOptions::authorize asks for, never at `health_address`. The function does not see the query. If it fails,
  // the reply is 500 and does not say why; the observer gets the reason.
  // Errors: kInvalidArgument  the path is not one or more parts such as "/orders/open", which have letters, digits,
  //                           '.', '_' and '-'; or it is taken, or is or is below one of the endpoint's own (/healthz,
  //                           /readyz, /metrics, /debug); or the function is empty, or Start() was called
  Result<void> AddPage(std::string_view path, Page page);

  // Errors: kInvalidArgument  it was called before
  //         kStopped          Stop() was called before
  Result<void> Start();
  // Stops accepting, closes connections without a request, requests the stop of running functions, and waits until
  // requests are answered and functions have returned. After `limit`, it closes all connections and fails. Zero does
  // not wait, and does not fail; kNoLimit waits forever. A second call does nothing.
  // Errors: kTimeout          a request or a function was still running; the message names the functions
  //         kInvalidArgument  `limit` is negative: nothing is stopped
  //         kInvalidArgument, kDeadlock  as for Waiter::Wait(); everything is closed
  Result<void> Stop(Nanos limit);

  // Returns the address where it listens: "[::]:8080"; "" if it is off.
  const std::string& address() const noexcept;
  // Returns the address where it serves /healthz and /readyz: EndpointOptions::health_address, or else address().
  const std::string& health_address() const noexcept;
  // Returns the address of EndpointOptions::debug_address; "" without it.
  const std::string& debug_address() const noexcept;

 private:
  friend class controller::ManagerState;
  class Handle;
  // As AddDebugSection(), for sections with tables and plots.
  Result<void> AddDebugSectionOf(std::string_view name, std::function<controller::DebugSection()> section);
  explicit Endpoint(Shared<Handle> handle) noexcept;
  Shared<Handle> handle_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_ENDPOINT_H_
