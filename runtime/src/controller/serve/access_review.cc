// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/access_review.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <utility>

#include "client/request/errors.h"
#include "controller/serve/subject_access_review.h"
#include "controller/serve/token_review.h"
#include "core/execution/post_timer.h"
#include "core/out_of_memory.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/core/function.h"

namespace kgen::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Nanos kReviewLimit = seconds(10);  // of each of the two reviews, with its retries
constexpr Nanos kUserKept = minutes(1), kAllowKept = minutes(5), kDenyKept = seconds(30);
constexpr int kAttempts = 5;
constexpr std::size_t kMostKept = 1024;  // entries of each cache

// The token of "Bearer TOKEN", or "" if there is none. Its characters are those that RFC 6750 allows.
std::string_view TokenOf(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; };
  if (authorization.size() < kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), [&](char b, char a) { return same(a, b); })) {
    return {};
  }
  const std::string_view token = authorization.substr(kScheme.size());
  const bool valid = std::ranges::all_of(token, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~+/=").find(c) != std::string_view::npos;
  });
  return valid ? token : std::string_view();
}

bool MayPass(const Error& error) {
  return error.code() == Code::kUnavailable || error.code() == Code::kServer || error.code() == Code::kTooManyRequests;
}

// A user without a name if the text is none.
UserInfo UserOf(const std::string& json) {
  Result<UserInfo> user = Decode<UserInfo>(json);
  return user ? *std::move(user) : UserInfo();
}

std::string NameOf(const UserInfo& user) {
  return user.username.has_value() ? std::string(user.username) : "without a name";
}

// The body of a review of whether `user` may do this.
std::string AccessBody(const UserInfo& user, const std::string& verb, const std::string& path) {
  SubjectAccessReview review;
  SubjectAccessReviewSpec& spec = *review.spec;
  spec.extra = user.extra;
  spec.groups = user.groups;
  spec.nonResourceAttributes = NonResourceAttributes{.path = path, .verb = verb};
  spec.uid = user.uid;
  spec.user = user.username;
  return Encode(review);
}

AccessReview::Verdict Unauthorized() { return {.status = 401, .message = "Unauthorized"}; }
AccessReview::Verdict Denied(const std::string& user) {
  return {.status = 403, .message = "Authorization denied for user " + user};
}
AccessReview::Verdict TooMany() {
  return {.status = 429, .message = "Too many requests with tokens that have to be reviewed; try again"};
}

}  // namespace

// One request, repeated while the server cannot answer.
class AccessReview::Post final : public SharedObject {
 public:
  using Answered = UniqueFunction<void(Result<ApiResponse>)>;

  Post(const Connection& connection, std::string path, std::string body, std::string what, Answered answered)
      : connection_(connection),
        request_{.method = "POST",
                 .path = std::move(path),
                 .content_type = "application/json",
                 .body = std::move(body),
                 .what = std::move(what),
                 .json = true},
        deadline_(Later(connection.clock().Now(), kReviewLimit)),
        answered_(std::move(answered)) {}

  void Send() {
    ++attempts_;
    ApiRequest request = request_;
    // If it has passed, the call fails at once.
    request.timeout = std::max(deadline_ - connection_.clock().Now(), Nanos(1));
    connection_.CallAsync(std::move(request), [self = Shared<Post>(this)](Result<ApiResponse> answer) {
      self->OnAnswer(std::move(answer));
    });
  }

 private:
  void SendAgain() {
    try {
      Send();
    } catch (const std::bad_alloc&) {
      answered_(Fail(detail::OutOfMemory(request_.what)));
    }
  }

  void OnAnswer(Result<ApiResponse> answer) {
    const bool again =
        !answer && MayPass(answer.error()) && attempts_ < kAttempts && connection_.clock().Now() + pause_ < deadline_;
    if (!again) return answered_(std::move(answer));
    const Nanos pause = std::exchange(pause_, pause_ * 3 / 2);
    const MutexLock lock(mutex_);  // the timer may already run when it is assigned
    Executor& executor = connection_.executor();
    timer_ = detail::PostAfter(executor, executor.MakeStrand(request_.what), pause, TimerKind::kProgress,
                               [self = Shared<Post>(this)] { self->SendAgain(); });
  }

  const Connection connection_;
  const ApiRequest request_;
  const TimePoint deadline_;
  Answered answered_;
  int attempts_ = 0;
  Nanos pause_ = milliseconds(500);
  Mutex mutex_;
  Timer timer_ KGEN_GUARDED_BY(mutex_);
};

bool AccessReview::Line::Enter(TimePoint now) {
  if (under_way == most_under_way) return false;
  const TimePoint after = std::max(next, now) + between;
  if (after - now > between * most_at_once) return false;
  next = after;
  ++under_way;
  return true;
}

// A place in a line, for as long as it exists. Without a line it is none.
class AccessReview::Place {
 public:
  Place() = default;
  Place(Shared<AccessReview> of, Line AccessReview::* line) : of_(std::move(of)), line_(line) {}
  Place(Place&&) noexcept = default;
  Place& operator=(Place&&) noexcept = default;
  ~Place() {
    if (!of_) return;
    const MutexLock lock(of_->mutex_);
    --(of_.get()->*line_).under_way;
  }
  explicit operator bool() const noexcept { return static_cast<bool>(of_); }

