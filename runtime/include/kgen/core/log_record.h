// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// LogLevel, LogComponent, LogField: the words of a log record, which kgen/core/observer.h and kgen/core/log.h share.
#ifndef KGEN_CORE_LOG_RECORD_H_
#define KGEN_CORE_LOG_RECORD_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace kgen {

// How severe a record is, and up to which severity a component writes: a component at kInfo writes INFO, WARNING and
// ERROR.
enum class LogLevel : std::uint8_t {
  kOff,      // as the level of a component: nothing. No record has it.
  kError,    // somebody has to act
  kWarning,  // the library goes on and tries again
  kInfo,     // what an operator may want to know
  kDebug,    // for finding a fault
  kTrace,    // all that there is
};
std::string_view ToString(LogLevel level) noexcept;  // "off", "error", "warning", "info", "debug", "trace"

// The part of the library that a record comes from.
enum class LogComponent : std::uint8_t {
  kInformer,    // lists, watches, refused objects, saved caches
  kHandler,     // event handlers that threw, are slow or fall behind
  kController,  // reconcile functions, work queues, and what a reconcile function logs
  kElection,    // the lease of a leader
  kEvents,      // Events that do not reach the server
  kEndpoint,    // checks of health and readiness
  kClient,      // connections, credentials, warnings of servers
  kExecutor,    // threads
};
std::string_view ToString(LogComponent component) noexcept;  // "informer", "handler", ...

// The value of a field: a text, an integer, a floating-point number or a bool. Refers to the text, which must live as
// long as the field: a temporary in the call that gets the field does.
class LogValue {
 public:
  // Take a text, a number or a bool. A null pointer is an empty text.
  template <typename T>
    requires std::is_convertible_v<const T&, std::string_view>
  LogValue(const T& text) noexcept : kind_(Kind::kText), text_(text) {}
  LogValue(const char* text) noexcept : kind_(Kind::kText), text_(text != nullptr ? text : "") {}
  template <std::signed_integral T>
  LogValue(T number) noexcept : kind_(Kind::kSigned), signed_(number) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  LogValue(T number) noexcept : kind_(Kind::kUnsigned), unsigned_(number) {}
  LogValue(double number) noexcept : kind_(Kind::kReal), real_(number) {}
  LogValue(std::same_as<bool> auto value) noexcept : kind_(Kind::kBool), bool_(value) {}

  // Says whether the value is a text, and returns it; "" for other values.
  bool is_text() const noexcept { return kind_ == Kind::kText; }
  std::string_view text() const noexcept { return is_text() ? text_ : std::string_view(); }
  // True if ToString() is also the value in JSON: for numbers but infinities and NaN, and for bool.
  bool is_json() const noexcept;
  std::string ToString() const;  // the text, "-7", "0.25", "true"

 private:
  enum class Kind : std::uint8_t { kText, kSigned, kUnsigned, kReal, kBool };
  Kind kind_;
  union {
    std::string_view text_;
    std::int64_t signed_;
    std::uint64_t unsigned_;
    double real_;
    bool bool_;
  };
};

// A name and a value in a record of the log.
struct LogField {
  std::string_view key;  // the name
  LogValue value;
};

}  // namespace kgen

#endif  // KGEN_CORE_LOG_RECORD_H_
