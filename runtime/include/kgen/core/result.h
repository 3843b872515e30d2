// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Result<T>, Error and Code: errors as values; and Must() for main() and tests.
//
//   auto pod = pods.Get("web-0");
//   if (!pod && pod.error().code() == kgen::Code::kNotFound) ...
//   std::cerr << pod.error() << '\n';     // "get pods default/web-0: pods "web-0" not found (NotFound, 404)"
//   auto sure = kgen::Must(pods.Get("web-0"));          // throws kgen::Exception with the whole message
//
// The library never throws because of a server, a file or the network. docs/lifetimes.md lists all that ends a process.
#ifndef KGEN_CORE_RESULT_H_
#define KGEN_CORE_RESULT_H_

#include <cstdint>
#include <exception>
#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if !defined(__cpp_lib_expected)
#error "kgen needs std::expected: compile with -std=c++23, and with GCC 12, Clang 19 or a newer one"
#endif
#if defined(_LIBCPP_VERSION) && !defined(__cpp_lib_jthread)
#error "kgen needs std::stop_token: libc++ before version 20 has it only with -fexperimental-library"
#endif

#include "kgen/core/shared.h"

namespace kgen {

namespace meta::v1 {
struct Status;
}

// Says what went wrong, as far as programs need to distinguish cases. The set is closed: a new cause maps to one of
// these.
enum class Code : std::uint8_t {
  // Errors on the client's side.
  kInvalidArgument,  // the call or its arguments; nothing was sent
  kConfig,           // kubeconfig or another file: unreadable, malformed, contradictory
  kCancelled,        // a stop was requested, or the object that served the call was destroyed
  kTimeout,          // a deadline passed, here or (504, reason Timeout) on the server
  kDecode,           // the bytes cannot be decoded
  kStopped,          // the informer or factory has been stopped
  kUserCode,         // a function of the user (transform, index, handler) threw
  kDeadlock,         // simulation only: nothing can run and a thread waits
  kInternal,         // out of memory, or a bug in kgen: please report the latter
  // Errors of the connection.
  kUnavailable,  // refused, reset, frozen, not resolvable, or the server says 503
  kTls,          // certificate or handshake; retrying will not help
  // Errors of the server: its Status, by reason and then by HTTP status.
  kUnauthorized,      // 401
  kForbidden,         // 403
  kNotFound,          // 404
  kMethodNotAllowed,  // 405
  kAlreadyExists,     // 409, reason AlreadyExists
  kConflict,          // 409 otherwise: the object changed meanwhile
  kExpired,           // 410: resource version or continue token too old
  kRequestTooLarge,   // 413
  kUnsupportedMedia,  // 406, 415
  kInvalid,           // 422, and 400: the object or the request was refused; causes say which field
  kTooManyRequests,   // 429
  kServer,            // 500 and everything else
};

// Returns "NotFound" for kNotFound, as in Status.reason where there is such a reason.
std::string_view ToString(Code code) noexcept;
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, Code code) {
  return os << ToString(code);
}

// Names a property that a layer above gives to errors. Its address is its identity, so it must be a constant with
// static storage.
struct ErrorTag {};

// A failure: a code, a message, the server's Status if it sent one, and the operations that failed, outermost first.
//
// Thread safety: immutable after construction; copies share their state. 8 bytes.
class [[nodiscard]] Error {
 public:
  // Makes an error of this side, without a Status of a server.
  Error(Code code, std::string_view message);
  // Makes an error that keeps the Status; the message is the server's.
  static Error FromStatus(const meta::v1::Status& status, Code code);
  // Makes the error of a transport that could not connect to the server (name not resolved, refused, silent, TLS
  // handshake failed). The message names the address and the reason.
  static Error NotConnected(std::string_view message, Code code = Code::kUnavailable);

  Code code() const noexcept;                   // what went wrong
  const std::string& message() const noexcept;  // the innermost message, without the operations
  // Returns the server's answer: reason, causes with field paths, retryAfterSeconds. Null if no server was involved.
  const meta::v1::Status* status() const noexcept;
  // Returns the seconds that the server asked to wait (Retry-After header or details.retryAfterSeconds); 0 if it did
  // not ask.
  std::int32_t retry_after_seconds() const noexcept;
  // Returns whether there was no connection at all, so that the server has seen nothing of the request. False if a
  // connection was lost, because the server may have received the request.
  bool not_connected() const noexcept;
  bool HasTag(const ErrorTag& tag) const noexcept;

  // Returns this failure as part of an outer operation: With("list pods") makes "list pods: ...". Adds nothing if the
  // message already begins with that operation.
  Error With(std::string_view doing) const;
  Error WithRetryAfter(std::int32_t seconds) const;
  // Returns this failure with `tag` in place of an earlier tag.
  Error WithTag(const ErrorTag& tag) const;

  // `return kgen::Error(...)` from a function that returns a Result.
  template <typename T>
  operator std::expected<T, Error>() const {
    return std::unexpected<Error>(*this);
  }

  // Returns everything in one line: the operations, the message, the code, and each cause.
  std::string ToString() const;

  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os, const Error& error) {
    return os << error.ToString();
  }

 private:
  struct State;
  explicit Error(Shared<const State> state) noexcept;
  Shared<const State> state_;
};

// A value, or the error for which there is none.
template <typename T>
using Result = std::expected<T, Error>;

// Prints the value, or "error: " and the whole message. A value that cannot be printed is just "a value".
template <typename T, typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os,
                                             const std::expected<T, Error>& result) {
  if (!result) return os << "error: " << result.error();
  if constexpr (requires { os << *result; }) {
    return os << *result;
  } else {
    return os << (std::is_void_v<T> ? "success" : "a value");
  }
}

// Make the failure that a function returns: `return kgen::Fail(kgen::Code::kInvalidArgument, "no name");`.
inline std::unexpected<Error> Fail(Code code, std::string_view message) {
  return std::unexpected<Error>(Error(code, message));
}
inline std::unexpected<Error> Fail(Error error) { return std::unexpected<Error>(std::move(error)); }

// The exception of Must(). what() is Error::ToString().
class Exception : public std::exception {
 public:
  explicit Exception(Error error);  // what() is made here, once
  const char* what() const noexcept override { return text_.c_str(); }
  const Error& error() const noexcept { return error_; }  // as it was given

 private:
  Error error_;
  std::string text_;
};

namespace detail {
[[noreturn]] void ThrowError(Error error);
}

// Returns the value, by value, or throws Exception. For main() and tests.
template <typename T>
T Must(Result<T> result) {
  if (!result) detail::ThrowError(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Drops the value of a result and keeps the error.
template <typename T>
Result<void> Discard(Result<T> result) {
  if (!result) return std::unexpected<Error>(std::move(result).error());
  return {};
}

}  // namespace kgen

#endif  // KGEN_CORE_RESULT_H_
