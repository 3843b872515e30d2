// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// EndpointRoutes: what the endpoint answers.
//
//   EndpointServer --Handle(request, writer)--> EndpointRoutes --> AccessReview --> SharedCall, ... --> writer
#ifndef KGEN_SRC_CONTROLLER_ENDPOINT_ROUTES_H_
#define KGEN_SRC_CONTROLLER_ENDPOINT_ROUTES_H_

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/event_loop.h"
#include "client/response_writer.h"
#include "controller/access_review.h"
#include "controller/activity.h"
#include "controller/shared_call.h"
#include "kgen/controller/endpoint.h"

namespace kgen::controller {

// Thread safety: Add() and Begin() from one thread at a time; afterwards all members from any thread. None blocks.
class EndpointRoutes final : public SharedObject {
 public:
  enum class Kind : std::size_t { kHealth, kReady, kDebug };

  // `loop` is that of the writers.
  EndpointRoutes(const EndpointOptions& options, Shared<Executor> executor, Shared<Activity> activity,
                 Shared<net::EventLoop> loop);

  // Errors: kInvalidArgument  the name is malformed or taken
  Result<void> Add(Kind kind, std::string_view name, SharedCall::Function function);
  // Answers, now or later.
  void Handle(net::ServerRequest request, const Shared<net::ResponseWriter>& writer);
  // Requests the stop of running functions, and starts no others.
  void Stop();
  // The functions that have not returned: "/readyz/caches, /metrics".
  std::string Running();
  // Tells the observer about a failure of what `path` serves. Its exceptions are ignored.
  void Report(const std::string& path, const Error& error);

 private:
  using Calls = std::vector<Shared<SharedCall>>;
  using Results = std::vector<Result<std::string>>;
  class Gathering;
  struct Target;

  void Serve(const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeAll(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeOne(Kind kind, const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeMetrics(const Target& target, const Shared<net::ResponseWriter>& writer);
  void ServeDebug(const Shared<net::ResponseWriter>& writer);
  void Respond(const Shared<net::ResponseWriter>& writer, int status, std::string body,
               std::vector<HttpHeader> more = {}) const;
  Calls& Of(Kind kind) { return calls_[static_cast<std::size_t>(kind)]; }

  const Shared<Executor> executor_;
  const Shared<Observer> observer_;
  const Shared<Activity> activity_;
  const Shared<net::EventLoop> loop_;
  Shared<AccessReview> access_;  // or null
  Shared<SharedCall> metrics_;   // or null
  std::array<Calls, 3> calls_;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ENDPOINT_ROUTES_H_
