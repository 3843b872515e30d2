// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/certificate_keeper.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/request/pause.h"
#include "client/request/url_encoding.h"
#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "core/observers/notify_observer.h"
#include "kgen/core/executor.h"
#include "kgen/core/observer.h"
#include "kgen/core/quantity.h"
#include "kgen/core/time.h"
#include "net/base64.h"
#include "net/duration_text.h"

namespace kgen::controller {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr char kMark[] = "kgen.dev/webhook-certificates";  // the annotation of a Secret that kgen writes
constexpr Nanos kAskTimeEvery = std::chrono::hours(1);
constexpr Nanos kAnswerWithin = std::chrono::seconds(30);
constexpr Nanos kNoticeableSkew = std::chrono::minutes(5);
constexpr int kQuickRounds = 50;     // in a row, while each changes something
constexpr int kProgressPauses = 10;  // after so many failures in a row, a simulation that waits for the end goes on

json ObjectOf(const std::string& text) {
  if (detail::NestsTooDeep(text)) return {};
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

// The text at a path of members, or "".
std::string Said(const json& object, std::initializer_list<const char*> path) {
  const json* here = &object;
  for (const char* member : path) {
    if (!here->is_object()) return {};
    const auto found = here->find(member);
    if (found == here->end()) return {};
    here = &*found;
  }
  return here->is_string() ? here->get<std::string>() : std::string();
}

// Whether the server has not answered, so that it cannot be said what it would answer.
bool IsNoAnswer(Code code) {
  switch (code) {
    case Code::kUnavailable:
    case Code::kTls:
    case Code::kTimeout:
    case Code::kCancelled:
    case Code::kUnauthorized:
    case Code::kTooManyRequests:
    case Code::kInvalidArgument:
      return true;
    default:
      return false;
  }
}

CertificatePlan PlanOf(const CertificateSetup& setup) {
  return {.names = setup.names,
          .validity = setup.options.validity,
          .ca_validity = setup.options.ca_validity,
          .renew_before = setup.options.renew_before,
          .settle = setup.options.settle};
}

}  // namespace

Result<Shared<CertificateKeeper>> CertificateKeeper::Make(const Connection& connection, ManagedCertificates options,
                                                          std::string field_manager) {
  Result<CertificateSetup> setup = SetUpCertificates(std::move(options));
  if (!setup) return Fail(setup.error());
  return MakeShared<CertificateKeeper>(connection, *std::move(setup), std::move(field_manager));
}

CertificateKeeper::CertificateKeeper(const Connection& connection, CertificateSetup setup, std::string field_manager)
    : connection_(connection),
      executor_(connection.shared_executor()),
      clock_(executor_->clock()),
      setup_(std::move(setup)),
      plan_(PlanOf(setup_)),
      field_manager_(std::move(field_manager)),
      publisher_(connection, {.configurations = setup_.options.configurations,
                              .crds = setup_.options.crds,
                              .install = setup_.install,
                              .around = setup_.around,
                              .field_manager = field_manager_}),
      jitter_(SeedFrom(*clock_)) {}

Result<void> CertificateKeeper::Run(const std::stop_token& stop) {
  if (executor_->InPostedTask()) {
    return Fail(Code::kInvalidArgument, "the certificates of webhooks need a thread that may block");
  }
  for (int quick = 0;;) {
    const Result<bool> round = Round(stop);
    if (stop.stop_requested()) return {};
    OnRound(round);
    if (round && *round && ++quick < kQuickRounds) continue;
    quick = 0;
    const Result<void> paused = Pause(!round, stop);
    if (paused || paused.error().code() == Code::kTimeout) continue;
    return paused.error().code() == Code::kCancelled ? Result<void>() : paused;
  }
}

Result<void> CertificateKeeper::Pause(bool failed, const std::stop_token& stop) {
  constexpr Nanos kFirst = std::chrono::seconds(1);
  Nanos delay = setup_.options.poll;
  if (failed) {
    const Nanos longest = std::min(kFirst * (1 << std::min(failures_ - 1, 10)), delay);
    delay = jitter_.Between(longest / 2, longest);
    if (failures_ <= kProgressPauses) {
      return client::Pause(*executor_, "the certificates of webhooks: the next attempt", delay, stop);
    }
  }
  return executor_->MakeWaiter("the certificates of webhooks: the next round")->Wait(stop, Later(clock_->Now(), delay));
}

Result<bool> CertificateKeeper::Round(const std::stop_token& stop) {
  if (Result<void> asked = AskTime(stop); !asked) return Fail(asked.error());
  if (Result<void> read = publisher_.Read(stop); !read) return Fail(read.error());
  // After the configurations: see certificate_plan.h.
  const Result<StoredSecret> secret = ReadSecret(stop);
  if (!secret) return Fail(secret.error());
  Result<std::optional<CertificateStep>> step = NextStep(secret->state, publisher_.publications(), Now(), plan_);
  if (!step) return Fail(step.error());
  if (*step) {
    const Result<void> written = WriteSecret(*secret, (*step)->state, stop);
    const Code code = written ? Code::kInternal : written.error().code();
    // Another replica was faster. The next round reads what it has made.
    if (code == (secret->exists ? Code::kConflict : Code::kAlreadyExists)) return true;
    if (code == Code::kNotFound && secret->exists) return true;
    if (!written) return Fail(written.error());
    Log(LogLevel::kInfo, (*step)->what);
    return true;
  }
  const Result<bool> published = publisher_.Write(secret->state.Bundle(), stop);
  if (published && *published) return true;
  NotePublished(secret->state);
  // A configuration that cannot be written does not keep this replica from serving what all of them trust.
  if (const Result<bool> served = Serve(secret->state); !served) return served;
  if (!published) return published.error().code() == Code::kConflict ? true : published;
  if (publisher_.installed() || !has_certificate()) return false;
  const Result<bool> made = publisher_.Install(secret->state.Bundle(), stop);
  if (!made && made.error().code() != Code::kConflict) return made;
  return true;  // to read back what was installed
}

// Certificates are checked with the API server's clock, so this replica uses that, too. It also makes all replicas
// agree.
Result<void> CertificateKeeper::AskTime(const std::stop_token& stop) {
  if (asked_ && clock_->NowWithSuspend() - *asked_ < kAskTimeEvery) return {};
  // The server stamps what it would create.
  const json probe = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"generateName", "kgen-time-"}}}};
  const Result<ApiResponse> answer =
      Send({.method = "POST",
            .path = "/api/v1/namespaces/" + client::EscapeSegment(setup_.options.namespace_) + "/secrets",
            .query = "dryRun=All",
            .content_type = "application/json",
            .body = probe.dump()},
           "ask for the time with a dry run of: create secrets in " + setup_.options.namespace_, stop);
  if (!answer && IsNoAnswer(answer.error().code())) return Fail(answer.error());
  const auto own = std::chrono::floor<seconds>(clock_->WallNow());
  const Result<Time> said =
      Time::Parse(answer ? Said(ObjectOf(answer->body), {"metadata", "creationTimestamp"}) : std::string());
  answered_ = said ? std::chrono::floor<seconds>(said->value()) : own;
  asked_ = clock_->NowWithSuspend();
  const Nanos skew = std::chrono::abs(own - answered_);
  if (skew >= kNoticeableSkew) {
    Log(LogLevel::kWarning, "the clock of this machine is " + net::DurationText(skew) +
                                (own < answered_ ? " behind" : " ahead of") +
                                " the API server's; certificates follow the API server's");
  }
  return {};
}