 private:
  Shared<AccessReview> of_;
  Line AccessReview::* line_ = nullptr;
};

// A request that waits for its verdict.
struct AccessReview::Pending {
  std::string verb, path;
  Done done;
  Place place{};
};

AccessReview::Place AccessReview::Enter(Line AccessReview::* line) {
  const TimePoint now = connection_.clock().Now();
  const MutexLock lock(mutex_);
  return (this->*line).Enter(now) ? Place(Shared<AccessReview>(this), line) : Place();
}

void AccessReview::Review(std::string_view authorization, std::string verb, std::string path, Done done) {
  const std::string token(TokenOf(authorization));
  if (token.empty()) return done(Unauthorized());
  Pending pending{std::move(verb), std::move(path), std::move(done)};
  const std::string name = hash_.Of(token);
  std::optional<std::string> user;
  bool known = false, refused = false;
  {
    const TimePoint now = connection_.clock().Now();
    const MutexLock lock(mutex_);
    if (const Kept* const kept = users_.Find(name)) {
      known = true;
      if (kept->until > now) user = kept->text;
    }
    refused = IsKept(strangers_, name, now);
  }
  if (user) return OnUser(*user, std::move(pending));
  if (refused) return pending.done(Unauthorized());
  pending.place = Enter(known ? &AccessReview::known_line_ : &AccessReview::strangers_line_);
  if (!pending.place) return pending.done(TooMany());
  AskForUser(token, name, std::move(pending));
}

void AccessReview::AskForUser(const std::string& token, const std::string& name, Pending pending) {
  TokenReview review;
  review.spec->token = token;
  auto answered = [self = Shared<AccessReview>(this), name,
                   pending = std::move(pending)](Result<ApiResponse> answer) mutable {
    if (!answer) return pending.done({500, "Authentication failed", answer.error()});
    const Result<TokenReview> answered = Decode<TokenReview>(answer->body);
    const bool valid = answered && answered->status->authenticated == true && answered->status->user;
    const std::string text = valid ? Encode(*answered->status->user) : std::string();
    {
      const MutexLock lock(self->mutex_);
      self->Forget(valid ? self->strangers_ : self->users_, name);
      self->Keep(valid ? self->users_ : self->strangers_, name, text, kUserKept);
    }
    if (!valid) return pending.done(Unauthorized());
    self->OnUser(text, std::move(pending));
  };
  MakeShared<Post>(connection_, "/apis/authentication.k8s.io/v1/tokenreviews", Encode(review),
                   "review the token of a client of the endpoint", std::move(answered))
      ->Send();
}

void AccessReview::OnUser(const std::string& json, Pending pending) {
  const UserInfo user = UserOf(json);
  const std::string body = AccessBody(user, pending.verb, pending.path);
  const std::string name = hash_.Of(body);
  bool allowed = false, denied = false;
  {
    const TimePoint now = connection_.clock().Now();
    const MutexLock lock(mutex_);
    allowed = IsKept(allowed_, name, now);
    denied = IsKept(denied_, name, now);
  }
  if (allowed) return pending.done({});
  if (denied) return pending.done(Denied(NameOf(user)));
  if (!pending.place) pending.place = Enter(&AccessReview::known_line_);
  if (!pending.place) return pending.done(TooMany());
  const std::string what = "review whether " + NameOf(user) + " may " + pending.verb + " " + pending.path;
  auto answered = [self = Shared<AccessReview>(this), name, user = NameOf(user),
                   pending = std::move(pending)](Result<ApiResponse> answer) mutable {
    if (!answer) return pending.done({500, "Authorization for user " + user + " failed", answer.error()});
    const Result<SubjectAccessReview> answered = Decode<SubjectAccessReview>(answer->body);
    const bool may = answered && answered->status->allowed == true;
    {
      const MutexLock lock(self->mutex_);
      self->Forget(may ? self->denied_ : self->allowed_, name);
      self->Keep(may ? self->allowed_ : self->denied_, name, "", may ? kAllowKept : kDenyKept);
    }
    pending.done(may ? Verdict() : Denied(user));
  };
  MakeShared<Post>(connection_, "/apis/authorization.k8s.io/v1/subjectaccessreviews", body, what, std::move(answered))
      ->Send();
}

bool AccessReview::IsKept(Cache& cache, const std::string& name, TimePoint now) {
  const Kept* const kept = cache.Find(name);
  return kept != nullptr && kept->until > now;
}

void AccessReview::Forget(Cache& cache, const std::string& name) { cache.Erase(name); }

void AccessReview::Keep(Cache& cache, const std::string& name, std::string text, Nanos time) {
  if (name.empty()) return;
  Forget(cache, name);
  if (cache.size() == kMostKept) cache.EraseLeastRecentlyUsed();
  cache.Insert(name, Kept{std::move(text), connection_.clock().Now() + time});
}

}  // namespace kgen::controller
