// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a failed list or watch means for the next step of a reflector.
#ifndef KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_
#define KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_

#include "kgen/core/clock.h"
#include "kgen/core/result.h"

namespace kgen::cache {

bool IsExpired(const Error& error);          // reason Expired or Gone, or 410 with an unknown reason
bool HasReasonExpired(const Error& error);   // that reason alone: an expired continue token
bool IsVersionTooLarge(const Error& error);  // of three generations of servers
// Of a request that got no answer: there was no connection, or it broke before the head came, or the server cannot be
// trusted. Says nothing against the resource.
bool IsNoConnection(const Error& error);
bool IsRefusal(const Error& error);  // 401, 403, 404: retrying alone is unlikely to help
// What a server says to everybody while it starts, and a proxy whose server is away: 401, 403, 500, 502, 503, 504. And
// 404: custom resources are not found until the server has read their definitions.
bool MayBeStarting(const Error& error);

// So many refusals in a row, the first one so long ago, end a wait for the sync. A server that has just been started
// refuses everybody for some seconds.
inline constexpr int kRefusalsToGiveUp = 3;
inline constexpr Nanos kRefusedToGiveUp = std::chrono::seconds(15);

}  // namespace kgen::cache

#endif  // KGEN_RUNTIME_CACHE_WATCH_ERRORS_H_
