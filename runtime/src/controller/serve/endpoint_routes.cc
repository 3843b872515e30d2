// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/endpoint_routes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/memory/mutex.h"
#include "core/observers/notify_observer.h"
#include "core/observers/throttled_observer.h"
#include "kgen/core/function.h"

namespace kgen::controller {
namespace {

constexpr std::size_t kLargeBytes = 64 * 1024;
constexpr std::string_view kRoots[] = {"/healthz", "/readyz"};  // by kind
constexpr std::string_view kDebug = "/debug";
constexpr std::string_view kPlainText = "text/plain; charset=utf-8";

std::string_view RootOf(EndpointRoutes::Kind kind) { return kRoots[static_cast<std::size_t>(kind)]; }

bool IsName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

// One or more names, each after a '/'.
bool IsPath(std::string_view path) {
  while (path.starts_with('/')) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    if (!IsName(path.substr(1, end - 1))) return false;
    path.remove_prefix(end);
    if (path.empty()) return true;
  }
  return false;
}

bool IsReserved(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/', 1));
  return first == "/metrics" || first == kDebug || std::ranges::find(kRoots, first) != std::end(kRoots);
}

bool IsDebug(std::string_view path) { return path == kDebug || path == "/debug/"; }

bool HasControls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// The query of a request for checks. Values are not decoded, because names need no encoding.
struct Exclusions {
  explicit Exclusions(std::string_view query) {
    while (!query.empty()) {
      const std::size_t end = std::min(query.find('&'), query.size());
      const std::string_view pair = query.substr(0, end);
      query.remove_prefix(std::min(end + 1, query.size()));
      const std::size_t equal = std::min(pair.find('='), pair.size());
      const std::string_view key = pair.substr(0, equal), value = pair.substr(std::min(equal + 1, pair.size()));
      verbose = verbose || key == "verbose";
      if (key == "exclude" && !Has(value)) names.push_back(value);
    }
  }

  bool Has(std::string_view name) const { return std::ranges::find(names, name) != names.end(); }
  // Returns the checks that are not in `known`: "\"a\",\"b\"".
  std::string Without(const std::vector<std::string_view>& known) const {
    std::string list;
    for (const std::string_view name : names) {
      if (std::ranges::find(known, name) != known.end()) continue;
      list.append(list.empty() ? "\"" : ",\"").append(name).append("\"");
    }
    return list;
  }

  bool verbose = false;
  std::vector<std::string_view> names{};  // without repetitions
};

}  // namespace

// What a request asks for.
struct EndpointRoutes::Target {
  explicit Target(const net::ServerRequest& request)
      : verb(request.method == "GET" ? "get" : "head"),
        path(request.path.substr(0, request.path.find('?'))),
        query(path.size() < request.path.size() ? request.path.substr(path.size() + 1) : std::string()),
        form(FormFor(request.Header("accept"))) {}

  // The name below a root: "" for /healthz and /healthz/, "db" for /healthz/db; nothing for another root.
  std::optional<std::string_view> Below(std::string_view root) const {
    const std::string_view whole = path;
    if (!whole.starts_with(root)) return std::nullopt;
    const std::string_view rest = whole.substr(root.size());
    if (rest.empty()) return rest;
    return rest.front() == '/' ? std::optional(rest.substr(1)) : std::nullopt;
  }

  std::string verb, path, query;
  DebugForm form;  // of /debug
};

// A text that counts as long as it exists, if it is large.
class EndpointRoutes::Answer final : public net::SharedText {
 public:
  Answer(std::string of, Shared<Large> count, std::string type = std::string(kPlainText))
      : SharedText(Shrunk(std::move(of))), content_type(std::move(type)) {
    if (text.size() <= kLargeBytes) return;
    large_ = std::move(count);
    ++large_->count;
  }
  ~Answer() override {
    if (large_) --large_->count;
  }

  const std::string content_type;

 private:
  static std::string Shrunk(std::string of) {
    of.shrink_to_fit();
    return of;
  }

  Shared<Large> large_;
};