std::chrono::sys_seconds CertificateKeeper::Now() const {
  return answered_ + std::chrono::floor<seconds>(clock_->NowWithSuspend() - *asked_);
}

Result<CertificateKeeper::StoredSecret> CertificateKeeper::ReadSecret(const std::stop_token& stop) {
  const std::string key = setup_.options.namespace_ + "/" + setup_.options.secret;
  Result<ApiResponse> answer = Send({.path = "/api/v1/namespaces/" + client::EscapeSegment(setup_.options.namespace_) +
                                             "/secrets/" + client::EscapeSegment(setup_.options.secret),
                                     .json = true},
                                    "get secrets " + key, stop);
  StoredSecret secret;
  SecretData data;
  if (!answer && answer.error().code() != Code::kNotFound) return Fail(answer.error());
  if (answer) {
    const json object = ObjectOf(answer->body);
    if (Said(object, {"metadata", "resourceVersion"}).empty()) {
      return Fail(Code::kDecode, "get secrets " + key + ": the answer is no object of Kubernetes");
    }
    const auto found = object.find("data");
    if (found != object.end() && found->is_object()) {
      for (const auto& [name, value] : found->items()) {
        if (value.is_string()) data[name] = net::DecodeBase64(value.get_ref<const std::string&>()).value_or("");
      }
    }
    const bool empty = std::ranges::all_of(data, [](const auto& entry) { return entry.second.empty(); });
    if (!empty && Said(object, {"metadata", "annotations", kMark}).empty()) {
      return Fail(Code::kConfig,
                  "the Secret " + key + " has data that kgen has not written. Name another one in " +
                      "ManagedCertificates::secret, or delete it, or, if it is kgen's, annotate it: kubectl -n " +
                      setup_.options.namespace_ + " annotate secret " + setup_.options.secret + " " + kMark + "=v1");
    }
    secret.exists = true;
    secret.json = std::move(answer->body);
  }
  const std::string text = detail::CompactJson(json(data));
  if (text != decoded_data_ || decoded_data_.empty()) {
    decoded_ = DecodeState(data);
    decoded_data_ = text;
  }
  secret.state = decoded_;
  return secret;
}

