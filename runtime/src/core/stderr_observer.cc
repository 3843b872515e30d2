// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "kgen/core/observer.h"

namespace kgen {
namespace {

std::string Seconds(Nanos duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", std::chrono::duration<double>(duration).count());
  return text;
}

std::string Of(std::string_view informer, const ObjectKey* key) {
  std::string text(informer);
  if (key != nullptr) text.append(" ").append(key->str());
  return text;
}

std::string Others(std::size_t count) {
  return count > 1 ? " (one of " + std::to_string(count) + " such events since the last line)" : std::string();
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

// Stateless, so it is safe to use from any thread. A line is written with one call, so that lines are not mixed.
class Stderr final : public Observer {
 public:
  void OnListOrWatchFailed(const ListOrWatchFailed& event) override {
    std::string line(event.informer);
    line.append(event.watch ? ": watch failed" : ": list failed").append(WhyOf(event.informer, event.error));
    line += event.retry_in > Nanos::zero() ? "; next attempt in " + Seconds(event.retry_in) : "; next attempt at once";
    if (event.attempt > 1) line += " after " + std::to_string(event.attempt) + " failures in a row";
    if (event.gave_up) line += "; waiting for the cache to sync fails with this error";
    Write(line + Others(event.count));
  }
  void OnObjectRefused(const ObjectRefused& event) override {
    Write(Of(event.informer, event.key) + ": object refused, the cache keeps its last good state" + Why(event.error) +
          Others(event.count));
  }
  void OnFieldRefused(const FieldRefused& event) override {
    std::string line = Of(event.informer, event.key);
    line.append(": field ")
        .append(event.path)
        .append(" has the wrong type and reads as absent: ")
        .append(event.message);
    Write(line + Others(event.count));
  }
  void OnHandlerFailed(const HandlerFailed& event) override {
    Write(Of(event.informer, event.key).append(": handler threw: ").append(event.what) + Others(event.count));
  }
  void OnReconcileFailed(const ReconcileFailed& event) override {
    std::string line(event.queue);
    line.append(" ").append(event.key).append(": reconcile failed").append(Why(event.error));
    if (event.retry_in > Nanos::zero()) line.append("; next attempt in ").append(Seconds(event.retry_in));
    if (event.terminal) line.append("; no further attempt until the object changes");
    if (event.attempt > 1) line.append(" after ").append(std::to_string(event.attempt)).append(" failures in a row");
    Write(line + Others(event.count));
  }
  void OnLogged(const Logged& event) override {
    std::string line(event.source);
    line.append(" ").append(event.key).append(event.warning ? ": warning: " : ": ").append(event.message);
    Write(line);
  }
  void OnLeadershipChanged(const LeadershipChanged& event) override {
    std::string line("lease ");
    line.append(event.lease).append(": ").append(event.identity).append(event.leading ? " leads" : " does not lead");
    if (!event.leading && !event.leader.empty()) line.append("; ").append(event.leader).append(" does");
    Write(line + Why(event.error) + Others(event.count));
  }
  void OnEventDropped(const EventDropped& event) override {
    std::string line("event of ");
    line.append(event.about).append(" dropped: ").append(event.why);
    Write(line + Others(event.count));
  }
  void OnCheckFailed(const CheckFailed& event) override {
    Write(std::string(event.check) + ": the check failed" + Why(event.error) + Others(event.count));
  }
  void OnHandlerSlow(const HandlerSlow& event) override {
    Write(Of(event.informer, event.key) + ": handler took " + Seconds(event.took) + ", " +
          std::to_string(event.backlog) + " events wait");
  }
  void OnBacklogHigh(const BacklogHigh& event) override {
    Write(std::string(event.informer) + ": " + std::to_string(event.backlog) + " events wait for a handler");
  }
  void OnRelisted(const Relisted& event) override {
    std::string line(event.informer);
    line.append(event.streamed ? ": streamed " : ": listed ").append(std::to_string(event.objects));
    line.append(" objects at resource version ")
        .append(event.resource_version)
        .append(" in ")
        .append(Seconds(event.took));
    Write(line);
  }
  void OnConnectionChanged(const ConnectionChanged& event) override {
    Write(std::string(event.host) + (event.up ? ": connected" : ": no connection") + Why(event.error) +
          Others(event.count));
  }
  void OnServerWarned(const ServerWarned& event) override {
    Write(std::string(event.what).append(": the server warns: ").append(event.message) + Others(event.count));
  }
  void OnLimiterWaited(const LimiterWaited& event) override {
    std::string line(event.what);
    line.append(": at the limit");
    if (event.waited > Nanos::zero()) line.append(", waited ").append(Seconds(event.waited));
    Write(line);
  }

 private:
  // Replaces control characters, so that text of a server or of user code stays on one line.
  static void Write(std::string_view text) {
    std::string line = "kgen: ";
    for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const auto written = write(STDERR_FILENO, rest.data(), rest.size());
      if (written < 0 && errno != EINTR) return;  // nowhere to report it
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

}  // namespace

Shared<Observer> NullObserver() {
  static const Shared<Observer>& observer = *new Shared<Observer>(MakeShared<Observer>());  // as below
  return observer;
}

Shared<Observer> StderrObserver() {
  static const Shared<Observer>& observer = *new Shared<Observer>(MakeShared<Stderr>());  // used until the process ends
  return observer;
}

}  // namespace kgen