// What one section shows, as the result of a call.
class EndpointRoutes::Part final : public net::SharedText {
 public:
  explicit Part(DebugSection of) : SharedText({}), section(std::move(of)) {}
  const DebugSection section;
};

// Collects the results of several calls, in their order.
class EndpointRoutes::Gathering final : public SharedObject {
 public:
  using Done = UniqueFunction<void(const Results&)>;

  // `calls` is not empty.
  static void Start(const Calls& calls, Done done) {
    const auto gathering = MakeShared<Gathering>(calls.size(), std::move(done));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i]->Call([gathering, i](const Result<SharedCall::Text>& result) { gathering->Set(i, result); });
    }
  }

  Gathering(std::size_t size, Done done) : done_(std::move(done)), left_(size), results_(size) {}

 private:
  void Set(std::size_t i, const Result<SharedCall::Text>& result) {
    {
      const MutexLock lock(mutex_);
      results_[i] = result;
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

EndpointRoutes::EndpointRoutes(const EndpointOptions& options, Shared<Executor> executor, Shared<RunningWork> running,
                               Shared<net::EventLoop> loop)
    : executor_(std::move(executor)),
      reports_(executor_->MakeStrand("reports of the endpoint")),
      observer_(options.observer ? options.observer : MakeShared<ThrottledObserver>(Shared<Observer>(), executor_)),
      running_(std::move(running)),
      loop_(std::move(loop)) {
  if (options.authorize) access_ = MakeShared<AccessReview>(*options.authorize);
  if (options.metrics) {
    const auto text = [metrics = *options.metrics, large = large_](const std::stop_token&) -> Result<SharedCall::Text> {
      Result<std::string> made = metrics.Text();
      if (!made) return Fail(std::move(made).error());
      return SharedCall::Text(MakeShared<Answer>(*std::move(made), large, "text/plain; version=0.0.4; charset=utf-8"));
    };
    metrics_ = MakeShared<SharedCall>("/metrics", text, executor_, running_);
  }
}

Result<void> EndpointRoutes::CheckName(const std::string& path, std::string_view name, bool has_function, bool taken) {
  const auto refuse = [&path](const char* why) {
    return Fail(Code::kInvalidArgument, "endpoint " + path + ": " + why);
  };
  if (!IsName(name)) return refuse("a name has one or more letters, digits, '.', '_' and '-'");
  if (!has_function) return refuse("the function is empty");
  if (taken) return refuse("the name is taken");
  return {};
}

Result<void> EndpointRoutes::Add(Kind kind, std::string_view name, Function function) {
  const std::string path = std::string(RootOf(kind)) + "/" + std::string(name);
  const bool taken = std::ranges::any_of(Of(kind), [&path](const auto& check) { return check->name() == path; });
  if (auto valid = CheckName(path, name, static_cast<bool>(function), taken); !valid) return valid;
  auto call = [function = std::move(function)](std::stop_token stop) -> Result<SharedCall::Text> {
    Result<std::string> text = function(std::move(stop));
    if (!text) return Fail(std::move(text).error());
    return SharedCall::Text(MakeShared<net::SharedText>(*std::move(text)));
  };
  Of(kind).push_back(MakeShared<HealthCheck>(path, std::move(call), executor_, running_));
  return {};
}

Result<void> EndpointRoutes::AddSection(std::string_view name, Section section) {
  const std::string path = std::string(kDebug) + "/" + std::string(name);
  const bool taken = std::ranges::any_of(sections_, [&path](const auto& call) { return call->name() == path; });
  if (auto valid = CheckName(path, name, static_cast<bool>(section), taken); !valid) return valid;
  auto call = [section = std::move(section)](const std::stop_token&) -> Result<SharedCall::Text> {
    return SharedCall::Text(MakeShared<Part>(section()));
  };
  sections_.push_back(MakeShared<SharedCall>(path, std::move(call), executor_, running_));
  return {};
}

Result<void> EndpointRoutes::AddPage(std::string_view path, Endpoint::Page page) {
  const auto refuse = [path](const char* why) {
    return Fail(Code::kInvalidArgument, "endpoint " + std::string(path) + ": " + why);
  };
  if (!IsPath(path)) return refuse("a path has parts such as /orders/open, of letters, digits, '.', '_' and '-'");
  if (IsReserved(path)) return refuse("the endpoint has this path itself; choose another first part");
  if (!page) return refuse("the function is empty");
  if (PageAt(path) != nullptr) return refuse("the path is taken");
  auto call = [page = std::move(page), large = large_](std::stop_token stop) -> Result<SharedCall::Text> {
    Result<EndpointPage> made = page(std::move(stop));
    if (!made) return Fail(std::move(made).error());
    if (HasControls(made->content_type)) return Fail(Code::kUserCode, "the content type has control characters");
    return SharedCall::Text(MakeShared<Answer>(std::move(made->body), large, std::move(made->content_type)));
  };
  pages_.push_back(MakeShared<SharedCall>(std::string(path), std::move(call), executor_, running_));
  return {};
}

SharedCall* EndpointRoutes::PageAt(std::string_view path) const noexcept {
  const auto found = std::ranges::find(pages_, path, [](const auto& page) -> std::string_view { return page->name(); });
  return found != pages_.end() ? found->get() : nullptr;
}

void EndpointRoutes::Start() {
  for (const Checks& checks : checks_) {
    for (const auto& check : checks) check->Start();
  }
}

bool EndpointRoutes::IsPage(const net::ServerRequest& request) const noexcept {
  const std::string_view path = std::string_view(request.path).substr(0, request.path.find('?'));
  return path == "/metrics" || IsDebug(path) || PageAt(path) != nullptr;
}

bool IsLoopbackHost(std::string_view host) noexcept {
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else if (host != "::1") {
    host = host.substr(0, host.find(':'));
  }
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && net::IsIpAddress(host));
}

void EndpointRoutes::ServeLocalDebug(const net::ServerRequest& request, const Target& target,
                                     const Shared<net::ResponseWriter>& writer) {
  if (IsLoopbackHost(request.Header("host"))) return ServeDebug({writer, target.form});
  Respond(writer, 403, "403 ask for this page as localhost or 127.0.0.1\n");
}

void EndpointRoutes::Handle(const net::ServerRequest& request, Pages pages, const Shared<net::ResponseWriter>& writer) {
  Target target(request);
  const bool missing = PageAt(target.path) == nullptr && (target.path == "/metrics" ? !metrics_ : sections_.empty());
  const bool offered = pages == Pages::kDebug ? IsDebug(target.path) : pages != Pages::kHealth;
  const bool restricted = IsPage(request) && offered && !missing;
  const bool health =
      (pages == Pages::kAll || pages == Pages::kHealth) && (target.Below("/healthz") || target.Below("/readyz"));
  if (!restricted && !health) return Respond(writer, 404, "404 page not found\n");
  if (request.method != "GET" && request.method != "HEAD") {
    return Respond(writer, 405, "405 method not allowed\n", {{"allow", "GET, HEAD"}});
  }
  if (pages == Pages::kDebug) return ServeLocalDebug(request, target, writer);
  if (!restricted || !access_) return Serve(target, writer);
  auto decided = [self = Shared<EndpointRoutes>(this), target, writer](AccessReview::Verdict verdict) {
    if (verdict.error) self->Report(target.path, *verdict.error);
    if (verdict.status == 200) return self->Serve(target, writer);
    std::vector<HttpHeader> more;
    if (verdict.status == 401) more.push_back({"www-authenticate", "Bearer"});
    if (verdict.status == 429) more.push_back({"retry-after", "1"});
    self->Respond(writer, verdict.status, verdict.message + "\n", std::move(more));
  };
  access_->Review(request.Header("authorization"), target.verb, target.path, std::move(decided));
}

void EndpointRoutes::Serve(const Target& target, const Shared<net::ResponseWriter>& writer) {
  for (const Kind kind : {Kind::kHealth, Kind::kReady}) {
    const auto below = target.Below(RootOf(kind));
    if (below) return below->empty() ? ServeAll(kind, target, writer) : ServeOne(kind, target, writer);
  }
  if (SharedCall* const page = PageAt(target.path)) return ServePage(*page, writer);
  target.path == "/metrics" ? ServePage(*metrics_, writer) : ServeDebug({writer, target.form});
}

// What a probe gets for one check. The kubelet, too, takes a container for alive and not ready until it knows better.
struct EndpointRoutes::Verdict {
  Verdict(EndpointRoutes& routes, Kind kind, HealthCheck& check) : answer(check.Ask()) {
    passes = answer.known ? !answer.error : kind == Kind::kHealth;
    if (answer.error && answer.news) routes.Report(check.name(), *answer.error);
    if (answer.recovery) routes.ReportRecovery(check.name(), *answer.recovery);
  }
  std::int64_t seconds() const { return std::chrono::floor<std::chrono::seconds>(answer.age).count(); }
  std::string Line(std::string_view name) const {
    std::string line = (passes ? "[+]" : "[-]") + std::string(name);
    if (!answer.known) return line + (passes ? " ok: it has not run yet\n" : " failed: it has not run yet\n");
    line += passes ? " ok" : " failed: reason withheld";
    if (seconds() > 0) line += " (" + std::to_string(seconds()) + "s ago)";
    return line + "\n";
  }

  HealthCheck::Answer answer;
  bool passes = false;
};

void EndpointRoutes::ServeAll(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer) {
  const Exclusions exclusions(target.query);
  const bool verbose = exclusions.verbose;
  std::vector<std::string_view> names = {};
  std::string body;
  bool failed = false;
  std::int64_t age = 0;
  if (Of(kind).empty()) {
    names.emplace_back("ping");
    body = exclusions.Has("ping") ? "[+]ping excluded: ok\n" : "[+]ping ok\n";
  }
  for (const auto& check : Of(kind)) {
    const std::string_view name = std::string_view(check->name()).substr(RootOf(kind).size() + 1);
    names.push_back(name);
    if (exclusions.Has(name)) {
      body.append("[+]").append(name).append(" excluded: ok\n");
      continue;
    }
    const Verdict verdict(*this, kind, *check);
    body += verdict.Line(name);
    failed = failed || !verdict.passes;
    age = std::max(age, verdict.seconds());
  }
  if (const std::string list = exclusions.Without(names); !list.empty()) {
    body += "warn: some health checks cannot be excluded: no matches for " + list + "\n";
  }
  const std::vector<HttpHeader> more = {{"age", std::to_string(age)}};
  if (!failed && !verbose) return Respond(writer, 200, "ok", more);
  body.append(RootOf(kind).substr(1)).append(" check ").append(failed ? "failed\n" : "passed\n");
  Respond(writer, failed ? 500 : 200, std::move(body), more);
}

void EndpointRoutes::ServeOne(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer) {
  const Checks& checks = Of(kind);
  if (checks.empty() && target.Below(RootOf(kind)) == "ping") return Respond(writer, 200, "ok");
  const auto found = std::ranges::find(checks, target.path, [](const auto& check) { return check->name(); });
  if (found == checks.end()) return Respond(writer, 404, "404 page not found\n");
  const Verdict verdict(*this, kind, **found);
  Respond(writer, verdict.passes ? 200 : 500, verdict.passes ? "ok" : "internal server error: reason withheld\n",
          {{"age", std::to_string(verdict.seconds())}});
}

// The text is an Answer.
void EndpointRoutes::ServePage(SharedCall& page, const Shared<net::ResponseWriter>& writer) {
  page.Call([self = Shared<EndpointRoutes>(this), path = page.name(), writer](const Result<SharedCall::Text>& text) {
    if (text) {
      return self->Respond(writer, 200, *text, {{"content-type", static_cast<const Answer&>(**text).content_type}});
    }
    self->Report(path, text.error());
    self->Respond(writer, 500, "internal server error: reason withheld\n");
  });
}

// Who asks while the page is made gets that page.
void EndpointRoutes::ServeDebug(DebugReader reader) {
  {
    const MutexLock lock(mutex_);
    debug_waits_.push_back(std::move(reader));
    if (debug_waits_.size() > 1) return;
  }
  Gathering::Start(sections_, [self = Shared<EndpointRoutes>(this)](const Results& results) {
    const std::vector<NamedSection> sections = self->Sections(results);
    DebugReaders readers;
    {
      const MutexLock lock(self->mutex_);
      readers.swap(self->debug_waits_);
    }
    self->RespondDebug(readers, sections);
  });
}

// The result refers to `results`.
std::vector<NamedSection> EndpointRoutes::Sections(const Results& results) {
  std::vector<NamedSection> sections;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& path = sections_[i]->name();
    if (!results[i]) Report(path, results[i].error());
    sections.push_back({std::string_view(path).substr(kDebug.size() + 1),
                        results[i] ? &static_cast<const Part&>(**results[i]).section : nullptr});
  }
  return sections;
}

