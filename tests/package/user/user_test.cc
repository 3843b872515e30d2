// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Reads and writes over TLS and HTTP/2, with the server in this process; an informer; the schema of a CRD.
#include <acme/clientset.h>
#include <acme/informers.h>
#include <acme/user/gadgets_manifest.h>
#include <acme/user/v1/types.h>
#include <k8s/clientset.h>
#include <kgen/testing/cluster.h>
#include <kgen/validation/validate.h>

#include <exception>
#include <fstream>
#include <iostream>

using acme::user::v1::Gadget;

namespace {

int Run() {
  kgen::testing::Cluster cluster({.simulated = false});
  std::ofstream("user_test.kubeconfig") << kgen::Must(cluster.Serve());
  const auto config = kgen::Must(kgen::rest::LoadConfig({.kubeconfig = "user_test.kubeconfig"}));
  const kgen::Connection connection = kgen::Must(kgen::Connection::Open(config));
  kgen::Must(kgen::crd::Install(k8s::Clientset(connection), acme::Manifests()));

  const auto gadgets = acme::Clientset(connection).UserV1().Gadgets("default");
  Gadget gadget{.metadata = {.name = "first"}};
  gadget.spec->size = 3;
  kgen::Must(gadgets.Create(gadget));

  acme::SharedInformerFactory factory{acme::Clientset(connection)};
  const auto lister = factory.User().V1().Gadgets().Lister();
  factory.Start();
  kgen::Must(factory.WaitForCacheSync());
  const auto read = lister.Gadgets("default").Get("first");
  if (!read || read->spec->size != 3) return 1;

  gadget.spec->color = "RED";
  const bool refused = !kgen::Validate(gadget).valid();
  std::cout << read->metadata.name << " has size " << *read->spec->size << "\n";
  return refused ? 0 : 1;
}

}  // namespace

int main() try { return Run(); } catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
