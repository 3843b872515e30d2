// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/election/candidate.h"

#include <algorithm>
#include <utility>

#include "kgen/client/requests.h"
#include "kgen/codec/encode.h"
#include "kgen/core/time.h"

namespace kgen::controller {
namespace {

constexpr KindInfo kLeaseCandidates = {.group = "coordination.k8s.io",
                                       .version = "v1beta1",
                                       .kind = "LeaseCandidate",
                                       .list_kind = "LeaseCandidateList",
                                       .resource = "leasecandidates",
                                       .singular = "leasecandidate",
                                       .scope = Scope::kNamespaced,
                                       .list = nullptr};

// The control plane waits five seconds for the answers of candidates.
constexpr Nanos kLookEvery = std::chrono::seconds(2);
constexpr Nanos kLookForApi = std::chrono::minutes(1);  // after the server has said that it has no candidates
constexpr Nanos kTimeout = std::chrono::seconds(5);     // of one request

// Whether the server does not serve the resource, rather than not have the object.
bool IsNotServed(const Error& error) {
  const meta::v1::Status* const status = error.status();
  return error.code() == Code::kNotFound && (status == nullptr || status->details->name.empty());
}

MicroTime TimeAt(const Unstructured& candidate, std::string_view path) {
  const Result<String> text = candidate.GetString(path);
  const Result<MicroTime> time = text ? MicroTime::Parse(text->view()) : MicroTime();
  return time ? *time : MicroTime();
}

}  // namespace

Candidate::Candidate(const Connection& connection, LeaderElectionOptions options, Shared<Strand> strand,
                     std::function<void(const Error&)> on_failure)
    : options_(std::move(options)),
      connection_(connection),
      candidates_(connection, kLeaseCandidates, options_.namespace_),
      executor_(connection.shared_executor()),
      strand_(std::move(strand)),
      on_failure_(std::move(on_failure)) {}

void Candidate::Stop() noexcept {
  stopped_ = true;
  next_.Cancel();
  on_failure_ = {};
}

std::string Candidate::Now() const {
  return MicroTime(std::chrono::floor<std::chrono::microseconds>(executor_->clock()->WallNow())).str();
}

// An answer that cannot be handled for want of memory counts as a failed look.
template <typename Then>
void Candidate::Send(Result<ApiRequest> request, Then then) {
  if (!request) return (this->*then)(Fail(request.error()));
  request->timeout = kTimeout;
  request->unlimited = true;
  std::string what = request->what;
  connection_.CallAsync(*std::move(request), [self = Shared<Candidate>(this), what = std::move(what),
                                              then](Result<ApiResponse> response) mutable {
    Result<std::string> body = response ? Result<std::string>(std::move(response->body)) : Fail(response.error());
    self->executor_->Post(self->strand_, [self, what = std::move(what), then, body = std::move(body)] {
      if (self->stopped_) return;
      try {
        (self.get()->*then)(detail::DecodeBody<Unstructured>(body, what));
      } catch (const std::bad_alloc&) {
        self->Again();
      }
    });
  });
}

void Candidate::Again() {
  next_.After(served_ == Served::kNo ? kLookForApi : std::min(kLookEvery, options_.retry_period),
              TimerKind::kHousekeeping, [self = Shared<Candidate>(this)] { self->Look(); });
}

void Candidate::Look() {
  if (stopped_) return;
  try {
    Send(candidates_.Get(options_.identity, "", {}), &Candidate::OnRead);
  } catch (const std::bad_alloc&) {
    Again();
  }
}

void Candidate::OnRead(Result<Unstructured> candidate) {
  if (candidate) {
    served_ = Served::kYes;
    if (TimeAt(*candidate, "spec.pingTime") > TimeAt(*candidate, "spec.renewTime"))
      return Answer(*std::move(candidate));
    return Again();
  }
  if (candidate.error().code() == Code::kNotFound && !IsNotServed(candidate.error())) {
    return Send(candidates_.Create(options_.namespace_, Encode(Made()), {}), &Candidate::OnCreated);
  }
  Failed(std::move(candidate).error());
}

Unstructured Candidate::Made() const {
  Unstructured made{.apiVersion = "coordination.k8s.io/v1beta1", .kind = "LeaseCandidate"};
  made.metadata.name = options_.identity;
  made.metadata.namespace_ = options_.namespace_;
  const auto set = [&](std::string_view member, const std::string& text) {
    (void)made.Set("spec." + std::string(member), text);  // fails for a wrong path alone
  };
  set("leaseName", options_.name);
  set("binaryVersion", options_.coordinated->binary_version);
  set("emulationVersion", options_.coordinated->emulation_version);
  set("strategy", "OldestEmulationVersion");
  set("renewTime", Now());
  return made;
}

void Candidate::Answer(Unstructured candidate) {
  if (Result<void> set = candidate.Set("spec.renewTime", Now()); !set) return Failed(set.error());
  Send(candidates_.Update(options_.namespace_, options_.identity, "", Encode(candidate), {}), &Candidate::OnAnswered);
}

void Candidate::OnCreated(Result<Unstructured> candidate) {
  if (!candidate && candidate.error().code() != Code::kAlreadyExists) return Failed(std::move(candidate).error());
  served_ = Served::kYes;
  Again();
}

// If somebody else has written or deleted it in between, the next look shows that.
void Candidate::OnAnswered(Result<Unstructured> candidate) {
  const bool changed = !candidate && (candidate.error().code() == Code::kConflict ||
                                      (candidate.error().code() == Code::kNotFound && !IsNotServed(candidate.error())));
  if (!candidate && !changed) return Failed(std::move(candidate).error());
  Again();
}

void Candidate::Failed(Error error) {
  if (IsNotServed(error)) {
    served_ = Served::kNo;
    return Again();
  }
  if (error.code() == Code::kForbidden) {
    error = error.With("missing rights (grant get, create and update on leasecandidates of coordination.k8s.io in " +
                       std::string("namespace ") + options_.namespace_ + ")");
  }
  if (on_failure_) on_failure_(error);
  Again();
}

}  // namespace kgen::controller
