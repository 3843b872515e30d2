// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Records as the lines of a log. Every function returns a line with its line feed and of at most kLogLineBytes.
#ifndef KGEN_SRC_CORE_OBSERVERS_LOG_LINE_H_
#define KGEN_SRC_CORE_OBSERVERS_LOG_LINE_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/core/clock.h"
#include "kgen/core/log.h"
#include "kgen/core/log_record.h"

namespace kgen::detail {

using WallTime = decltype(std::declval<Clock&>().WallNow());

struct LogHead {
  WallTime time{};
  LogLevel level{};
  LogComponent component{};
  std::string_view cluster{};  // "": none
};

// "2026-11-23T07:35:34.123Z WARNING kgen: " and the sentence, in which control characters are escaped. If the record is
// about a cluster, "cluster NAME: " comes before the sentence.
std::string TextLine(const LogHead& head, std::string_view sentence);
// `own` are fields of the library, and empty texts among them are left out; `more` are fields of the program.
std::string StructuredLine(LogFormat format, const LogHead& head, std::string_view message,
                           std::span<const LogField> own, std::span<const LogField> more);

// Returns "key=value", with the value in quotes where that is necessary to see its end.
std::string LogfmtField(const LogField& field);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OBSERVERS_LOG_LINE_H_
