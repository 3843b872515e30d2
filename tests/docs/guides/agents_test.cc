// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <k8s/core/v1/types.h>
#include <k8s/informers.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/docs/guides/guide.h"

using k8s::core::v1::Node;
using k8s::core::v1::Pod;

namespace guides {
namespace {

// begin agent
// The options of an agent that runs on each node: the pods of its own node, and that node. The
// server selects, so nothing else is sent.
kgen::FactoryOptions AgentOptions(std::string_view node) {
  const std::string name(node);
  return {.defaults = {.drop_managed_fields = true},
          .of = {{&Pod::kTable, {.field_selector = "spec.nodeName=" + name, .drop_managed_fields = true}},
                 {&Node::kTable, {.field_selector = "metadata.name=" + name, .drop_managed_fields = true}}}};
}
// end agent

using AgentsGuide = Guide;

TEST_F(AgentsGuide, KeepsThePodsOfItsOwnNodeOnly) {
  kgen::Must(cluster_.Add(PodOn("n1", "a", "nginx")));
  kgen::Must(cluster_.Add(PodOn("n2", "b", "nginx")));
  k8s::SharedInformerFactory factory(cluster_.Connection(), AgentOptions("n1"));
  std::vector<std::string> seen;
  const auto registration = factory.Core().V1().Pods().Informer().AddEventHandler(
      {.on_add = [&](const kgen::Added<Pod>& e) { seen.push_back(e.key.name.str()); }});
  factory.Start();
  kgen::Must(factory.WaitForCacheSync({}, {.handlers = {&registration}}));
  EXPECT_THAT(seen, ::testing::ElementsAre("a"));
}

}  // namespace
}  // namespace guides
