// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EndpointRoutes: what the endpoint answers.
//
//   EndpointServer --Handle(request, writer)--> EndpointRoutes --> AccessReview --> SharedCall, ... --> writer
#ifndef KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_ROUTES_H_
#define KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_ROUTES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/debug/forms.h"
#include "controller/debug/section.h"
#include "controller/http/running_work.h"
#include "controller/serve/access_review.h"
#include "controller/serve/health_check.h"
#include "controller/serve/shared_call.h"
#include "kgen/controller/endpoint.h"
#include "net/event_loop.h"
#include "net/response_writer.h"

namespace kgen::controller {

// Whether a host, with or without a port, is localhost or a loopback address.
bool IsLoopbackHost(std::string_view host) noexcept;

// Thread safety: Add(), AddSection(), AddPage() and Start() from one thread at a time; afterwards all members from any
// thread. None blocks.
class EndpointRoutes final : public SharedObject {
 public:
  enum class Kind : std::size_t { kHealth, kReady };
  // What an address serves. kHealth: /healthz and /readyz. kDebug: /debug, to everybody who asks under a name of a
  // loopback address.
  enum class Pages : std::uint8_t { kAll, kHealth, kOthers, kDebug };
  using Function = std::function<Result<std::string>(std::stop_token)>;
  using Section = std::function<DebugSection()>;

  // `loop` is the writers'.
  EndpointRoutes(const EndpointOptions& options, Shared<Executor> executor, Shared<RunningWork> running,
                 Shared<net::EventLoop> loop);

  // Errors: kInvalidArgument  the name is malformed or taken
  Result<void> Add(Kind kind, std::string_view name, Function function);
  Result<void> AddSection(std::string_view name, Section section);
  // Errors: kInvalidArgument  the path is malformed, reserved or taken
  Result<void> AddPage(std::string_view path, Endpoint::Page page);
  // Runs every check once, so that the first probe has its result.
  void Start();
  // True for what may wait for something: /metrics, /debug and the pages of AddPage().
  bool IsPage(const net::ServerRequest& request) const noexcept;
  // Answers, now or later.
  void Handle(const net::ServerRequest& request, Pages pages, const Shared<net::ResponseWriter>& writer);
  // How many answers of more than 64 KiB exist, because somebody has not read all of them yet.
  std::size_t large_answers() const noexcept { return large_->count.load(); }
  // Requests the stop of running functions, and starts no others.
  void Stop();
  // The functions that have not returned: "/readyz/caches, /metrics".
  std::string Running();
  // Tells the observer about a failure of what `path` serves, in its own time. Its exceptions are ignored.
  void Report(const std::string& path, const Error& error);
  // Tells the observer, in the same way, that a check passes again after failures that were reported.
  void ReportRecovery(const std::string& path, const HealthCheck::Answer::Recovery& recovery);

 private:
  using Checks = std::vector<Shared<HealthCheck>>;
  using Calls = std::vector<Shared<SharedCall>>;
  using Results = std::vector<Result<SharedCall::Text>>;
  // Who waits for /debug, and in which form.
  struct DebugReader {
    Shared<net::ResponseWriter> writer;
    DebugForm form;
  };
  using DebugReaders = std::vector<DebugReader>;
  struct Large : SharedObject {
    std::atomic<std::size_t> count{0};
  };
  class Answer;
  class Gathering;
  class Part;
  struct Target;
  struct Verdict;

  void ServeLocalDebug(const net::ServerRequest& request, const Target& target,
                       const Shared<net::ResponseWriter>& writer);
  void Serve(const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeAll(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeOne(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServePage(SharedCall& page, const Shared<net::ResponseWriter>& writer);
  void ServeDebug(DebugReader reader);
  std::vector<NamedSection> Sections(const Results& results);
  void RespondDebug(const DebugReaders& readers, const std::vector<NamedSection>& sections);
  void Respond(const Shared<net::ResponseWriter>& writer, int status, std::string body,
               std::vector<HttpHeader> more = {}) const;
  void Respond(const Shared<net::ResponseWriter>& writer, int status, SharedCall::Text body,
               std::vector<HttpHeader> more) const;
  // The page of AddPage() at this path, or null.
  SharedCall* PageAt(std::string_view path) const noexcept;
  static Result<void> CheckName(const std::string& path, std::string_view name, bool has_function, bool taken);
  Checks& Of(Kind kind) { return checks_[static_cast<std::size_t>(kind)]; }

  const Shared<Executor> executor_;
  const Shared<Strand> reports_;  // the observer's; no answer waits for it
  const Shared<Observer> observer_;
  const Shared<RunningWork> running_;
  const Shared<net::EventLoop> loop_;
  Shared<AccessReview> access_;  // or null
  Shared<SharedCall> metrics_;   // or null
  const Shared<Large> large_ = MakeShared<Large>();
  std::array<Checks, 2> checks_;  // by kind
  Calls sections_;
  Calls pages_;
  Mutex mutex_;
  DebugReaders debug_waits_ KGEN_GUARDED_BY(mutex_);  // for the page that is being made
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_ENDPOINT_ROUTES_H_
