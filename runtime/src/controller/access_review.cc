// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/access_review.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

namespace kgen::controller {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Nanos kLimit = seconds(10);  // of each of the two reviews, with its retries
constexpr Nanos kUserKept = minutes(1), kAllowKept = minutes(5), kDenyKept = seconds(30);
constexpr int kAttempts = 5;
constexpr std::size_t kMostKept = 1024;  // entries of a cache

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

// The member `name` of the status, or null.
json StatusOf(const ApiResponse& response, const char* name) {
  const json body = json::parse(response.body, nullptr, false);
  const json::json_pointer path(std::string("/status/") + name);
  return body.is_object() && body.contains(path) ? body.at(path) : json();
}

std::string TextOf(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string NameOf(const std::string& user) {
  const json parsed = json::parse(user, nullptr, false);
  return parsed.is_object() && parsed.contains("username") && parsed["username"].is_string()
             ? parsed["username"].get<std::string>()
             : "without a name";
}

// The body of a review of whether `user` may do this.
std::string AccessBody(const std::string& user, const std::string& verb, const std::string& path) {
  json spec = {{"nonResourceAttributes", {{"path", path}, {"verb", verb}}}};
  const json parsed = json::parse(user, nullptr, false);
  for (const auto& [from, to] : {std::pair("username", "user"), std::pair("uid", "uid"), std::pair("groups", "groups"),
                                 std::pair("extra", "extra")}) {
    if (parsed.is_object() && parsed.contains(from)) spec[to] = parsed[from];
  }
  return TextOf(
      {{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}});
}

}  // namespace

// One request, repeated while the server cannot answer.
class AccessReview::Post final : public SharedObject {
 public:
  using Answered = std::move_only_function<void(Result<ApiResponse>)>;

  Post(const Connection& connection, std::string path, std::string body, std::string what, Answered answered)
      : connection_(connection),
        request_{.method = "POST",
                 .path = std::move(path),
                 .content_type = "application/json",
                 .body = std::move(body),
                 .what = std::move(what),
                 .json = true},
        deadline_(Later(connection.clock().Now(), kLimit)),
        answered_(std::move(answered)) {}

  void Send() {
    ++attempts_;
    ApiRequest request = request_;
    // Negative if it has passed, which makes the call fail; 0 would mean none.
    request.timeout = std::max(deadline_ - connection_.clock().Now(), Nanos(1));
    connection_.CallAsync(std::move(request), [self = Shared<Post>(this)](Result<ApiResponse> answer) {
      self->OnAnswer(std::move(answer));
    });
  }

 private:
  void OnAnswer(Result<ApiResponse> answer) {
    const bool again =
        !answer && MayPass(answer.error()) && attempts_ < kAttempts && connection_.clock().Now() + pause_ < deadline_;
    if (!again) return answered_(std::move(answer));
    const Nanos pause = std::exchange(pause_, pause_ * 3 / 2);
    const MutexLock lock(mutex_);  // the timer may already run when it is assigned
    timer_ = connection_.clock().After(pause, TimerKind::kProgress, [self = Shared<Post>(this)] { self->Send(); });
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

void AccessReview::Review(std::string_view authorization, std::string verb, std::string path, Done done) {
  const std::string token(TokenOf(authorization));
  if (token.empty()) return done({.status = 401, .message = "Unauthorized"});
  std::optional<User> known;
  {
    const MutexLock lock(mutex_);
    known = Find(users_, token);
  }
  if (known) return OnUser(*known, verb, path, std::move(done));
  const json body = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}};
  auto answered = [self = Shared<AccessReview>(this), token, verb = std::move(verb), path = std::move(path),
                   done = std::move(done)](Result<ApiResponse> answer) mutable {
    if (!answer) return done({500, "Authentication failed", answer.error()});
    const json user = StatusOf(*answer, "user");
    const bool valid = StatusOf(*answer, "authenticated") == json(true) && user.is_object();
    const User found = valid ? User(TextOf(user)) : User();
    {
      const MutexLock lock(self->mutex_);
      self->Keep(self->users_, token, found, kUserKept);
    }
    self->OnUser(found, verb, path, std::move(done));
  };
  MakeShared<Post>(connection_, "/apis/authentication.k8s.io/v1/tokenreviews", TextOf(body),
                   "review the token of a client of the endpoint", std::move(answered))
      ->Send();
}

void AccessReview::OnUser(const User& user, const std::string& verb, const std::string& path, Done done) {
  if (!user) return done({.status = 401, .message = "Unauthorized"});
  const std::string body = AccessBody(*user, verb, path);
  auto decide = [name = NameOf(*user)](bool allowed, Done& to) {
    if (allowed) return to({});
    to({.status = 403, .message = "Authorization denied for user " + name});
  };
  std::optional<bool> known;
  {
    const MutexLock lock(mutex_);
    known = Find(allowed_, body);
  }
  if (known) return decide(*known, done);
  auto answered = [self = Shared<AccessReview>(this), body, decide, name = NameOf(*user),
                   done = std::move(done)](Result<ApiResponse> answer) mutable {
    if (!answer) return done({500, "Authorization for user " + name + " failed", answer.error()});
    const bool allowed = StatusOf(*answer, "allowed") == json(true);
    {
      const MutexLock lock(self->mutex_);
      self->Keep(self->allowed_, body, allowed, allowed ? kAllowKept : kDenyKept);
    }
    decide(allowed, done);
  };
  MakeShared<Post>(connection_, "/apis/authorization.k8s.io/v1/subjectaccessreviews", body,
                   "review whether " + NameOf(*user) + " may " + verb + " " + path, std::move(answered))
      ->Send();
}

template <typename T>
std::optional<T> AccessReview::Find(const Cache<T>& cache, std::string_view key) const {
  const auto found = cache.find(key);
  if (found == cache.end() || found->second.until <= connection_.clock().Now()) return std::nullopt;
  return found->second.value;
}

template <typename T>
void AccessReview::Keep(Cache<T>& cache, const std::string& key, T value, Nanos time) {
  const TimePoint now = connection_.clock().Now();
  if (cache.size() >= kMostKept) std::erase_if(cache, [now](const auto& entry) { return entry.second.until <= now; });
  if (cache.size() >= kMostKept) cache.clear();
  cache.insert_or_assign(key, Kept<T>{std::move(value), now + time});
}

}  // namespace kgen::controller
