// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ReconnectGate: decides when the informers of one connection may open a stream or a list.
//
//   reflector --Enter()--> Turn --granted--> opens its stream --Opened, Refused, NoConnection, Lost--> ReconnectGate
//
// While the connection works, every stream is opened at once, limited only by a token bucket. When one finds no
// connection, the gate closes: all streams wait, and one of them at a time is opened as a probe. So an outage costs a
// few requests a second, whatever the number of informers, and one probe detects its end for all of them.
//
//   open ----NoConnection----> closed: probe after U(0, d), d = 0.2 s, doubling to 2 s in the first minute of the
//     ^                          |     outage, to 5 s until its tenth minute, to 30 s afterwards
//     +--- any HTTP response ----+
//
// Any HTTP response opens the gate, even a 403 or 503, because it proves that there is a connection, and the gate
// depends on nothing else. A starting server refuses all requests for a while, but some longer than others, and one
// refused resource must not delay the others. The reflector handles the refusal of a resource, with the help of
// reconnected_lately() and Purpose::kOnSuccess.
//
// Only a stream or list that was open for ten seconds (a 2xx and its body) resets d. A load balancer in front of a dead
// server accepts TCP and TLS, and may respond with 503 or even 200 before it closes the connection.
//
// The rate: turns come from a bucket of 5 tokens that refills at 20 a second. A list that follows an expired watch
// (410) takes its turn from a second bucket of the same size; otherwise a server that rejects many resumed watches at
// once, as a starting one does, would receive all of their lists at once. So there are at most 50 requests in any
// second. Twelve informers recover within 0.4 seconds after the probe, sixty within less than three. Further pages of a
// list belong to the same turn, and calls of typed clients do not use the gate.
#ifndef KGEN_SRC_CLIENT_REQUEST_RECONNECT_GATE_H_
#define KGEN_SRC_CLIENT_REQUEST_RECONNECT_GATE_H_

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "core/execution/jitter.h"
#include "core/memory/mutex.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::client {

// Thread safety: all members from any thread. Never blocks. Calls nothing while it holds its lock, but posts tasks.
// Lifetime: shared by the connection and by every turn.
class ReconnectGate final : public SharedObject {
 public:
  enum class Purpose : std::uint8_t {
    kFirst,       // has never been open: not limited by the bucket, so that a program starts at full speed
    kAgain,       // was open before
    kRelist,      // its watch has just expired (410)
    kBackground,  // no caller waits for it, so it goes last
    kOnSuccess,   // waits until a stream succeeds for the first time since the connection was lost
  };
  class Turn;

  explicit ReconnectGate(Shared<Executor> executor);
  ~ReconnectGate() override;

  // The turn is either granted when this returns, or later: then `go` is posted to `strand`, once, unless the turn is
  // dropped before. A request's deadlines should start when its turn has been granted. `closed` is posted if the gate
  // closes before that; if it is already closed, error() returns the reason.
  [[nodiscard]] Turn Enter(Purpose purpose, const Shared<Strand>& strand, Task go, Task closed = nullptr);

  // Why the gate is closed; nothing if it is open.
  std::optional<Error> error() const;
  Nanos UntilProbe() const;  // 0 if the gate is open
  // True if the first response after a lost connection, or the first one of the program, came within the last 30
  // seconds.
  bool reconnected_lately() const;

 private:
  struct Entry;
  using Granted = std::list<Shared<Entry>>;

  void Answered(Entry& entry, bool success);
  void NoConnection(Entry& entry, const Error& error);
  void Lost(Entry& entry);
  void Leave(Entry& entry);

  // A token bucket.
  struct Bucket {
    // The time at which the next token is available, not before `now`.
    TimePoint Next(TimePoint now) noexcept;
    void Refill(TimePoint now) noexcept;
    double tokens;
    TimePoint filled;
  };
  using Queue = std::deque<Entry*>;

