// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a failed list or watch means for the next step of a reflector.
#ifndef KGEN_SRC_CACHE_REFLECTOR_WATCH_ERRORS_H_
#define KGEN_SRC_CACHE_REFLECTOR_WATCH_ERRORS_H_

#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::cache {

bool IsExpired(const Error& error);          // reason Expired or Gone, or 410 with an unknown reason
bool HasReasonExpired(const Error& error);   // only the reason Expired: an expired continue token
bool IsVersionTooLarge(const Error& error);  // as three generations of servers report it
// True if a request got no response: there was no connection, it broke before the response began, or the server cannot
// be trusted. This is not a failure of the resource.
bool IsNoConnection(const Error& error);
bool IsRefusal(const Error& error);  // 401, 403, 404: retrying alone is unlikely to help
// The statuses that a server may return while it starts, or a proxy whose server is unavailable: 401, 403, 500, 502,
// 503, 504. Also 404: custom resources are not found until the server has read their definitions.
bool MayBeStarting(const Error& error);

// A wait for the sync fails after this many refusals in a row, if the first one is this long ago. A server that has
// just started refuses everybody for some seconds.
inline constexpr int kRefusalsToGiveUp = 3;
inline constexpr Nanos kRefusedToGiveUp = std::chrono::seconds(15);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_WATCH_ERRORS_H_
