// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen's controller for `./dev bench reconcile`. bench/peers/reconcile/ measures it, and contains the counterpart for
// controller-runtime, which does the same.
//
//   kgen_reconcile --objects N --workers N --repeat N
//
// Reconciles the ConfigMaps object-0 to object-(N-1) of the namespace "reconcile": each call reads the object from the
// cache. Prints "synced" when each has been reconciled once. 15 seconds after its first call, each is reconciled as
// often again as --repeat says, 1 ms after the call before; then "done" is printed. Runs until SIGTERM.
#include <k8s/core/v1/types.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/controller/manager.h"
#include "kgen/core/stop.h"

namespace {

using k8s::core::v1::ConfigMap;

constexpr std::string_view kPrefix = "object-";

class Reconciler {
 public:
  Reconciler(int objects, int repeat) : calls_of_(static_cast<std::size_t>(objects)), repeat_(repeat) {}

  kgen::Result<kgen::Requeue> operator()(kgen::Request& request) {
    KGEN_TRY(const auto object, request.Get<ConfigMap>());
    if (!object || object->metadata.namespace_ != "reconcile") return kgen::Requeue::Done();
    const int call = ++calls_of_[Number(object->metadata.name)];
    const std::size_t all = ++calls_;
    if (all == calls_of_.size()) std::cout << "synced" << std::endl;
    if (all == calls_of_.size() * static_cast<std::size_t>(1 + repeat_)) std::cout << "done" << std::endl;
    if (call > repeat_) return kgen::Requeue::Done();
    if (call == 1) return kgen::Requeue::After(std::chrono::seconds(15));
    return kgen::Requeue::After(std::chrono::milliseconds(1));
  }

 private:
  static std::size_t Number(std::string_view name) {
    std::size_t number = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
    return number;
  }

  std::vector<std::atomic<int>> calls_of_;
  std::atomic<std::size_t> calls_{0};
  const int repeat_;
};

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, int> flags{{"--objects", 0}, {"--workers", 1}, {"--repeat", 0}};
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = std::atoi(argv[i + 1]);
  if (flags.size() != 3 || flags["--objects"] < 1) {
    std::cerr << "usage: kgen_reconcile --objects N --workers N --repeat N; see ./dev bench reconcile\n";
    return 2;
  }
  const auto config = kgen::Must(kgen::rest::LoadConfig());  // without rate limits, as by default
  const auto manager = kgen::Must(kgen::Manager::New(config));
  Reconciler reconciler(flags["--objects"], flags["--repeat"]);
  kgen::Must(manager.Control<ConfigMap>("reconcile")
                 .MaxConcurrentReconciles(flags["--workers"])
                 .Reconcile([&](kgen::Request& request) { return reconciler(request); }));
  kgen::Must(manager.Run(kgen::StopOnSignals()));
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
