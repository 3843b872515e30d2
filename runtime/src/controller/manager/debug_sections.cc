// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/manager/debug_sections.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "client/request/connection_state.h"
#include "controller/queue/queue_state.h"
#include "kgen/controller/queue_metrics.h"

namespace kgen::controller {
namespace {

using cache::HandlerStatus;
using cache::InformerStatus;

constexpr std::size_t kWaiting = 10;  // keys of each queue
constexpr std::size_t kReasons = 3;   // of each call
constexpr std::size_t kHandlers = 20;
constexpr Nanos kOld = std::chrono::minutes(5);      // a cache: several bookmarks are missing
constexpr Nanos kHanging = std::chrono::minutes(2);  // a handler

DebugMood BadIf(bool bad) { return bad ? DebugMood::kBad : DebugMood::kPlain; }

std::string Text(const RequestReason& reason, const ObjectKey& key) {
  std::string text(ToString(reason.cause));
  if (reason.object != key) text.append(" (").append(reason.kind).append(" ").append(reason.object.str()).append(")");
  return text;
}

std::string ReasonsOf(const PastCall& call) {
  std::string text;
  const std::size_t shown = std::min(call.reasons.size(), kReasons);
  for (std::size_t i = 0; i < shown; ++i) text.append(i > 0 ? ", " : "").append(Text(call.reasons[i], call.key));
  if (call.merged > shown) text.append(" and ").append(std::to_string(call.merged - shown)).append(" more");
  return text;
}

DebugCell ResultOf(const PastCall& call) {
  if (call.error) {
    const std::string_view what = call.timed_out ? "timeout: " : call.terminal ? "terminal error: " : "error: ";
    return Cell(std::string(what).append(ToString(*call.error)), DebugMood::kBad);
  }
  if (call.requeue.back_off) return Cell("again, with back-off");
  if (ComesBack(call.requeue)) return Cell("again after " + ShortTime(*call.requeue.after));
  return Cell("done", DebugMood::kGood);
}

std::size_t DepthOf(const WorkQueueMetrics& queue) {
  return std::accumulate(queue.depth.begin(), queue.depth.end(), std::size_t{0},
                         [](std::size_t sum, const auto& level) { return sum + level.second; });
}

Nanos Mean(double seconds, std::uint64_t count) {
  const double mean = count > 0 ? seconds / static_cast<double>(count) : 0;
  return std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(mean));
}

Nanos Mean(const HandlerStatus& handler) {
  return handler.calls > 0 ? handler.time / static_cast<std::int64_t>(handler.calls) : Nanos(0);
}

DebugCell RateOrNone(const std::optional<double>& rate) { return rate ? RateCell(*rate) : Cell(""); }

std::string Failures(const InformerStatus& informer) {
  std::string text;
  for (std::size_t i = 0; i < informer.failure_counts.size(); ++i) {
    const std::uint64_t count = informer.failure_counts[i];
    if (count == 0) continue;
    text.append(text.empty() ? "" : ", ").append(ToString(static_cast<Code>(i))).append(" ");
    text += std::to_string(count);
  }
  return text;
}

// Describes the election in a sentence.
std::string Describe(const LeaderElector& elector) {
  const std::string holder = elector.leader();
  std::string text = elector.lease();
  if (elector.IsLeader()) {
    text += " is held by this process, \"" + elector.identity() + "\"";
  } else {
    text += holder.empty() ? " has no known holder" : " was last seen held by \"" + holder + "\"";
    text += "; this process, \"" + elector.identity() + "\", does not lead";
  }
  if (const std::optional<Error> failure = elector.failure())
    text += "; the last attempt failed: " + failure->ToString();
  return text + "\n";
}

std::vector<DebugCell> RowOf(const InformerStatus& informer) {
  const bool fails = informer.failures > 0;
  std::string state(ToString(informer.state));
  if (!informer.synced) state += informer.stale ? ", stale" : ", not synced";
  return {Cell(informer.name),
          Cell(informer.kind),
          Cell(std::move(state), informer.synced && !fails ? DebugMood::kGood : BadIf(fails)),
          CountCell(informer.objects),
          BytesCell(informer.object_bytes),
          informer.age ? TimeCell(*informer.age, BadIf(*informer.age > kOld)) : Cell(""),
          Cell(informer.resource_version),
          CountCell(informer.refused, BadIf(informer.refused > 0)),
          CountCell(informer.lists),
          CountCell(informer.watches),
          CountCell(informer.events),
          Cell(Failures(informer)),
          Cell(informer.last_error ? informer.last_error->ToString() : "", DebugMood::kBad)};
}

}  // namespace

