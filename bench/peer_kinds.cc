// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen_peer_kinds: the program with kgen's informers of many kinds for `./dev bench peers`; see bench/peer_informer.cc.
//
//   kgen_peer_kinds mixed [--short-calls] [--paged] [--json]           the kinds of bench/peers/informers/mixed.txt
//   kgen_peer_kinds dynamic FILE [--short-calls] [--paged] [--json]    the resources of that file of the server,
//   without types
//
// Prints "synced N" when the handlers have had all N objects, and ends when its standard input does.
#include <k8s/admissionregistration/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <k8s/autoscaling/v1/types.h>
#include <k8s/autoscaling/v2/types.h>
#include <k8s/batch/v1/types.h>
#include <k8s/certificates/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/coordination/v1/types.h>
#include <k8s/core/v1/types.h>
#include <k8s/discovery/v1/types.h>
#include <k8s/events/v1/types.h>
#include <k8s/flowcontrol/v1/types.h>
#include <k8s/informers.h>
#include <k8s/networking/v1/types.h>
#include <k8s/node/v1/types.h>
#include <k8s/policy/v1/types.h>
#include <k8s/rbac/v1/types.h>
#include <k8s/resource/v1/types.h>
#include <k8s/scheduling/v1/types.h>
#include <k8s/storage/v1/types.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/cache/dynamic_informer.h"
#include "kgen/client/config.h"
#include "kgen/core/object_key.h"
#include "kgen/core/stop.h"

namespace {

// The informers of one process, whose handlers count.
class All {
 public:
  All(const k8s::Clientset& clientset, bool short_calls, bool paged)
      : factory_(clientset, {.defaults = {.streaming_list = !paged}}), short_calls_(short_calls) {}

  k8s::SharedInformerFactory& factory() { return factory_; }

  template <typename... Accessors>
  void Add(const Accessors&... accessors) {
    (Follow(accessors.Informer()), ...);
  }

  std::size_t Sync(std::stop_token stop) {
    factory_.Start(stop);
    kgen::SyncOptions options;
    for (const kgen::Registration& handler : handlers_) options.handlers.push_back(&handler);
    kgen::Must(factory_.WaitForCacheSync(std::move(stop), options));
    return count_;
  }

 private:
  template <typename T>
  void Follow(const kgen::SharedInformer<T>& informer) {
    const auto count = [this](const T& object) { count_ += !object.metadata.name.empty(); };
    handlers_.push_back(informer.AddEventHandler({.on_add = [count](const kgen::Added<T>& e) { count(*e.now); },
                                                  .on_update = [count](const kgen::Updated<T>& e) { count(*e.now); }},
                                                 {.short_calls = short_calls_}));
  }

  std::atomic<std::size_t> count_{0};
  k8s::SharedInformerFactory factory_;
  std::vector<kgen::Registration> handlers_;
  const bool short_calls_;
};

void AddMixed(All& all) {
  const k8s::SharedInformerFactory& f = all.factory();
  const auto core = f.Core().V1();
  all.Add(core.ConfigMaps(), core.Endpoints(), core.Events(), core.LimitRanges(), core.Namespaces(), core.Nodes(),
          core.PersistentVolumeClaims(), core.PersistentVolumes(), core.Pods(), core.PodTemplates(),
          core.ReplicationControllers(), core.ResourceQuotas(), core.Secrets(), core.ServiceAccounts(),
          core.Services());
  const auto apps = f.Apps().V1();
  all.Add(apps.ControllerRevisions(), apps.DaemonSets(), apps.Deployments(), apps.ReplicaSets(), apps.StatefulSets());
  all.Add(f.Batch().V1().CronJobs(), f.Batch().V1().Jobs());
  const auto net = f.Networking().V1();
  all.Add(net.IngressClasses(), net.Ingresses(), net.IPAddresses(), net.NetworkPolicies(), net.ServiceCIDRs());
  const auto rbac = f.Rbac().V1();
  all.Add(rbac.ClusterRoleBindings(), rbac.ClusterRoles(), rbac.RoleBindings(), rbac.Roles());
  const auto storage = f.Storage().V1();
  all.Add(storage.CSIDrivers(), storage.CSINodes(), storage.CSIStorageCapacities(), storage.StorageClasses(),
          storage.VolumeAttachments(), storage.VolumeAttributesClasses());
  const auto admission = f.Admissionregistration().V1();
  all.Add(admission.MutatingWebhookConfigurations(), admission.ValidatingAdmissionPolicies(),
          admission.ValidatingAdmissionPolicyBindings(), admission.ValidatingWebhookConfigurations());
  const auto resource = f.Resource().V1();
  all.Add(resource.DeviceClasses(), resource.ResourceClaims(), resource.ResourceClaimTemplates(),
          resource.ResourceSlices());
  all.Add(f.Autoscaling().V1().HorizontalPodAutoscalers(), f.Autoscaling().V2().HorizontalPodAutoscalers(),
          f.Certificates().V1().CertificateSigningRequests(), f.Coordination().V1().Leases(),
          f.Discovery().V1().EndpointSlices(), f.Events().V1().Events(), f.Flowcontrol().V1().FlowSchemas(),
          f.Flowcontrol().V1().PriorityLevelConfigurations(), f.Node().V1().RuntimeClasses(),
          f.Policy().V1().PodDisruptionBudgets(), f.Scheduling().V1().PriorityClasses());
}

void AddDynamic(All& all, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string group, version, resource;
    if (!(words >> group >> version >> resource)) throw std::runtime_error(path + " has a wrong line: " + line);
    all.Add(all.factory().ForResource({group, version, resource}));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  const auto given = [&](std::string_view flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  const bool dynamic = arguments.size() > 1 && arguments[0] == "dynamic";
  if (!dynamic && !given("mixed")) {
    std::cerr
        << "usage: kgen_peer_kinds mixed|dynamic FILE [--short-calls] [--paged] [--json]; see ./dev bench peers\n";
    return 2;
  }
  auto config = kgen::Must(kgen::rest::LoadConfig());
  config.protobuf = !given("--json");
  const auto clientset = kgen::Must(k8s::Clientset::New(config));
  All all(clientset, given("--short-calls"), given("--paged"));
  if (dynamic) {
    AddDynamic(all, std::string(arguments[1]));
  } else {
    AddMixed(all);
  }
  std::cout << "synced " << all.Sync(kgen::StopOnSignals()) << '\n' << std::flush;
  std::cin.get();  // until the end of the run
} catch (const std::exception& error) {
  std::cerr << "kgen_peer_kinds: " << error.what() << "\n";
  return 1;
}
