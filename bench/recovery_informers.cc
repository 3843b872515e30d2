// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The program with kgen's informers for `./dev bench recovery`. bench/peers/recovery/ runs the rounds and contains the
// counterpart for client-go.
//
//   kgen_recovery --server URL --namespaces A,B --user-agent NAME
//
// Twelve informers for each namespace, or for all namespaces at once when the list is empty. Prints "synced" when all
// caches are, and one line for each call of a handler, with the time in nanoseconds since 1970:
//
//   1790000000000000000 + pods recovery-0/object-1 4711
#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/core/stop.h"

namespace {

// Writes each line with one call, so that the lines of several handlers are not mixed.
void Print(const std::string& line) {
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) std::exit(1);
}

void PrintEvent(char sign, const std::string& resource, const std::string& key, std::string_view version) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  std::string line = std::to_string(now.count());
  line.append(" ").append(1, sign).append(" ").append(resource).append(" ").append(key).append(" ");
  Print(line.append(version).append("\n"));
}

template <typename T>
[[nodiscard]] kgen::Registration Watch(kgen::SharedInformer<T> informer, const std::string& resource) {
  return informer.AddEventHandler({
      .on_add =
          [resource](const kgen::Added<T>& e) {
            PrintEvent('+', resource, e.key.str(), e.now->metadata.resourceVersion.str());
          },
      .on_update =
          [resource](const kgen::Updated<T>& e) {
            PrintEvent('+', resource, e.key.str(), e.now->metadata.resourceVersion.str());
          },
      .on_delete = [resource](const kgen::Deleted<T>& e) { PrintEvent('-', resource, e.key.str(), "0"); },
  });
}

// Watches the same resources as bench/peers/recovery/cluster.go.
void WatchAll(k8s::SharedInformerFactory& factory, std::list<kgen::Registration>& registrations) {
  const auto core = factory.Core().V1();
  registrations.push_back(Watch(core.ConfigMaps().Informer(), "configmaps"));
  registrations.push_back(Watch(core.Secrets().Informer(), "secrets"));
  registrations.push_back(Watch(core.Services().Informer(), "services"));
  registrations.push_back(Watch(core.Pods().Informer(), "pods"));
  registrations.push_back(Watch(core.ServiceAccounts().Informer(), "serviceaccounts"));
  registrations.push_back(Watch(core.PodTemplates().Informer(), "podtemplates"));
  registrations.push_back(Watch(core.ReplicationControllers().Informer(), "replicationcontrollers"));
  registrations.push_back(Watch(core.LimitRanges().Informer(), "limitranges"));
  const auto apps = factory.Apps().V1();
  registrations.push_back(Watch(apps.Deployments().Informer(), "deployments"));
  registrations.push_back(Watch(apps.StatefulSets().Informer(), "statefulsets"));
  registrations.push_back(Watch(apps.DaemonSets().Informer(), "daemonsets"));
  registrations.push_back(Watch(factory.Coordination().V1().Leases().Informer(), "leases"));
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

int main(int argc, char** argv) try {
  std::map<std::string, std::string> flags{{"--server", ""}, {"--namespaces", ""}, {"--user-agent", ""}};
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  const char* kubeconfig = std::getenv("KGEN_TEST_KUBECONFIG");
  if (kubeconfig == nullptr || flags.size() != 3) {
    std::cerr << "usage: kgen_recovery --server URL --namespaces A,B --user-agent NAME\n"
                 "KGEN_TEST_KUBECONFIG names a kubeconfig with the context \"reader\"; see ./dev bench recovery\n";
    return 2;
  }
  auto config = kgen::Must(kgen::rest::LoadConfig({.kubeconfig = kubeconfig, .context = "reader"}));
  config.host = flags["--server"];
  config.user_agent = flags["--user-agent"];
  config.observer = kgen::StderrObserver();
  const auto clientset = kgen::Must(k8s::Clientset::New(config));
  const std::stop_token stop = kgen::StopOnSignals();

  std::list<k8s::SharedInformerFactory> factories;
  std::list<kgen::Registration> registrations;
  for (const std::string& name : Split(flags["--namespaces"])) {
    auto& factory = factories.emplace_back(clientset, kgen::FactoryOptions{.namespace_ = name});
    WatchAll(factory, registrations);
    factory.Start(stop);
  }
  for (auto& factory : factories) kgen::Must(factory.WaitForCacheSync(stop));
  Print("synced\n");
  kgen::Wait(stop);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
