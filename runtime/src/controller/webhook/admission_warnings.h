// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The warnings of one review, cut to what a server passes on to its client.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_WARNINGS_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_WARNINGS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::controller {

// Thread safety: one thread at a time.
class AdmissionWarnings {
 public:
  // Adds a warning, unless it is there already or empty. Line breaks and other control characters become spaces,
  // because servers drop a warning that has one.
  void Add(std::string_view text);

  // Returns the warnings in their order. A server sends up to 4,096 characters for a request, and shortens each warning
  // to 256 where there are more. So if these have more, each is shortened here, visibly, and the last warning says how
  // many there are that do not fit.
  std::vector<std::string> Fitting() const;

 private:
  std::vector<std::string> distinct_;
  std::size_t characters_ = 0;  // of `distinct_`
  std::size_t more_ = 0;        // warnings that were counted and not kept
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_ADMISSION_WARNINGS_H_
