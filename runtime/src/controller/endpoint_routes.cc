// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/endpoint_routes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/mutex.h"
#include "core/notify_observer.h"
#include "core/throttled_observer.h"

namespace kgen::controller {
namespace {

constexpr std::string_view kRoots[] = {"/healthz", "/readyz", "/debug"};  // by kind

std::string_view RootOf(EndpointRoutes::Kind kind) { return kRoots[static_cast<std::size_t>(kind)]; }

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

// The pairs of a query. Values are not decoded, because names need no encoding.
std::vector<std::pair<std::string_view, std::string_view>> PairsOf(std::string_view query) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equal = std::min(pair.find('='), pair.size());
    pairs.emplace_back(pair.substr(0, equal), pair.substr(std::min(equal + 1, pair.size())));
  }
  return pairs;
}

}  // namespace

// What a request asks for.
struct EndpointRoutes::Target {
  explicit Target(const net::ServerRequest& request)
      : verb(request.method == "GET" ? "get" : "head"),
        path(request.path.substr(0, request.path.find('?'))),
        query(path.size() < request.path.size() ? request.path.substr(path.size() + 1) : std::string()) {}

  // The name below a root: "" for /healthz and /healthz/, "db" for /healthz/db; nothing for another root.
  std::optional<std::string_view> Below(std::string_view root) const {
    const std::string_view whole = path;
    if (!whole.starts_with(root)) return std::nullopt;
    const std::string_view rest = whole.substr(root.size());
    if (rest.empty()) return rest;
    return rest.front() == '/' ? std::optional(rest.substr(1)) : std::nullopt;
  }

  std::string verb, path, query;
};

// Collects the results of several calls, in their order.
class EndpointRoutes::Gathering final : public SharedObject {
 public:
  using Done = std::move_only_function<void(const Results&)>;

  static void Start(const Calls& calls, Done done) {
    if (calls.empty()) return done({});
    const auto gathering = MakeShared<Gathering>(calls.size(), std::move(done));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i]->Call([gathering, i](Result<std::string> result) { gathering->Set(i, std::move(result)); });
    }
  }

  Gathering(std::size_t size, Done done) : done_(std::move(done)), left_(size), results_(size) {}

 private:
  void Set(std::size_t i, Result<std::string> result) {
    {
      const MutexLock lock(mutex_);
      results_[i] = std::move(result);
      if (--left_ > 0) return;
    }
    Finish();
  }
  // Nobody else uses the results any more.
  void Finish() KGEN_NO_THREAD_SAFETY_ANALYSIS { done_(results_); }

  Done done_;
  Mutex mutex_;
  std::size_t left_ KGEN_GUARDED_BY(mutex_);
  Results results_ KGEN_GUARDED_BY(mutex_);
};

EndpointRoutes::EndpointRoutes(const EndpointOptions& options, Shared<Executor> executor, Shared<Activity> activity,
                               Shared<net::EventLoop> loop)
    : executor_(std::move(executor)),
      observer_(options.observer ? options.observer : MakeShared<ThrottledObserver>(Shared<Observer>(), executor_)),
      activity_(std::move(activity)),
      loop_(std::move(loop)) {
  if (options.authorize) access_ = MakeShared<AccessReview>(*options.authorize);
  if (options.metrics) {
    metrics_ = MakeShared<SharedCall>(
        "/metrics", [metrics = *options.metrics](const std::stop_token&) { return metrics.Text(); }, executor_,
        activity_);
  }
}

Result<void> EndpointRoutes::Add(Kind kind, std::string_view name, SharedCall::Function function) {
  const std::string path = std::string(RootOf(kind)) + "/" + std::string(name);
  if (!IsName(name)) {
    return Fail(Code::kInvalidArgument,
                "endpoint " + path + ": a name has one or more letters, digits, '.', '_' and '-'");
  }
  if (!function) return Fail(Code::kInvalidArgument, "endpoint " + path + ": the function is empty");
  for (const auto& call : Of(kind)) {
    if (call->name() == path) return Fail(Code::kInvalidArgument, "endpoint " + path + ": the name is taken");
  }
  Of(kind).push_back(MakeShared<SharedCall>(path, std::move(function), executor_, activity_));
  return {};
}

void EndpointRoutes::Handle(net::ServerRequest request, const Shared<net::ResponseWriter>& writer) {
  Target target(request);
  const bool debug = target.Below("/debug") == "" && !Of(Kind::kDebug).empty();
  const bool restricted = debug || (metrics_ && target.path == "/metrics");
  if (!restricted && !target.Below("/healthz") && !target.Below("/readyz")) {
    return Respond(writer, 404, "404 page not found\n");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return Respond(writer, 405, "405 method not allowed\n", {{"allow", "GET, HEAD"}});
  }
  if (!restricted || !access_) return Serve(target, writer);
  auto decided = [self = Shared<EndpointRoutes>(this), target, writer](AccessReview::Verdict verdict) {
    if (verdict.error) self->Report(target.path, *verdict.error);
    if (verdict.status == 200) return self->Serve(target, writer);
    std::vector<HttpHeader> more;
    if (verdict.status == 401) more.push_back({"www-authenticate", "Bearer"});
    self->Respond(writer, verdict.status, verdict.message + "\n", std::move(more));
  };
  access_->Review(request.Header("authorization"), target.verb, target.path, std::move(decided));
}

void EndpointRoutes::Serve(const Target& target, const Shared<net::ResponseWriter>& writer) {
  for (const Kind kind : {Kind::kHealth, Kind::kReady}) {
    const auto below = target.Below(RootOf(kind));
    if (below) return below->empty() ? ServeAll(kind, target, writer) : ServeOne(kind, target, writer);
  }
  target.path == "/metrics" ? ServeMetrics(target, writer) : ServeDebug(writer);
}