void ShownControllers::Add(ShownController controller) {
  const MutexLock lock(mutex_);
  controllers_.push_back(std::move(controller));
}

std::vector<ShownController> ShownControllers::Read() const {
  const MutexLock lock(mutex_);
  return controllers_;
}

DebugSection LeaderSection(const std::optional<LeaderElector>& elector) {
  if (!elector) return {.text = "no election\n"};
  const bool leads = elector->IsLeader();
  const MicroTime acquired = elector->acquired();
  const std::optional<Error> failure = elector->failure();
  DebugTable table{.title = "Election", .columns = {"Lease", "This process", "Leads", "Holder", "Since", "Last error"}};
  table.rows.push_back({Cell(elector->lease()), Cell(elector->identity()),
                        Cell(leads ? "yes" : "no", leads ? DebugMood::kGood : DebugMood::kPlain),
                        Cell(elector->leader()), Cell(acquired.has_value() ? acquired.str() : ""),
                        Cell(failure ? failure->ToString() : "", DebugMood::kBad)});
  return {.text = Describe(*elector), .tables = {std::move(table)}};
}

DebugSection CachesSection(const std::vector<InformerStatus>& informers) {
  DebugTable table{.title = "Informers",
                   .columns = {"Informer", "Kind", "State", "Objects", "Bytes", "Age", "Version", "Refused", "Lists",
                               "Watches", "Events", "Failures", "Last error"}};
  for (const InformerStatus& each : informers) table.rows.push_back(RowOf(each));
  return {.tables = {std::move(table)}};
}

DebugSection HandlersSection(const std::vector<InformerStatus>& informers) {
  std::vector<std::pair<std::string_view, const HandlerStatus*>> handlers;
  for (const InformerStatus& informer : informers) {
    for (const HandlerStatus& handler : informer.handlers) handlers.emplace_back(informer.name, &handler);
  }
  std::ranges::sort(handlers, {}, [](const auto& each) {
    const auto& [informer, handler] = each;
    return std::tuple(-std::max(Mean(*handler), handler->running), informer, std::string_view(handler->name));
  });
  DebugTable table{.title = "Slowest handlers",
                   .columns = {"Handler", "Informer", "Mean time", "Calls", "Slow calls", "Running for", "Backlog",
                               "Backlog age", "Backlog bytes"}};
  for (const auto& [informer, handler] : handlers) {
    if (table.rows.size() == kHandlers) break;
    table.rows.push_back({Cell(handler->name), Cell(std::string(informer)), TimeCell(Mean(*handler)),
                          CountCell(handler->calls), CountCell(handler->slow_calls),
                          TimeCell(handler->running, BadIf(handler->running > kHanging)), CountCell(handler->backlog),
                          TimeCell(handler->backlog_age, BadIf(handler->backlog_age > kHanging)),
                          BytesCell(handler->backlog_bytes)});
  }
  if (handlers.size() > kHandlers) table.note = std::to_string(handlers.size() - kHandlers) + " faster handlers";
  return {.tables = {std::move(table)}};
}

