// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/work_queue.h"

#include <cstdint>
#include <cstring>

#include "controller/queue/queue_state.h"
#include "core/execution/fork_error.h"
#include "core/memory/fork.h"

namespace kgen::detail {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
constexpr std::uint64_t kSecondMultiplier = 0xD6E8FEB86659FD93u;

template <typename Word>
std::uint64_t Load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Mixes all bits of both words by a product of 128 bits.
std::uint64_t Mix(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a ^ kMultiplier) * (b ^ kSecondMultiplier);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Reads 16 bytes in each step. The last loads of longer text, and both of shorter text, overlap, because a copy of a
// variable size would be a call.
inline std::uint64_t Hash(std::uint64_t hash, std::string_view text) noexcept {
  const char* from = text.data();
  const std::size_t size = text.size();
  hash += size;
  if (size > 16) {
    const char* const last = from + size - 16;
    for (; from < last; from += 16) hash = Mix(Load<std::uint64_t>(from) ^ hash, Load<std::uint64_t>(from + 8));
    return Mix(Load<std::uint64_t>(last) ^ hash, Load<std::uint64_t>(last + 8));
  }
  if (size >= 8) return Mix(Load<std::uint64_t>(from) ^ hash, Load<std::uint64_t>(from + size - 8));
  if (size >= 4) return Mix(Load<std::uint32_t>(from) ^ hash, Load<std::uint32_t>(from + size - 4));
  if (size == 0) return hash;
  return Mix(Load<std::uint8_t>(from) ^ hash,
             Load<std::uint8_t>(from + size / 2) << 8 | Load<std::uint8_t>(from + size - 1));
}

// Copies of a key share its text or contain the same bytes, and comparing them is faster than comparing the texts.
// A String has no padding: all of its bytes are its value, or where that is.
bool SameBytes(const String& a, const String& b) noexcept {
  return std::memcmp(&a, &b, sizeof(String)) == 0;  // NOLINT(bugprone-suspicious-memory-comparison): see above
}

}  // namespace

std::size_t KeyHash(const ObjectKey& key) noexcept { return Hash(Hash(0, key.namespace_), key.name); }

bool KeyEqual(const ObjectKey& a, const ObjectKey& b) noexcept {
  return (SameBytes(a.name, b.name) && SameBytes(a.namespace_, b.namespace_)) || a == b;
}

// Shared by all handles; the last one shuts the queue down. Timers and workers hold only the state.
class AnyWorkQueue::Handle : public SharedObject {
 public:
  Handle(const KeyType& type, WorkQueueOptions options)
      : state(MakeShared<controller::QueueState>(type, std::move(options))) {}
  ~Handle() override { state->ShutDown(); }
  const Shared<controller::QueueState> state;
};

AnyWorkQueue::AnyWorkQueue(const KeyType& type, WorkQueueOptions options)
    : handle_(MakeShared<Handle>(type, std::move(options))) {}

void AnyWorkQueue::Add(const void* key, const AddOptions& options) const {
  if (!ForkedChild()) handle_->state->Add(key, options);
}
bool AnyWorkQueue::TryGet(const Receiver& receiver) const { return !ForkedChild() && handle_->state->TryGet(receiver); }
void AnyWorkQueue::Done(const void* key) const {
  if (!ForkedChild()) handle_->state->Done(key);
}
void AnyWorkQueue::Forget(const void* key) const {
  if (!ForkedChild()) handle_->state->Forget(key);
}
int AnyWorkQueue::NumRequeues(const void* key) const { return handle_->state->NumRequeues(key); }
std::size_t AnyWorkQueue::size() const { return handle_->state->size(); }
WorkQueueMetrics AnyWorkQueue::metrics() const {
  if (ForkedChild()) return {};
  return handle_->state->metrics();
}
void AnyWorkQueue::ShutDown() const {
  if (!ForkedChild()) handle_->state->ShutDown();
}
bool AnyWorkQueue::ShuttingDown() const { return handle_->state->ShuttingDown(); }

// A blocked call holds the state, because the handle may be destroyed meanwhile. That shuts the queue down, and the
// call returns.

Result<void> AnyWorkQueue::Get(std::stop_token stop, const Receiver& receiver) const {
  if (ForkedChild()) return Fail(ForkedError());
  const Shared<controller::QueueState> state = handle_->state;
  return state->Get(stop, receiver);
}

Result<void> AnyWorkQueue::Process(int workers, std::stop_token stop, Reconciler reconcile,
                                   const ProcessOptions& options) const {
  if (ForkedChild()) return Fail(ForkedError());
  const Shared<controller::QueueState> state = handle_->state;
  return state->Process(workers, stop, std::move(reconcile), options.drain);
}

Result<void> AnyWorkQueue::ShutDownWithDrain(std::stop_token stop) const {
  if (ForkedChild()) return Fail(ForkedError());
  const Shared<controller::QueueState> state = handle_->state;
  return state->ShutDownWithDrain(stop);
}

}  // namespace kgen::detail