void EndpointRoutes::ServeAll(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer) {
  bool verbose = false;
  std::vector<std::string> unknown;
  Calls calls = Of(kind), excluded;
  const bool ping = calls.empty();
  bool no_ping = false;
  for (const auto& [key, value] : PairsOf(target.query)) {
    verbose = verbose || key == "verbose";
    if (key != "exclude") continue;
    const std::string path = std::string(RootOf(kind)) + "/" + std::string(value);
    const auto found = std::ranges::find(calls, path, [](const auto& call) { return call->name(); });
    if (found != calls.end()) {
      excluded.push_back(*found);
      calls.erase(found);
    } else if (ping && value == "ping") {
      no_ping = true;
    } else if (std::ranges::find(excluded, path, [](const auto& call) { return call->name(); }) == excluded.end()) {
      unknown.push_back("\"" + std::string(value) + "\"");
    }
  }
  auto finish = [self = Shared<EndpointRoutes>(this), kind, calls, writer, verbose, ping, no_ping,
                 unknown = std::move(unknown)](const Results& results) {
    const std::string name(RootOf(kind).substr(1));
    std::string body;
    bool failed = false;
    if (ping) body = no_ping ? "[+]ping excluded: ok\n" : "[+]ping ok\n";
    for (const auto& call : self->Of(kind)) {
      const std::string check = call->name().substr(RootOf(kind).size() + 1);
      const auto found = std::ranges::find(calls, call);
      if (found == calls.end()) {
        body += "[+]" + check + " excluded: ok\n";
        continue;
      }
      const auto& result = results[static_cast<std::size_t>(found - calls.begin())];
      body += result ? "[+]" + check + " ok\n" : "[-]" + check + " failed: reason withheld\n";
      if (!result) self->Report(call->name(), result.error());
      failed = failed || !result;
    }
    std::string list;
    for (const std::string& each : unknown) list += (list.empty() ? "" : ",") + each;
    if (!list.empty()) body += "warn: some health checks cannot be excluded: no matches for " + list + "\n";
    if (!failed && !verbose) return self->Respond(writer, 200, "ok");
    self->Respond(writer, failed ? 500 : 200, body + name + " check " + (failed ? "failed\n" : "passed\n"));
  };
  Gathering::Start(calls, std::move(finish));
}

void EndpointRoutes::ServeOne(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer) {
  const Calls& calls = Of(kind);
  if (calls.empty() && target.Below(RootOf(kind)) == "ping") return Respond(writer, 200, "ok");
  const auto found = std::ranges::find(calls, target.path, [](const auto& call) { return call->name(); });
  if (found == calls.end()) return Respond(writer, 404, "404 page not found\n");
  (*found)->Call([self = Shared<EndpointRoutes>(this), path = target.path, writer](const Result<std::string>& result) {
    if (result) return self->Respond(writer, 200, "ok");
    self->Report(path, result.error());
    self->Respond(writer, 500, "internal server error: reason withheld\n");
  });
}

void EndpointRoutes::ServeMetrics(const Target& target, const Shared<net::ResponseWriter>& writer) {
  metrics_->Call([self = Shared<EndpointRoutes>(this), path = target.path, writer](Result<std::string> text) {
    if (text) {
      return self->Respond(writer, 200, *std::move(text),
                           {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}});
    }
    self->Report(path, text.error());
    self->Respond(writer, 500, "internal server error: reason withheld\n");
  });
}

void EndpointRoutes::ServeDebug(const Shared<net::ResponseWriter>& writer) {
  Gathering::Start(Of(Kind::kDebug), [self = Shared<EndpointRoutes>(this), writer](const Results& results) {
    std::string body;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto& call = self->Of(Kind::kDebug)[i];
      if (!results[i]) self->Report(call->name(), results[i].error());
      body += (body.empty() ? "# " : "\n# ") + call->name().substr(RootOf(Kind::kDebug).size() + 1) + "\n";
      body += results[i] ? *results[i] : "failed: reason withheld";
      if (!body.ends_with('\n')) body += '\n';
    }
    self->Respond(writer, 200, std::move(body));
  });
}

// Posted, so that the whole response is there when the session looks at it, and its length is known.
void EndpointRoutes::Respond(const Shared<net::ResponseWriter>& writer, int status, std::string body,
                             std::vector<HttpHeader> more) const {
  if (more.empty() || more.front().name != "content-type") {
    more.insert(more.begin(), {"content-type", "text/plain; charset=utf-8"});
  }
  more.push_back({"x-content-type-options", "nosniff"});
  more.push_back({"cache-control", "no-store"});
  loop_->Post([writer, status, body = std::move(body), more = std::move(more)]() mutable {
    writer->Head(status, std::move(more));
    writer->Write(std::move(body));
    writer->End();
  });
}

void EndpointRoutes::Stop() {
  if (metrics_) metrics_->Stop();
  for (const Calls& calls : calls_) {
    for (const auto& call : calls) call->Stop();
  }
}

std::string EndpointRoutes::Running() {
  Calls all;
  if (metrics_) all.push_back(metrics_);
  for (const Calls& calls : calls_) all.insert(all.end(), calls.begin(), calls.end());
  std::string names;
  for (const auto& call : all) {
    if (call->running()) names += (names.empty() ? "" : ", ") + call->name();
  }
  return names;
}

void EndpointRoutes::Report(const std::string& path, const Error& error) {
  NotifyObserver(observer_, [&](Observer& o) { o.OnCheckFailed({.check = path, .error = &error}); });
}

}  // namespace kgen::controller
