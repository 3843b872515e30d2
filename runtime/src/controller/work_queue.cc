// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/work_queue.h"

#include <cstdint>
#include <cstring>

#include "controller/queue_core.h"

namespace kgen::detail {
namespace {

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;

template <typename Word>
std::uint64_t Load(const char* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The last bytes of the text, at most 8, in one word. Loads of a fixed size overlap, because a copy of a variable size
// is a call. Different texts of one length up to 8 give different words.
std::uint64_t LastWord(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  if (text.size() >= 8) return Load<std::uint64_t>(end - 8);
  if (text.size() >= 4) return Load<std::uint32_t>(text.data()) | Load<std::uint32_t>(end - 4) << 32;
  if (text.empty()) return 0;
  return Load<std::uint8_t>(text.data()) | Load<std::uint8_t>(text.data() + text.size() / 2) << 8 |
         Load<std::uint8_t>(end - 1) << 16;
}

std::uint64_t Mix(std::uint64_t hash, std::string_view text) noexcept {
  hash = (hash ^ text.size()) * kMultiplier;
  const std::uint64_t last = LastWord(text);
  for (; text.size() > 8; text.remove_prefix(8)) {
    hash = (hash ^ Load<std::uint64_t>(text.data())) * kMultiplier;
    hash ^= hash >> 32;
  }
  hash = (hash ^ last) * kMultiplier;
  return hash ^ hash >> 32;
}

// Copies of a key mostly share its text. Short text is faster to compare in words than by a call of memcmp.
bool Same(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  if (a.data() == b.data()) return true;
  if (a.size() > 16) return std::memcmp(a.data(), b.data(), a.size()) == 0;
  if (a.size() > 8 && Load<std::uint64_t>(a.data()) != Load<std::uint64_t>(b.data())) return false;
  return LastWord(a) == LastWord(b);
}

}  // namespace

std::size_t KeyHash(const ObjectKey& key) noexcept { return Mix(Mix(0, key.namespace_), key.name); }

bool KeyEqual(const ObjectKey& a, const ObjectKey& b) noexcept {
  return Same(a.name, b.name) && Same(a.namespace_, b.namespace_);
}

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
