// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/log.h"

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "core/observers/custom_resource.h"
#include "core/observers/log_levels.h"
#include "core/observers/log_line.h"
#include "core/observers/log_sentences.h"
#include "core/observers/text_log.h"
#include "core/quoted.h"

namespace kgen {
namespace {

constexpr char kVariable[] = "KGEN_LOG";

std::string Text(const ObjectKey* key) { return key != nullptr ? key->str() : std::string(); }
std::string Text(const Error* error) { return error != nullptr ? error->ToString() : std::string(); }
std::string_view CodeOf(const Error* error) { return error != nullptr ? ToString(error->code()) : std::string_view(); }
double Seconds(Nanos duration) { return std::chrono::duration<double>(duration).count(); }

// A number that says nothing when it is 1.
LogField Many(std::string_view key, std::size_t count) { return {key, count > 1 ? LogValue(count) : LogValue("")}; }
LogField Wait(std::string_view key, Nanos duration) {
  return {key, duration > Nanos::zero() ? LogValue(Seconds(duration)) : LogValue("")};
}

// A pointer, so that a program with the default log alone does not contain the other formats.
using Structured = decltype(&detail::StructuredLine);

class Log final : public LogObserver {
 public:
  // `structured` may be null for LogFormat::kText.
  Log(LoggingOptions options, Structured structured)
      : format_(options.format),
        structured_(structured),
        sink_(options.sink ? std::move(options.sink) : StderrSink()),
        clock_(options.clock ? std::move(options.clock) : SystemClock()) {
    Begin("LoggingOptions::levels", options.levels);
    const char* const variable = std::getenv(kVariable);
    Begin(kVariable, variable != nullptr ? variable : "");
  }

  Result<void> SetLevels(std::string_view levels) override { return levels_.Set(levels); }
  bool IsEnabled(LogComponent component, LogLevel severity) const noexcept override {
    return levels_.IsEnabled(component, severity);
  }

  void OnListOrWatchFailed(const ListOrWatchFailed& e) override {
    const bool missing = e.error != nullptr && e.error->code() == Code::kNotFound;
    const std::string error = Text(e.error);
    Say(e.gave_up ? LogLevel::kError : LogLevel::kWarning, LogComponent::kInformer,
        e.informers > 1 ? "list or watch failed"
        : e.watch       ? "watch failed"
                        : "list failed",
        e,
        {{"informer", e.informer},
         {"code", CodeOf(e.error)},
         {"attempt", e.attempt},
         {"retry_in_seconds", Seconds(e.retry_in)},
         {"gave_up", e.gave_up},
         Many("count", e.count),
         Many("informers", e.informers),
         {"error", error},
         {"hint", missing ? detail::AskForCrd(e.informer, error) : std::string_view()}});
  }
  void OnRecovered(const Recovered& e) override {
    const bool informer = e.key.empty();
    Say(LogLevel::kInfo, informer ? LogComponent::kInformer : LogComponent::kController, "works again", e,
        {{informer ? "informer" : "controller", e.source},
         {"object", e.key},
         {"failures", e.failures},
         {"after_seconds", Seconds(e.after)},
         Many("count", e.count)});
  }
  void OnObjectRefused(const ObjectRefused& e) override {
    Say(LogLevel::kWarning, LogComponent::kInformer, "object refused", e,
        {{"informer", e.informer},
         {"object", Text(e.key)},
         {"code", CodeOf(e.error)},
         Many("count", e.count),
         {"error", Text(e.error)}});
  }
  void OnFieldRefused(const FieldRefused& e) override {
    Say(LogLevel::kWarning, LogComponent::kInformer, "field refused", e,
        {{"informer", e.informer},
         {"object", Text(e.key)},
         {"field", e.path},
         Many("count", e.count),
         {"error", e.message}});
  }
  void OnSavedCacheFailed(const SavedCacheFailed& e) override {
    Say(LogLevel::kWarning, LogComponent::kInformer, e.saving ? "cache not saved" : "no warm start", e,
        {{"informer", e.informer},
         {"path", e.path},
         {"code", CodeOf(e.error)},
         Wait("retry_in_seconds", e.retry_in),
         Many("count", e.count),
         Many("informers", e.informers),
         {"error", Text(e.error)}});
  }
  void OnHandlerFailed(const HandlerFailed& e) override {
    Say(LogLevel::kError, LogComponent::kHandler, "handler threw", e,
        {{"informer", e.informer}, {"object", Text(e.key)}, Many("count", e.count), {"error", e.what}});
  }
  void OnReconcileFailed(const ReconcileFailed& e) override {
    Say(e.terminal ? LogLevel::kError : LogLevel::kWarning, LogComponent::kController, "reconcile failed", e,
        {{"controller", e.queue},
         {"object", e.key},
         {"code", CodeOf(e.error)},
         {"attempt", e.attempt},
         Wait("retry_in_seconds", e.retry_in),
         {"terminal", e.terminal},
         Many("count", e.count),
         Many("objects", e.objects),
         {"error", Text(e.error)}});
  }
  void OnLogged(const Logged& e) override {
    const std::string_view source = e.component == LogComponent::kController ? "controller" : "source";
    Say(e.level, e.component, e.message, e, {{source, e.source}, {"object", e.key}, {"id", e.id}}, e.fields);
  }
  void OnLeadershipChanged(const LeadershipChanged& e) override {
    Say(e.error != nullptr ? LogLevel::kWarning : LogLevel::kInfo, LogComponent::kElection,
        e.leading ? "leads" : "does not lead", e,
        {{"lease", e.lease},
         {"identity", e.identity},
         {"leader", e.leader},
         {"code", CodeOf(e.error)},
         Many("count", e.count),
         {"error", Text(e.error)}});
  }
  void OnEventDropped(const EventDropped& e) override {
    Say(LogLevel::kWarning, LogComponent::kEvents, "event dropped", e,
        {{"about", e.about}, Many("count", e.count), {"error", e.why}});
  }
  void OnCheckFailed(const CheckFailed& e) override {
    Say(LogLevel::kWarning, LogComponent::kEndpoint, "check failed", e,
        {{"check", e.check}, {"code", CodeOf(e.error)}, Many("count", e.count), {"error", Text(e.error)}});
  }
  void OnHandlerSlow(const HandlerSlow& e) override {
    Say(LogLevel::kWarning, LogComponent::kHandler, "handler is slow", e,
        {{"informer", e.informer}, {"object", Text(e.key)}, {"took_seconds", Seconds(e.took)}, {"backlog", e.backlog}});
  }
  void OnBacklogHigh(const BacklogHigh& e) override {
    Say(LogLevel::kWarning, LogComponent::kHandler, e.merging ? "events are merged" : "events wait", e,
        {{"informer", e.informer},
         {"handler", e.handler},
         {"backlog", e.backlog},
         {"bytes", e.bytes},
         {"merging", e.merging},
         Many("count", e.count)});
  }
  void OnRelisted(const Relisted& e) override {
    Say(LogLevel::kInfo, LogComponent::kInformer, "listed", e,
        {{"informer", e.informer},
         {"objects", e.objects},
         {"resource_version", e.resource_version},
         {"streamed", e.streamed},
         {"took_seconds", Seconds(e.took)}});
  }
  void OnConnectionChanged(const ConnectionChanged& e) override {
    Say(e.up ? LogLevel::kInfo : LogLevel::kWarning, LogComponent::kClient, e.up ? "connected" : "no connection", e,
        {{"host", e.host}, {"code", CodeOf(e.error)}, Many("count", e.count), {"error", Text(e.error)}});
  }
  void OnServerWarned(const ServerWarned& e) override {
    Say(LogLevel::kWarning, LogComponent::kClient, "the server warns", e,
        {{"request", e.what}, Many("count", e.count), {"warning", e.message}});
  }
  void OnRequested(const Requested& e) override {
    Say(e.detailed ? LogLevel::kTrace : LogLevel::kDebug, LogComponent::kClient, "request", e,
        {{"method", e.method},
         {"url", e.url},
         {"request", e.what},
         {"status", e.status},
         {"milliseconds", Seconds(e.took) * 1e3},
         {"attempt", e.attempt},
         {"code", CodeOf(e.error)},
         {"error", Text(e.error)},
         {"request_headers", e.request_headers},
         {"request_body", e.request_body},
         {"response_headers", e.response_headers},
         {"response_body", e.response_body}});
  }
  void OnLimiterWaited(const LimiterWaited& e) override {
    const bool threads = e.what == "executor threads";
    Say(threads ? LogLevel::kWarning : LogLevel::kInfo, threads ? LogComponent::kExecutor : LogComponent::kClient,
        "at the limit", e, {{"what", e.what}, Wait("waited_seconds", e.waited)});
  }

