// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Candidate: keeps the LeaseCandidate of one process, by which the control plane chooses the holder of a Lease
// (coordinated leader election, KEP-4355).
//
//   Look --> Read --> Create   there is none
//                 --> Answer   the control plane asks whether this process is alive
#ifndef KGEN_SRC_CONTROLLER_ELECTION_CANDIDATE_H_
#define KGEN_SRC_CONTROLLER_ELECTION_CANDIDATE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "core/execution/post_timer.h"
#include "kgen/client/connection.h"
#include "kgen/client/raw_resource.h"
#include "kgen/controller/leader_election.h"
#include "kgen/core/unstructured.h"

namespace kgen::controller {

// Thread safety: all members on the strand, which is the elector's.
// Ownership: shared by the elector, its timer and the request under way.
class Candidate final : public SharedObject {
 public:
  // What the server says of LeaseCandidates.
  enum class Served : std::uint8_t { kUnknown, kYes, kNo };

  // `options` are complete, and have `coordinated`. `on_failure` must not refer to this object.
  Candidate(const Connection& connection, LeaderElectionOptions options, Shared<Strand> strand,
            std::function<void(const Error&)> on_failure);

  void Start() { Look(); }
  // Ends timer and answers, and destroys `on_failure`. The object stays, and the server forgets it after a while.
  void Stop() noexcept;
  Served served() const noexcept { return served_; }

 private:
  void Look();
  void OnRead(Result<Unstructured> candidate);
  void Answer(Unstructured candidate);
  void OnCreated(Result<Unstructured> candidate);
  void OnAnswered(Result<Unstructured> candidate);
  void Failed(Error error);
  void Again();
  Unstructured Made() const;
  std::string Now() const;
  template <typename Then>
  void Send(Result<ApiRequest> request, Then then);

  const LeaderElectionOptions options_;
  const Connection connection_;
  const RawResource candidates_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  std::function<void(const Error&)> on_failure_;
  Served served_ = Served::kUnknown;
  bool stopped_ = false;
  detail::PostTimer next_{executor_, strand_};
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_ELECTION_CANDIDATE_H_
