// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The in-process endpoint of Cluster: a Transport without a network. Each request, and each piece of a response, is a
// separate task; in a simulation the seed decides when it runs and where the response is split. This endpoint respects
// the reader's flow-control credit and carries out injected faults.
#ifndef KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_
#define KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_

#include <cstddef>
#include <vector>

#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/shared.h"
#include "kgen/net/transport.h"
#include "kgen/testing/simulation.h"
#include "testing/api_server.h"

namespace kgen::testing {

class InProcessExchange;

// The state that the transports of one cluster share. Thread safety: all members from any thread.
class InProcessEndpoint final : public SharedObject {
 public:
  // If `simulation` is null, responses are not split. It must outlive all tasks of its executor.
  InProcessEndpoint(Shared<ApiServer> server, Shared<Executor> executor, Simulation* simulation, Nanos latency);

  Shared<Transport> MakeTransport();
  // Breaks all exchanges in progress, as a crash of the server would.
  void Cut();
  // Ends all exchanges with kCancelled immediately, on this thread. For use after the simulation has ended.
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
  std::vector<Shared<InProcessExchange>> open_ KGEN_GUARDED_BY(mutex_);  // in the order in which they started
  bool abandoned_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::testing

#endif  // KGEN_SRC_TESTING_IN_PROCESS_TRANSPORT_H_