Result<void> CertificateKeeper::WriteSecret(const StoredSecret& before, const CertificateState& state,
                                            const std::stop_token& stop) const {
  const std::string& in_namespace = setup_.options.namespace_;
  const std::string& name = setup_.options.secret;
  json object = before.exists ? ObjectOf(before.json)
                              : json{{"apiVersion", "v1"},
                                     {"kind", "Secret"},
                                     {"type", "kubernetes.io/tls"},
                                     {"metadata", {{"name", name}, {"namespace", in_namespace}}}};
  json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = json::object();
  annotations[kMark] = "v1";
  object["data"] = json::object();
  for (const auto& [key, value] : EncodeState(state)) object["data"][key] = Bytes::Of(value).base64();
  std::string path = "/api/v1/namespaces/" + client::EscapeSegment(in_namespace) + "/secrets";
  if (before.exists) path += "/" + client::EscapeSegment(name);
  return Discard(Send({.method = before.exists ? "PUT" : "POST",
                       .path = std::move(path),
                       .query = "fieldManager=" + client::EscapeSegment(field_manager_),
                       .content_type = "application/json",
                       .body = detail::CompactJson(object)},
                      (before.exists ? "update secrets " : "create secrets ") + in_namespace + "/" + name, stop));
}

void CertificateKeeper::NotePublished(const CertificateState& state) {
  std::map<std::string, std::chrono::sys_seconds> since;
  const auto note = [&](const std::string& pem, std::chrono::sys_seconds at) {
    if (pem.empty() || !AllPublish(publisher_.publications(), pem)) return;
    const auto known = published_since_.find(pem);
    since[pem] = known == published_since_.end() ? at : std::min(known->second, at);
  };
  note(state.authority.facts.pem, Now());
  note(state.next.facts.pem, std::min(Now(), state.published.value_or(Now())));
  published_since_ = std::move(since);
}

// Whether API servers had time to notice the authority. There is no time to give if what is served now is of no use.
bool CertificateKeeper::IsNoticed(const CertificateState& state) const {
  const std::string& pem = state.authority.facts.pem;
  if (!has_certificate() || served_authority_ == pem) return true;
  if (!AllPublish(publisher_.publications(), served_authority_)) return true;
  const auto seconds = [](Nanos duration) { return std::chrono::ceil<std::chrono::seconds>(duration); };
  if (served_until_ <= Now() + seconds(2 * setup_.options.poll)) return true;
  return published_since_.at(pem) + seconds(setup_.options.settle) <= Now();
}

