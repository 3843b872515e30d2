// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// From the address of an API server to a TCP connection: names resolved, all addresses tried, the first that answers
// taken.
#ifndef KGEN_SRC_CLIENT_DIAL_H_
#define KGEN_SRC_CLIENT_DIAL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/event_loop.h"
#include "kgen/client/config.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::net {

// Where a server is, taken apart.
struct Target {
  std::string host{};  // name or IP address, without brackets
  std::uint16_t port = 0;
  bool tls = false;
  std::string authority{};  // for :authority, as it was written
  std::string proxy{};      // the variable that names a proxy for it, which is not used; "" if there is none
  std::string Name() const { return Address{host, port}.ToString(); }
};

// Of rest::Config::host; the path is not looked at. Errors: kConfig, naming the host. [CLI CFG-1]
Result<Target> ParseTarget(const rest::Config& config);

struct DialOptions {
  Nanos timeout = std::chrono::seconds(30);              // of all of it
  Nanos attempt_delay = std::chrono::milliseconds(250);  // until the next address is tried beside a silent one
};

// One attempt to reach a target. All members on the loop's thread.
class Dialer final : public SharedObject {
 public:
  Dialer(Shared<EventLoop> loop, Shared<Executor> executor, Target target, DialOptions options)
      : loop_(std::move(loop)), executor_(std::move(executor)), target_(std::move(target)), options_(options) {}

  // `done` is called once, never inside this call, unless Cancel() came first.
  // Errors: kUnavailable  not resolved, refused, silent; the message has each address and why
  void Start(std::move_only_function<void(Result<Shared<TcpStream>>)> done);
  void Cancel() noexcept;

 private:
  struct Resolved {
    std::vector<Address> addresses{};
    std::string error{};
  };
  struct Reply;
  static void Resolve(const Target& target, Resolved& out);

  void OnResolved(Resolved resolved);
  void TryNext();
  void OnAttempt(std::size_t index, std::string_view error);
  void GiveUp(const std::string& why);
  void Finish(Result<Shared<TcpStream>> result);

  const Shared<EventLoop> loop_;
  const Shared<Executor> executor_;
  const Target target_;
  const DialOptions options_;
  std::move_only_function<void(Result<Shared<TcpStream>>)> done_;
  std::vector<Address> addresses_;
  std::vector<Shared<TcpStream>> attempts_;
  std::size_t failed_ = 0;
  std::string errors_;
  Timer deadline_, next_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_CLIENT_DIAL_H_