DebugSection QueuesSection(const std::vector<ShownController>& controllers, const History& history) {
  DebugTable queues{.title = "Depths",
                    .columns = {"Controller", "Depth", "Add rate", "Adds", "Retries", "Mean wait", "Longest running"}};
  DebugTable waiting{.title = "Waiting", .columns = {"Controller", "Object", "Reason"}};
  std::size_t more = 0;
  for (const ShownController& each : controllers) {
    const WorkQueueMetrics metrics = each.queue.metrics();
    queues.rows.push_back({Cell(each.name), CountCell(DepthOf(metrics)), RateOrNone(history.RatesOf(each.name).adds),
                           CountCell(metrics.adds), CountCell(metrics.retries),
                           TimeCell(Mean(metrics.queue_duration.sum, metrics.queue_duration.count())),
                           TimeCell(metrics.longest_running, BadIf(metrics.longest_running > kHanging))});
    const std::size_t all = each.reasons->size();
    for (const auto& [key, reason] : each.reasons->Some(kWaiting)) {
      waiting.rows.push_back({Cell(each.name), Cell(key.str()), Cell(Text(reason, key))});
    }
    more += all - std::min(all, kWaiting);
  }
  if (more > 0) waiting.note = std::to_string(more) + " more objects wait";
  return {.tables = {std::move(queues), std::move(waiting)}};
}

DebugSection ControllersSection(const std::vector<ShownController>& controllers, const History& history,
                                TimePoint now) {
  DebugTable table{.title = "Totals",
                   .columns = {"Controller", "Workers", "Call rate", "Calls", "Failed", "Mean time", "Last result"}};
  DebugTable calls{.title = "Last reconciles",
                   .columns = {"Controller", "Object", "Reasons", "Took", "Result", "Ago", "Id"}};
  for (const ShownController& each : controllers) {
    const DurationHistogram work = each.queue.metrics().work_duration;
    const std::vector<PastCall> recent = each.recent->Read();
    table.rows.push_back({Cell(each.name), CountCell(static_cast<std::uint64_t>(each.workers)),
                          RateOrNone(history.RatesOf(each.name).calls), CountCell(each.recent->calls()),
                          CountCell(each.recent->failed(), BadIf(!recent.empty() && recent.front().error.has_value())),
                          TimeCell(Mean(work.sum, work.count())),
                          recent.empty() ? Cell("") : ResultOf(recent.front())});
    for (const PastCall& call : recent) {
      calls.rows.push_back({Cell(each.name), Cell(call.key.str()), Cell(ReasonsOf(call)), TimeCell(call.took),
                            ResultOf(call), TimeCell(now - call.ended),
                            Cell(std::string(call.id.data(), call.id.size()))});
    }
  }
  if (!calls.rows.empty()) calls.note = "The log has the whole error of a call under its id.";
  return {.tables = {std::move(table), std::move(calls)}};
}

DebugSection ConnectionSection(const Connection& connection) {
  const Shared<client::ConnectionState> state = client::ConnectionState::Of(connection);
  DebugTable server{.title = "Server", .columns = {"Address", "State", "Next attempt"}};
  const std::optional<Error> down = state->gate->error();
  server.rows.push_back({Cell(state->requests->host()),
                         down ? Cell(down->ToString(), DebugMood::kBad) : Cell("works", DebugMood::kGood),
                         down ? TimeCell(state->gate->UntilProbe()) : Cell("")});
  DebugTable requests{.title = "Requests", .columns = {"Method", "Status", "Requests"}};
  std::vector<client::RequestCounts::Count> counts = state->requests->Read();
  std::ranges::sort(counts, {}, [](const auto& each) { return std::pair(each.method, each.status); });
  for (const client::RequestCounts::Count& each : counts) {
    const bool failed = each.status == 0 || each.status >= 400;
    requests.rows.push_back({Cell(each.method),
                             Cell(each.status == 0 ? "no response" : std::to_string(each.status), BadIf(failed)),
                             CountCell(each.requests)});
  }
  return {.tables = {std::move(server), std::move(requests)}};
}

}  // namespace kgen::controller
