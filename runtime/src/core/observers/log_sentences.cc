// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/log_sentences.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "core/observers/custom_resource.h"
#include "core/observers/log_line.h"

namespace kgen::detail {
namespace {

std::string Seconds(Nanos duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", std::chrono::duration<double>(duration).count());
  return text;
}

double Milliseconds(Nanos duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

std::string Of(std::string_view informer, const ObjectKey* key) {
  std::string text(informer);
  if (key != nullptr) text.append(" ").append(key->str());
  return text;
}

// What a line summarizes besides its own event: "(5 such failures of 3 objects since the last line)".
std::string Others(std::size_t count, std::string_view events, std::size_t of = 1, std::string_view things = {}) {
  if (count <= 1) return {};
  std::string text = " (" + std::to_string(count);
  text.append(" such ").append(events);
  if (of > 1) text.append(" of ").append(std::to_string(of)).append(" ").append(things);
  return text += " since the last line)";
}

std::string Why(const Error* error) { return error != nullptr ? ": " + error->ToString() : std::string(); }

// As above, without a leading "list pods: ", because the line already contains it.
std::string WhyOf(std::string_view informer, const Error* error) {
  if (error == nullptr) return {};
  const std::string text = error->ToString();
  for (const std::string_view verb : {"list ", "watch ", "failed to list "}) {
    const std::string subject = std::string(verb).append(informer).append(": ");
    if (text.starts_with(subject)) return ": " + text.substr(subject.size());
  }
  return ": " + text;
}

}  // namespace

std::string Sentence(const Observer::ListOrWatchFailed& event) {
  std::string line(event.informer);
  line.append(event.informers > 1 ? ": list or watch failed" : event.watch ? ": watch failed" : ": list failed");
  line += WhyOf(event.informer, event.error);
  if (event.error != nullptr && event.error->code() == Code::kNotFound) {
    const std::string_view question = AskForCrd(event.informer, line);
    if (!question.empty()) line.append("; ").append(question);
  }
  line += event.retry_in > Nanos::zero() ? "; next attempt in " + Seconds(event.retry_in) : "; next attempt at once";
  if (event.attempt > 1) line += " after " + std::to_string(event.attempt) + " failures in a row";
  if (event.gave_up) line += "; waiting for the cache to sync fails with this error";
  return line + Others(event.count, "failures");
}
std::string Sentence(const Observer::Recovered& event) {
  std::string line(event.source);
  if (!event.key.empty()) line.append(" ").append(event.key);
  line.append(event.count > 1 ? ": work again after up to " : ": works again after ");
  line.append(std::to_string(event.failures)).append(event.failures == 1 ? " failure in " : " failures in ");
  return line + Seconds(event.after);
}
std::string Sentence(const Observer::ObjectRefused& event) {
  return Of(event.informer, event.key) + ": object refused, the cache keeps its last good state" + Why(event.error) +
         Others(event.count, "refusals of objects");
}
std::string Sentence(const Observer::FieldRefused& event) {
  std::string line = Of(event.informer, event.key);
  line.append(": field ").append(event.path).append(" has the wrong type and reads as absent: ").append(event.message);
  return line + Others(event.count, "refusals of fields");
}
std::string Sentence(const Observer::SavedCacheFailed& event) {
  std::string line(event.informer);
  line.append(event.saving ? ": the cache could not be saved" : ": no warm start").append(Why(event.error));
  line += event.saving ? "; next attempt in " + Seconds(event.retry_in) : "; listing instead";
  return line + Others(event.count, "failures", event.informers, "informers");
}
std::string Sentence(const Observer::HandlerFailed& event) {
  return Of(event.informer, event.key).append(": handler threw: ").append(event.what) +
         Others(event.count, "exceptions");
}
std::string Sentence(const Observer::ReconcileFailed& event) {
  std::string line(event.queue);
  line.append(" ").append(event.key).append(": reconcile failed").append(Why(event.error));
  if (event.retry_in > Nanos::zero()) line.append("; next attempt in ").append(Seconds(event.retry_in));
  if (event.terminal) line.append("; no further attempt until the object changes");
  if (event.attempt > 1) line.append(" after ").append(std::to_string(event.attempt)).append(" failures in a row");
  return line + Others(event.count, "failures", event.objects, "objects");
}
std::string Sentence(const Observer::Logged& event) {
  std::string line(event.source);
  line.append(" ").append(event.key).append(": ");
  if (!event.id.empty()) line.append("reconcile ").append(event.id).append(": ");
  line.append(event.message);
  for (const LogField& field : event.fields) line.append(" ").append(LogfmtField(field));
  return line;
}
std::string Sentence(const Observer::LeadershipChanged& event) {
  std::string line("lease ");
  line.append(event.lease).append(": ").append(event.identity).append(event.leading ? " leads" : " does not lead");
  if (!event.leading && !event.leader.empty()) line.append("; ").append(event.leader).append(" does");
  return line + Why(event.error) + Others(event.count, "failures");
}
std::string Sentence(const Observer::EventDropped& event) {
  std::string line("event of ");
  line.append(event.about).append(" dropped: ").append(event.why);
  return line + Others(event.count, "dropped events");
}
std::string Sentence(const Observer::CheckFailed& event) {
  return std::string(event.check) + ": the check failed" + Why(event.error) + Others(event.count, "failures");
}
std::string Sentence(const Observer::HandlerSlow& event) {
  return Of(event.informer, event.key) + ": handler took " + Seconds(event.took) + ", " +
         std::to_string(event.backlog) + " events wait";
}
std::string Sentence(const Observer::BacklogHigh& event) {
  std::string line(event.informer);
  if (!event.handler.empty() && event.handler != event.informer) line.append(", handler ").append(event.handler);
  line.append(": ").append(std::to_string(event.backlog)).append(" events wait for a handler");
  if (event.merging) {
    line.append(" and keep ")
        .append(std::to_string(event.bytes >> 10))
        .append(
            " KiB alive, which is its limit (HandlerOptions::backlog_bytes): events of an object are merged, "
            "and the handler misses intermediate states");
  }
  return line + Others(event.count, "reports");
}
std::string Sentence(const Observer::Relisted& event) {
  std::string line(event.informer);
  line.append(event.streamed ? ": streamed " : ": listed ").append(std::to_string(event.objects));
  line.append(" objects at resource version ")
      .append(event.resource_version)
      .append(" in ")
      .append(Seconds(event.took));
  return line;
}
std::string Sentence(const Observer::ConnectionChanged& event) {
  return std::string(event.host) + (event.up ? ": connected" : ": no connection") + Why(event.error) +
         Others(event.count, "failures");
}
std::string Sentence(const Observer::ServerWarned& event) {
  return std::string(event.what).append(": the server warns: ").append(event.message) + Others(event.count, "warnings");
}
// As client-go writes it: "GET https://10.0.0.1:6443/api/v1/pods 200 in 12 milliseconds".
std::string Sentence(const Observer::Requested& event) {
  std::string line(event.method);
  line.append(" ").append(event.url).append(" ");
  line.append(event.status != 0 ? std::to_string(event.status) : "failed");
  line.append(" in ").append(LogValue(Milliseconds(event.took)).ToString()).append(" milliseconds");
  if (event.attempt > 1) line.append(", attempt ").append(std::to_string(event.attempt));
  line.append(Why(event.error));
  const auto add = [&line](std::string_view what, std::string_view text) {
    if (!text.empty()) line.append("; ").append(what).append(": ").append(text);
  };
  add("request headers", event.request_headers);
  add("request body", event.request_body);
  add("response headers", event.response_headers);
  add("response body", event.response_body);
  return line;
}

std::string Sentence(const Observer::LimiterWaited& event) {
  const bool threads = event.what == "executor threads";
  std::string line(event.what);
  line.append(": at the limit");
  if (threads) {
    line.append("; more calls wait until some return. Raise ExecutorOptions::max_threads if they may last long");
  }
  if (event.waited > Nanos::zero()) line.append(", waited ").append(Seconds(event.waited));
  return line;
}

}  // namespace kgen::detail
