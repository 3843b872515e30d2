// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// AccessReview: asks the API server whether the sender of a request may read a path of the endpoint.
//
//   Authorization header --> TokenReview --> user --> SubjectAccessReview --> Verdict
#ifndef KGEN_SRC_CONTROLLER_ACCESS_REVIEW_H_
#define KGEN_SRC_CONTROLLER_ACCESS_REVIEW_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::controller {

// Thread safety: all members from any thread; none blocks. A review ends after 20 seconds at most.
class AccessReview final : public SharedObject {
 public:
  struct Verdict {
    int status = 200;  // of the response: 200 (go on), 401, 403 or 500
    std::string message{};
    std::optional<Error> error{};  // with 500: why there is no answer
  };
  using Done = std::move_only_function<void(Verdict)>;

  explicit AccessReview(Connection connection) : connection_(std::move(connection)) {}

  // `authorization` is the value of the header, `verb` the method in lower case. `done` is called once, on any thread,
  // also inside this call; must be short.
  void Review(std::string_view authorization, std::string verb, std::string path, Done done);

 private:
  class Post;
  // A user as in the status of a TokenReview, as JSON. Nothing: the token is no user's.
  using User = std::optional<std::string>;
  template <typename T>
  struct Kept {
    T value;
    TimePoint until;
  };
  template <typename T>
  using Cache = std::map<std::string, Kept<T>, std::less<>>;

  void OnUser(const User& user, const std::string& verb, const std::string& path, Done done);
  template <typename T>
  std::optional<T> Find(const Cache<T>& cache, std::string_view key) const KGEN_REQUIRES(mutex_);
  template <typename T>
  void Keep(Cache<T>& cache, const std::string& key, T value, Nanos time) KGEN_REQUIRES(mutex_);

  const Connection connection_;
  Mutex mutex_;
  Cache<User> users_ KGEN_GUARDED_BY(mutex_);    // by token
  Cache<bool> allowed_ KGEN_GUARDED_BY(mutex_);  // by the body of the SubjectAccessReview
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ACCESS_REVIEW_H_