// Each form is made once for all who asked for it.
void EndpointRoutes::RespondDebug(const DebugReaders& readers, const std::vector<NamedSection>& sections) {
  const auto respond = [&](DebugForm form, const auto& make, const std::vector<HttpHeader>& more) {
    SharedCall::Text page;
    for (const DebugReader& each : readers) {
      if (each.form != form) continue;
      if (!page) page = MakeShared<Answer>(make(), large_);
      Respond(each.writer, 200, page, more);
    }
  };
  const HttpHeader vary = {"vary", "accept"};
  respond(DebugForm::kText, [&] { return DebugText(sections); }, {{"content-type", std::string(kPlainText)}, vary});
  respond(DebugForm::kJson, [&] { return DebugJson(sections); }, {{"content-type", "application/json"}, vary});
  const std::string nonce = NewNonce();
  respond(DebugForm::kHtml, [&] { return DebugHtml(sections, nonce); },
          {{"content-type", "text/html; charset=utf-8"},
           {"content-security-policy", PolicyFor(nonce)},
           {"referrer-policy", "no-referrer"},
           vary});
}

void EndpointRoutes::Respond(const Shared<net::ResponseWriter>& writer, int status, std::string body,
                             std::vector<HttpHeader> more) const {
  Respond(writer, status, SharedCall::Text(MakeShared<net::SharedText>(std::move(body))), std::move(more));
}

