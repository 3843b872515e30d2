// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// HttpSite: what an HttpPort serves.
//
//   HttpPort --MaxBody(head), Handle(call)--> HttpSite --ResponseWriter--> HttpPort
#ifndef KGEN_SRC_CONTROLLER_HTTP_HTTP_SITE_H_
#define KGEN_SRC_CONTROLLER_HTTP_HTTP_SITE_H_

#include <cstddef>
#include <optional>

#include "controller/http/byte_budget.h"
#include "kgen/core/clock.h"
#include "kgen/core/shared.h"
#include "net/http1_session.h"
#include "net/response_writer.h"

namespace kgen::controller {

// A request that has arrived as a whole.
struct HttpCall {
  net::ServerRequest request{};
  Shared<net::ResponseWriter> writer{};
  TimePoint begun{};                  // when its head had arrived
  Shared<ByteBudget::Share> bytes{};  // what the body holds. Whoever keeps the body, keeps this.
};

// All members on the loop's thread; none blocks.
class HttpSite : public SharedObject {
 public:
  // Whether connections with this request are closed before others if there are too many.
  virtual bool Yields(const net::ServerRequest& /*request*/) const noexcept { return false; }
  // Whether another such request must close the connection of an older one, because of what their answers hold.
  virtual bool Crowded() const noexcept { return false; }
  // The limit of the body of the request with this head.
  virtual std::size_t MaxBody(const net::ServerRequest& head) = 0;
  // Answers a request whose body is larger, and is not read. Nothing: 413.
  virtual std::optional<net::Http1Session::Reply> TooLarge(const net::ServerRequest& /*head*/) { return std::nullopt; }
  // Answers, now or later.
  virtual void Handle(HttpCall call) = 0;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_HTTP_HTTP_SITE_H_
