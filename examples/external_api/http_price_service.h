// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HttpPriceService: a PriceService over HTTP, by libcurl. kgen's own transport is for API servers: it speaks HTTP/2
// only, and repeats requests by itself, which would hide the pause that a service asks for.
//
//   GET URL/EUR-USD  ->  {"price": "1.0834", "time": "2026-11-24T19:00:00Z"}
#ifndef KGEN_EXAMPLES_EXTERNAL_API_HTTP_PRICE_SERVICE_H_
#define KGEN_EXAMPLES_EXTERNAL_API_HTTP_PRICE_SERVICE_H_

#include <string>

#include "price_service.h"

// Thread safety: as PriceService. Each call opens a connection of its own, and looks at its stop token about once a
// second. Redirects are not followed.
class HttpPriceService : public PriceService {
 public:
  // `url` has the scheme http or https and no slash at its end. The first object sets up libcurl, which is not thread
  // safe, so make it before other threads use libcurl.
  explicit HttpPriceService(std::string url);

  // Errors: kTimeout      no whole response within `timeout`
  //         kUnavailable  not connected, or an HTTP status other than 200; with the pause of Retry-After, if there is
  //         one kDecode       the response is not JSON as above, or larger than 64 KiB kCancelled    `stop` was
  //         requested
  kgen::Result<Quote> Fetch(std::string_view pair, std::stop_token stop, kgen::Nanos timeout) override;

 private:
  const std::string url_;
};

#endif  // KGEN_EXAMPLES_EXTERNAL_API_HTTP_PRICE_SERVICE_H_