// Serves the certificate to new connections, if every configuration trusts it. True if that is so.
Result<bool> CertificateKeeper::Serve(const CertificateState& state) {
  const std::string& pem = state.serving.facts.pem;
  if (!AllPublish(publisher_.publications(), state.authority.facts.pem)) {
    const MutexLock lock(mutex_);
    waiting_for_ = "a webhook configuration or CRD does not publish its CA yet";
    return false;
  }
  if (current_pem() == pem) return true;
  if (!IsNoticed(state)) return false;
  const net::Identity& identity = state.serving.identity;
  Result<Shared<net::TlsContext>> context = net::TlsContext::ForServer(
      {.certificate_pem = identity.certificate_pem, .key_pem = identity.key_pem, .alpn = ""});
  if (!context) return Fail(context.error().With("serve the certificate of the Secret " + setup_.options.secret));
  const MutexLock lock(mutex_);
  served_authority_ = state.authority.facts.pem;
  served_until_ = state.serving.facts.validity.until;
  identity_ = identity;
  current_pem_ = pem;
  context_ = *std::move(context);
  client_ca_pem_.clear();
  return true;
}

Shared<net::TlsContext> CertificateKeeper::Current(const std::string& client_ca_pem) {
  const MutexLock lock(mutex_);
  if (current_pem_.empty() || client_ca_pem == client_ca_pem_) return context_;
  // Clients that offer several protocols take HTTP/1.1 if the server selects none.
  Result<Shared<net::TlsContext>> context = net::TlsContext::ForServer({.certificate_pem = identity_.certificate_pem,
                                                                        .key_pem = identity_.key_pem,
                                                                        .client_ca_pem = client_ca_pem,
                                                                        .alpn = ""});
  context_ = context ? *std::move(context) : Shared<net::TlsContext>();
  client_ca_pem_ = client_ca_pem;
  return context_;
}

std::string CertificateKeeper::current_pem() const {
  const MutexLock lock(mutex_);
  return current_pem_;
}

Result<void> CertificateKeeper::Ready() const {
  const MutexLock lock(mutex_);
  if (!current_pem_.empty()) return {};
  return Fail(Code::kUnavailable, "the webhooks have no certificate: " + waiting_for_);
}

Result<ApiResponse> CertificateKeeper::Send(ApiRequest request, std::string what, const std::stop_token& stop) const {
  request.what = std::move(what);
  request.timeout = kAnswerWithin;
  return connection_.Call(std::move(request), stop);
}

// Reports what has changed since the last round.
void CertificateKeeper::OnRound(const Result<bool>& round) {
  if (!round) {
    ++failures_;
    const std::string text = round.error().ToString();
    if (text != reported_) Log(LogLevel::kWarning, "the certificates of webhooks cannot be kept: " + text);
    reported_ = text;
    const MutexLock lock(mutex_);
    waiting_for_ = text;
    return;
  }
  if (failures_ > 0) Log(LogLevel::kInfo, "the certificates of webhooks can be kept again");
  failures_ = 0;
  reported_.clear();
  std::vector<std::string> problems = publisher_.problems();
  for (const std::string& problem : problems) {
    if (std::ranges::find(problems_, problem) == problems_.end()) Log(LogLevel::kWarning, problem);
  }
  problems_ = std::move(problems);
}

void CertificateKeeper::Log(LogLevel level, const std::string& message) const {
  NotifyObserver(Shared<Observer>(&connection_.observer()), [&](Observer& observer) {
    observer.OnLogged({.source = "webhook certificates",
                       .key = setup_.options.namespace_ + "/" + setup_.options.secret,
                       .message = message,
                       .level = level});
  });
}

}  // namespace kgen::controller
