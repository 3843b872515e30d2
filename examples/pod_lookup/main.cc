// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Answers questions from standard input, one a line: `address 10.0.3.7`, `container containerd://4f6b...`, `uid ...`,
// `owner ...`. With `--cache FOLDER` it saves the pods in that folder, and answers at once after a restart.
#include <kgen/client/config.h>
#include <kgen/core/stop.h>

#include <iostream>
#include <string>
#include <string_view>

#include "pod_lookup.h"

int main(int argc, char** argv) {
  const bool cached = argc == 3 && std::string_view(argv[1]) == "--cache";
  if (argc != 1 && !cached) {
    std::cerr << "usage: pod_lookup [--cache FOLDER]\n";
    return 2;
  }
  const std::stop_token stop = kgen::StopOnSignals();
  PodLookup lookup(kgen::Must(kgen::Connection::Open(kgen::Must(kgen::rest::LoadConfig()))), cached ? argv[2] : "");
  kgen::Must(lookup.Start(stop));
  if (!lookup.IsCurrent()) std::cerr << "pod_lookup: answering from the saved pods until the server confirms them\n";
  const auto print = [](const PodLookup::Entry& pod) {
    if (pod)
      std::cout << pod->metadata.namespace_ << '/' << pod->metadata.name << " on " << pod->spec->nodeName << '\n';
  };
  for (std::string what, value; std::cin >> what >> value;) {
    if (what == "address") print(lookup.ByAddress(value));
    if (what == "container") print(lookup.ByContainer(value));
    if (what == "uid") print(lookup.ByUid(value));
    if (what == "owner") {
      for (const PodLookup::Entry& pod : lookup.ByOwner(value)) print(pod);
    }
  }
}
