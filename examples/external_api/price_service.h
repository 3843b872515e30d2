// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// PriceService: the external service as the controller sees it. http_price_service.h asks a real one; tests have a
// fake.
#ifndef KGEN_EXAMPLES_EXTERNAL_API_PRICE_SERVICE_H_
#define KGEN_EXAMPLES_EXTERNAL_API_PRICE_SERVICE_H_

#include <kgen/core/clock.h>
#include <kgen/core/result.h>
#include <kgen/core/string.h>
#include <kgen/core/time.h>

#include <stop_token>
#include <string_view>

// A price, and the time for which the service gave it.
struct Quote {
  kgen::String price{};
  kgen::Time time{};
};

// Thread safety: any thread; several calls at once.
class PriceService {
 public:
  virtual ~PriceService() = default;

  // Asks once for the price of a pair, such as "EUR-USD". Blocks until the service has answered, for `timeout` at the
  // longest.
  // Errors: kTimeout, kUnavailable and others  the service failed; Error::retry_after_seconds() is the pause that it
  //                                            asked for, or 0
  //         kCancelled                         `stop` was requested
  virtual kgen::Result<Quote> Fetch(std::string_view pair, std::stop_token stop, kgen::Nanos timeout) = 0;
};

#endif  // KGEN_EXAMPLES_EXTERNAL_API_PRICE_SERVICE_H_
