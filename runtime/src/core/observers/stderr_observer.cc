// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/observers/stderr_observer.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "core/observers/custom_resource.h"

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

std::string Timestamp(std::chrono::sys_time<std::chrono::microseconds> time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<milliseconds>(time - day));
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02ld:%02ld:%02ld.%03ldZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<long>(clock.hours().count()), static_cast<long>(clock.minutes().count()),
                static_cast<long>(clock.seconds().count()), static_cast<long>(clock.subseconds().count()));
  return text;
}

// Appends text of a server or of user code so that it stays on one line.
void AppendEscaped(std::string& line, std::string_view text) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7F) {
      line += c;
    } else if (c == '\n' || c == '\r' || c == '\t') {
      line.append(c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
    } else {
      constexpr char kDigits[] = "0123456789ABCDEF";
      line.append("\\x").append({kDigits[code >> 4], kDigits[code & 15]});
    }
  }
}

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
constexpr auto kInfo = Severity::kInfo;
constexpr auto kWarning = Severity::kWarning;
constexpr auto kError = Severity::kError;

// Has no mutable state, so it is safe to use from any thread. A line is written with one call, so that lines are not
// mixed.
class Stderr final : public Observer {
 public:
  explicit Stderr(Shared<Clock> clock) : clock_(std::move(clock)) {}