// Posted, so that the whole response is there when the session looks at it, and its length is known.
void EndpointRoutes::Respond(const Shared<net::ResponseWriter>& writer, int status, SharedCall::Text body,
                             std::vector<HttpHeader> more) const {
  if (more.empty() || more.front().name != "content-type") {
    more.insert(more.begin(), {"content-type", std::string(kPlainText)});
  }
  more.push_back({"x-content-type-options", "nosniff"});
  more.push_back({"cache-control", "no-store"});
  loop_->Post([writer, status, body = std::move(body), more = std::move(more)]() mutable {
    writer->Head(status, std::move(more));
    writer->EndWith(std::move(body));
  });
}

void EndpointRoutes::Stop() {
  if (metrics_) metrics_->Stop();
  for (const auto& section : sections_) section->Stop();
  for (const auto& page : pages_) page->Stop();
  for (const Checks& checks : checks_) {
    for (const auto& check : checks) check->Stop();
  }
}

std::string EndpointRoutes::Running() {
  std::string names;
  const auto add = [&names](const auto& call) {
    if (call->running()) names += (names.empty() ? "" : ", ") + call->name();
  };
  if (metrics_) add(metrics_);
  for (const Checks& checks : checks_) std::ranges::for_each(checks, add);
  std::ranges::for_each(sections_, add);
  std::ranges::for_each(pages_, add);
  return names;
}

void EndpointRoutes::Report(const std::string& path, const Error& error) {
  executor_->BlockingOn(reports_, [observer = observer_, path, error] {
    NotifyObserver(observer, [&](Observer& o) { o.OnCheckFailed({.check = path, .error = &error}); });
  });
}

void EndpointRoutes::ReportRecovery(const std::string& path, const HealthCheck::Answer::Recovery& recovery) {
  executor_->BlockingOn(reports_, [observer = observer_, path, recovery] {
    NotifyObserver(observer, [&](Observer& o) {
      o.OnRecovered({.source = "check", .key = path, .failures = recovery.failures, .after = recovery.after});
    });
  });
}

}  // namespace kgen::controller