  TimePoint Now() const noexcept;
  Queue* QueueOf(Purpose purpose) noexcept KGEN_REQUIRES(mutex_);
  Queue* FirstNotEmpty(std::initializer_list<Queue*> queues) const noexcept KGEN_REQUIRES(mutex_);
  void Grant(Entry& entry, TimePoint now) noexcept KGEN_REQUIRES(mutex_);
  void GrantFirst(Queue& queue, TimePoint now, Granted& granted) noexcept KGEN_REQUIRES(mutex_);
  Granted Pump() noexcept KGEN_REQUIRES(mutex_);
  std::optional<TimePoint> PumpOpen(std::initializer_list<Queue*> queues, Bucket& bucket, Granted& granted) noexcept
      KGEN_REQUIRES(mutex_);
  TimePoint NextProbe() const noexcept KGEN_REQUIRES(mutex_);
  void ScheduleProbe(TimePoint now) KGEN_REQUIRES(mutex_);
  void ResetDelay(TimePoint now) noexcept KGEN_REQUIRES(mutex_);

  // The caller must not hold mutex_.
  static void Post(const Granted& granted, const Granted& closed = {}) noexcept;
  void OnTimer() noexcept;

  const Shared<Executor> executor_;
  mutable Mutex mutex_;
  Jitter jitter_ KGEN_GUARDED_BY(mutex_);
  Queue parked_ KGEN_GUARDED_BY(mutex_);  // the entries of the queues remove themselves
  Queue relists_ KGEN_GUARDED_BY(mutex_);
  Queue background_ KGEN_GUARDED_BY(mutex_);
  Queue on_success_ KGEN_GUARDED_BY(mutex_);
  std::vector<Entry*> entries_ KGEN_GUARDED_BY(mutex_);  // those that have not left yet
  std::optional<Error> error_ KGEN_GUARDED_BY(mutex_);   // why the gate is closed
  Entry* probe_ KGEN_GUARDED_BY(mutex_) = nullptr;       // the last one sent, while it has no outcome
  TimePoint probe_sent_ KGEN_GUARDED_BY(mutex_){};
  TimePoint probe_at_ KGEN_GUARDED_BY(mutex_){};
  Nanos step_ KGEN_GUARDED_BY(mutex_){};                     // d; 0: the next delay is the first
  std::optional<TimePoint> outage_ KGEN_GUARDED_BY(mutex_);  // since when no stream has lasted
  Bucket opens_ KGEN_GUARDED_BY(mutex_);
  Bucket lists_ KGEN_GUARDED_BY(mutex_);
  bool reconnecting_ KGEN_GUARDED_BY(mutex_) = true;  // no response since the connection was lost
  bool no_success_ KGEN_GUARDED_BY(mutex_) = true;    // or none with a 2xx
  std::optional<TimePoint> reconnected_ KGEN_GUARDED_BY(mutex_);
  // Made with the first entry: until then a connection has no thread, and its process may fork.
  Shared<ReservedTimer> timer_ KGEN_GUARDED_BY(mutex_);
};

// A place in the queue of the gate and, once granted, the permission to use the connection. Dropping it leaves the
// queue; if it was the probe, the next one is sent.
//
// Thread safety: one thread at a time.
class ReconnectGate::Turn {
 public:
  Turn() noexcept = default;
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&& other) noexcept;
  ~Turn() { Leave(); }

  explicit operator bool() const noexcept { return static_cast<bool>(entry_); }
  bool granted() const noexcept { return granted_; }  // already when Enter() returned; otherwise `go` is posted

  // Report the outcome of a granted turn. The first two may be called several times; any of the others must be the last
  // call.
  void Opened();   // response headers with 2xx
  void Refused();  // any other HTTP response
  void NoConnection(const Error& error);
  void Lost();  // the connection broke after the headers
  void Leave() noexcept;

 private:
  friend class ReconnectGate;
  explicit Turn(Shared<Entry> entry) noexcept;
  Shared<Entry> entry_;
  bool granted_ = false;
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_RECONNECT_GATE_H_