  void OnListOrWatchFailed(const ListOrWatchFailed& event) override {
    std::string line(event.informer);
    line.append(event.informers > 1 ? ": list or watch failed" : event.watch ? ": watch failed" : ": list failed");
    line += WhyOf(event.informer, event.error);
    if (event.error != nullptr && event.error->code() == Code::kNotFound) {
      const std::string_view question = detail::AskForCrd(event.informer, line);
      if (!question.empty()) line.append("; ").append(question);
    }
    line += event.retry_in > Nanos::zero() ? "; next attempt in " + Seconds(event.retry_in) : "; next attempt at once";
    if (event.attempt > 1) line += " after " + std::to_string(event.attempt) + " failures in a row";
    if (event.gave_up) line += "; waiting for the cache to sync fails with this error";
    Write(event.gave_up ? kError : kWarning, line + Others(event.count, "failures"));
  }
  void OnRecovered(const Recovered& event) override {
    std::string line(event.source);
    if (!event.key.empty()) line.append(" ").append(event.key);
    line.append(event.count > 1 ? ": work again after up to " : ": works again after ");
    line.append(std::to_string(event.failures)).append(event.failures == 1 ? " failure in " : " failures in ");
    Write(kInfo, line + Seconds(event.after));
  }
  void OnObjectRefused(const ObjectRefused& event) override {
    Write(kWarning, Of(event.informer, event.key) + ": object refused, the cache keeps its last good state" +
                        Why(event.error) + Others(event.count, "refusals of objects"));
  }
  void OnFieldRefused(const FieldRefused& event) override {
    std::string line = Of(event.informer, event.key);
    line.append(": field ")
        .append(event.path)
        .append(" has the wrong type and reads as absent: ")
        .append(event.message);
    Write(kWarning, line + Others(event.count, "refusals of fields"));
  }
  void OnSavedCacheFailed(const SavedCacheFailed& event) override {
    std::string line(event.informer);
    line.append(event.saving ? ": the cache could not be saved" : ": no warm start").append(Why(event.error));
    line += event.saving ? "; next attempt in " + Seconds(event.retry_in) : "; listing instead";
    Write(kWarning, line + Others(event.count, "failures", event.informers, "informers"));
  }
  void OnHandlerFailed(const HandlerFailed& event) override {
    Write(kError, Of(event.informer, event.key).append(": handler threw: ").append(event.what) +
                      Others(event.count, "exceptions"));
  }
  void OnReconcileFailed(const ReconcileFailed& event) override {
    std::string line(event.queue);
    line.append(" ").append(event.key).append(": reconcile failed").append(Why(event.error));
    if (event.retry_in > Nanos::zero()) line.append("; next attempt in ").append(Seconds(event.retry_in));
    if (event.terminal) line.append("; no further attempt until the object changes");
    if (event.attempt > 1) line.append(" after ").append(std::to_string(event.attempt)).append(" failures in a row");
    Write(event.terminal ? kError : kWarning, line + Others(event.count, "failures", event.objects, "objects"));
  }
  void OnLogged(const Logged& event) override {
    std::string line(event.source);
    line.append(" ").append(event.key).append(": ").append(event.message);
    Write(event.warning ? kWarning : kInfo, line);
  }
  void OnLeadershipChanged(const LeadershipChanged& event) override {
    std::string line("lease ");
    line.append(event.lease).append(": ").append(event.identity).append(event.leading ? " leads" : " does not lead");
    if (!event.leading && !event.leader.empty()) line.append("; ").append(event.leader).append(" does");
    Write(event.error != nullptr ? kWarning : kInfo, line + Why(event.error) + Others(event.count, "failures"));
  }
  void OnEventDropped(const EventDropped& event) override {
    std::string line("event of ");
    line.append(event.about).append(" dropped: ").append(event.why);
    Write(kWarning, line + Others(event.count, "dropped events"));
  }
  void OnCheckFailed(const CheckFailed& event) override {
    Write(kWarning,
          std::string(event.check) + ": the check failed" + Why(event.error) + Others(event.count, "failures"));
  }
  void OnHandlerSlow(const HandlerSlow& event) override {
    Write(kWarning, Of(event.informer, event.key) + ": handler took " + Seconds(event.took) + ", " +
                        std::to_string(event.backlog) + " events wait");
  }
  void OnBacklogHigh(const BacklogHigh& event) override {
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
    Write(kWarning, line + Others(event.count, "reports"));
  }
  void OnRelisted(const Relisted& event) override {
    std::string line(event.informer);
    line.append(event.streamed ? ": streamed " : ": listed ").append(std::to_string(event.objects));
    line.append(" objects at resource version ")
        .append(event.resource_version)
        .append(" in ")
        .append(Seconds(event.took));
    Write(kInfo, line);
  }
  void OnConnectionChanged(const ConnectionChanged& event) override {
    Write(event.up ? kInfo : kWarning, std::string(event.host) + (event.up ? ": connected" : ": no connection") +
                                           Why(event.error) + Others(event.count, "failures"));
  }
  void OnServerWarned(const ServerWarned& event) override {
    Write(kWarning, std::string(event.what).append(": the server warns: ").append(event.message) +
                        Others(event.count, "warnings"));
  }
  void OnLimiterWaited(const LimiterWaited& event) override {
    const bool threads = event.what == "executor threads";
    std::string line(event.what);
    line.append(": at the limit");
    if (threads) {
      line.append("; more calls wait until some return. Raise ExecutorOptions::max_threads if they may last long");
    }
    if (event.waited > Nanos::zero()) line.append(", waited ").append(Seconds(event.waited));
    Write(threads ? kWarning : kInfo, line);
  }

 private:
  void Write(Severity severity, std::string_view text) const {
    std::string line = Timestamp(clock_->WallNow());
    line.append(severity == kInfo ? " INFO kgen: " : severity == kWarning ? " WARNING kgen: " : " ERROR kgen: ");
    AppendEscaped(line, text);
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      const auto written = write(STDERR_FILENO, rest.data(), rest.size());
      if (written < 0 && errno != EINTR) return;  // nowhere to report it
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  const Shared<Clock> clock_;
};

}  // namespace

Shared<Observer> NullObserver() {
  static const Shared<Observer>& observer = *new Shared<Observer>(MakeShared<Observer>());  // as below
  return observer;
}

Shared<Observer> MakeStderrObserver(Shared<Clock> clock) { return MakeShared<Stderr>(std::move(clock)); }

Shared<Observer> StderrObserver() {
  // Used until the process ends.
  static const Shared<Observer>& observer = *new Shared<Observer>(MakeStderrObserver(SystemClock()));
  return observer;
}

}  // namespace kgen
