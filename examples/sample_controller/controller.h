// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The controller of kubernetes/sample-controller: keeps the Deployment that a Foo names, and reports how many of its
// replicas are available.
//
//   Foos -----------------Enqueue------> work queue ---> Sync(), at most once at a time for each Foo
//   Deployments --------EnqueueOwner------^
#ifndef KGEN_EXAMPLES_SAMPLE_CONTROLLER_CONTROLLER_H_
#define KGEN_EXAMPLES_SAMPLE_CONTROLLER_CONTROLLER_H_

#include <k8s/apps/v1/types.h>
#include <k8s/clientset.h>
#include <k8s/informers.h>
#include <kgen/controller/event_recorder.h>
#include <kgen/controller/work_queue.h>
#include <sample/clientset.h>
#include <sample/informers.h>
#include <sample/samplecontroller/v1alpha1/types.h>

#include <stop_token>
#include <string_view>
#include <vector>

class Controller {
 public:
  using Foo = sample::samplecontroller::v1alpha1::Foo;
  using Deployment = k8s::apps::v1::Deployment;

  // Requests the two informers; the caller starts the factories.
  Controller(const kgen::Connection& connection, const k8s::SharedInformerFactory& kubernetes_informers,
             const sample::SharedInformerFactory& sample_informers);

  // Waits for the caches, works until `stop` is requested, and writes the last events. Blocks for all that time.
  kgen::Result<void> Run(int workers, std::stop_token stop) const;

 private:
  // Makes the Deployment of one Foo, and the status of the Foo, what they should be.
  kgen::Result<void> Sync(const kgen::ObjectKey& key) const;
  // The Deployment as it is now, created if there was none. An error if it belongs to somebody else.
  kgen::Result<Deployment> FindOrCreate(const Foo& foo) const;
  kgen::Result<void> UpdateStatus(const Foo& foo, const Deployment& deployment) const;

  k8s::Clientset kubernetes_;
  sample::Clientset sample_;
  k8s::apps::v1::DeploymentInformer deployments_;
  sample::samplecontroller::v1alpha1::FooInformer foos_;
  kgen::EventRecorder events_;
  kgen::RateLimitingQueue queue_;
  std::vector<kgen::Registration> registrations_;  // destroyed first, so that no handler adds to a dead queue
};

#endif  // KGEN_EXAMPLES_SAMPLE_CONTROLLER_CONTROLLER_H_