 private:
  // Sets the levels before the first event. Somebody has to see that they are wrong, so no level hides the warning.
  void Begin(std::string_view from, std::string_view levels) {
    if (levels.empty()) return;
    const Result<void> set = levels_.Set(levels);
    if (set) return;
    const std::string error = set.error().ToString();
    const std::string line = std::string(from) + " is ignored: " + detail::Quoted(levels) + ": " + error;
    const detail::LogHead head{clock_->WallNow(), LogLevel::kWarning, LogComponent::kClient};
    const LogField fields[] = {{"variable", from}, {"value", levels}, {"error", error}};
    Write(head, "log levels ignored", line, fields, {});
  }

  template <typename Event>
  void Say(LogLevel level, LogComponent component, std::string_view message, const Event& event,
           std::initializer_list<LogField> fields, std::span<const LogField> more = {}) {
    if (!levels_.IsEnabled(component, level)) return;
    const std::string sentence = format_ == LogFormat::kText ? detail::Sentence(event) : std::string();
    Write({clock_->WallNow(), level, component, event.cluster}, message, sentence, {fields.begin(), fields.size()},
          more);
  }

  void Write(const detail::LogHead& head, std::string_view message, std::string_view sentence,
             std::span<const LogField> fields, std::span<const LogField> more) {
    const std::string line = format_ == LogFormat::kText ? detail::TextLine(head, sentence)
                                                         : structured_(format_, head, message, fields, more);
    try {
      sink_->Write(head.level, line);
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nowhere else to say so
    }
  }

  const LogFormat format_;
  const Structured structured_;
  const Shared<LogSink> sink_;
  const Shared<Clock> clock_;
  detail::LogLevels levels_;
};

}  // namespace

Shared<LogObserver> MakeLogObserver(LoggingOptions options) {
  return MakeShared<Log>(std::move(options), &detail::StructuredLine);
}

Shared<LogObserver> detail::MakeTextLog(Shared<Clock> clock) {
  return MakeShared<Log>(LoggingOptions{.clock = std::move(clock)}, nullptr);
}

Shared<Observer> NullObserver() {
  static const Shared<Observer>& observer = *new Shared<Observer>(MakeShared<Observer>());  // as below
  return observer;
}

Shared<Observer> StderrObserver() {
  // Used until the process ends.
  static const Shared<Observer>& observer = *new Shared<Observer>(detail::MakeTextLog({}));
  return observer;
}

}  // namespace kgen
