// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The in-process endpoint of Cluster: a Transport without a network. Each request, and each piece of an answer, is a
// task of its own; in simulation the seed decides when it runs and where the answer is cut. Answers obey the reader's
// credit and faults are acted out here.
#ifndef KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_
#define KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_

#include <cstddef>
#include <vector>

#include "core/mutex.h"
#include "kgen/client/transport.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/testing/simulation.h"
#include "testing/api_server.h"

namespace kgen::testing {

class InProcessExchange;

// What the transports of one cluster share. Thread safety: all members from any thread.
class InProcessEndpoint final : public SharedObject {
 public:
  // `simulation` may be null: then nothing is cut. It must live as long as its executor runs anything.
  InProcessEndpoint(Shared<ApiServer> server, Shared<Executor> executor, Simulation* simulation, Nanos latency);

  Shared<Transport> MakeTransport();
  // Everything that is under way breaks off, as when the server dies.
  void Cut();
  // Ends everything with kCancelled at once, on this thread: for when the simulation has ended.
  void Abandon();
  std::size_t open() const;  // exchanges, watches included

 private:
  friend class InProcessExchange;
  friend class InProcessTransport;
  bool Add(InProcessExchange* exchange);  // false after Abandon()
  void Remove(InProcessExchange* exchange);
  std::vector<Shared<InProcessExchange>> All() const;

  const Shared<ApiServer> server_;
  const Shared<Executor> executor_;
  Simulation* const simulation_;
  const Nanos latency_;
  mutable Mutex mutex_;
  std::vector<Shared<InProcessExchange>> open_ KGEN_GUARDED_BY(mutex_);  // in the order of starting
  bool abandoned_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_
