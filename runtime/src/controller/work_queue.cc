// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/work_queue.h"

#include <cstdint>
#include <cstring>

#include "controller/queue_core.h"

namespace kgen::detail {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

std::uint64_t Mix(std::uint64_t hash, std::string_view text) noexcept {
  hash = (hash ^ text.size()) * kMultiplier;
  std::uint64_t word = 0;
  for (; text.size() > sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  word = 0;
  std::memcpy(&word, text.data(), text.size());
  hash = (hash ^ word) * kMultiplier;
  return hash ^ hash >> 32;
}

}  // namespace

std::size_t KeyHash(const ObjectKey& key) noexcept { return Mix(Mix(0, key.namespace_), key.name); }

// Shared by all handles; the last one shuts the queue down. Timers and workers hold only the core.
class AnyWorkQueue::Handle : public SharedObject {
 public:
  Handle(const KeyType& type, WorkQueueOptions options)
      : core(MakeShared<controller::QueueCore>(type, std::move(options))) {}
  ~Handle() override { core->ShutDown(); }
  const Shared<controller::QueueCore> core;
};

AnyWorkQueue::AnyWorkQueue(const KeyType& type, WorkQueueOptions options)
    : handle_(MakeShared<Handle>(type, std::move(options))) {}

void AnyWorkQueue::Add(const void* key, const AddOptions& options) const { handle_->core->Add(key, options); }
bool AnyWorkQueue::TryGet(const Receiver& receiver) const { return handle_->core->TryGet(receiver); }
void AnyWorkQueue::Done(const void* key) const { handle_->core->Done(key); }
void AnyWorkQueue::Forget(const void* key) const { handle_->core->Forget(key); }
int AnyWorkQueue::NumRequeues(const void* key) const { return handle_->core->NumRequeues(key); }
std::size_t AnyWorkQueue::size() const { return handle_->core->size(); }
WorkQueueMetrics AnyWorkQueue::metrics() const { return handle_->core->metrics(); }
void AnyWorkQueue::ShutDown() const { handle_->core->ShutDown(); }
bool AnyWorkQueue::ShuttingDown() const { return handle_->core->ShuttingDown(); }

// A blocked call holds the core, because the handle may be destroyed meanwhile. That shuts the queue down, and the call
// returns.

Result<void> AnyWorkQueue::Get(std::stop_token stop, const Receiver& receiver) const {
  const Shared<controller::QueueCore> core = handle_->core;
  return core->Get(stop, receiver);
}

Result<void> AnyWorkQueue::Process(int workers, std::stop_token stop, Reconciler reconcile,
                                   const ProcessOptions& options) const {
  const Shared<controller::QueueCore> core = handle_->core;
  return core->Process(workers, stop, std::move(reconcile), options.drain);
}

Result<void> AnyWorkQueue::ShutDownWithDrain(std::stop_token stop) const {
  const Shared<controller::QueueCore> core = handle_->core;
  return core->ShutDownWithDrain(stop);
}

}  // namespace kgen::detail
