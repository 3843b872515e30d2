// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AccessReview: asks the API server whether the sender of a request may read a path of the endpoint.
//
//   Authorization header --> TokenReview --> user --> SubjectAccessReview --> Verdict
#ifndef KGEN_SRC_CONTROLLER_SERVE_ACCESS_REVIEW_H_
#define KGEN_SRC_CONTROLLER_SERVE_ACCESS_REVIEW_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/memory/lru_map.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/function.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/keyed_hash.h"

namespace kgen::controller {

// Thread safety: all members from any thread; none blocks. A review ends after 20 seconds at most.
//
// Anybody can send tokens, and each that is not known costs a request to the API server. So reviews are limited, and
// those whose token was a user's the last time have a line of their own, which strangers cannot fill. What is kept of
// users and permissions is apart from what is kept of others for the same reason.
class AccessReview final : public SharedObject {
 public:
  struct Verdict {
    int status = 200;  // of the response: 200 (go on), 401, 403, 429 (later) or 500
    std::string message{};
    std::optional<Error> error{};  // with 500: why there is no answer
  };
  using Done = UniqueFunction<void(Verdict)>;

  explicit AccessReview(Connection connection) : connection_(std::move(connection)) {}

  // `authorization` is the value of the header, `verb` the method in lower case. `done` is called once, on any thread,
  // also inside this call; must be short.
  void Review(std::string_view authorization, std::string verb, std::string path, Done done);

 private:
  class Post;
  class Place;
  struct Pending;
  struct Kept {
    std::string text;
    TimePoint until;
  };
  using Cache = detail::LruMap<Kept>;
  struct Line {
    const int most_under_way;
    const Nanos between;     // the beginnings of two, on average
    const int most_at_once;  // that begin after a pause
    int under_way = 0;
    TimePoint next{};  // when one may begin, if none may begin before its turn

    bool Enter(TimePoint now);
  };

  Place Enter(Line AccessReview::* line);
  void AskForUser(const std::string& token, const std::string& name, Pending pending);
  // `json` is the user in the status of a TokenReview.
  void OnUser(const std::string& json, Pending pending);
  static bool IsKept(Cache& cache, const std::string& name, TimePoint now);
  static void Forget(Cache& cache, const std::string& name);
  void Keep(Cache& cache, const std::string& name, std::string text, Nanos time) KGEN_REQUIRES(mutex_);

  const Connection connection_;
  const net::KeyedHash hash_;  // of tokens, and of bodies of a SubjectAccessReview
  Mutex mutex_;
  Line strangers_line_ KGEN_GUARDED_BY(mutex_){16, std::chrono::milliseconds(100), 20};
  Line known_line_ KGEN_GUARDED_BY(mutex_){64, std::chrono::milliseconds(20), 64};
  Cache users_ KGEN_GUARDED_BY(mutex_);      // by token: the user. An old entry stands for a token that was a user's
  Cache strangers_ KGEN_GUARDED_BY(mutex_);  // tokens that are nobody's
  Cache allowed_ KGEN_GUARDED_BY(mutex_);    // by the body of the SubjectAccessReview
  Cache denied_ KGEN_GUARDED_BY(mutex_);
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_ACCESS_REVIEW_H_
