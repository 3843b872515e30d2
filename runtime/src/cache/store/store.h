// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The store of one informer: objects by key and by index, read through consistent snapshots.
//
//   controller loop --Apply(transaction)--> Store --Snapshot()--> readers: listers, handlers, users
//
// The writer builds the next version beside the current one and publishes it with one atomic store: a reader never sees
// half of a transaction (a whole relist is one) and never waits for the writer.
#ifndef KGEN_SRC_CACHE_STORE_STORE_H_
#define KGEN_SRC_CACHE_STORE_STORE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store/store_state.h"
#include "core/memory/mutex.h"
#include "kgen/cache/snapshot.h"
#include "kgen/core/object_key.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"

namespace kgen::cache {

// Changes that become visible together.
struct Change {
  ObjectKey key;
  AnyRef object;       // null: remove
  bool stale = false;  // mark it as stale; without an object: keep the stored one, if any
};
struct Transaction {
  std::vector<Change> changes;
  std::string version;  // of the store afterwards; "" keeps the current one
};

// A fault in a transaction. The rest of the transaction is in the store nevertheless.
struct StoreFault {
  enum class Kind {
    kIndexFunctionThrew,  // user code: the object is in the store but has no value in that index
    kMisplacedObject,     // a bug in kgen: a change whose object does not have its key is left out
  };
  Kind kind;
  ObjectKey key;
  std::string what;  // names the index, or the object that had another key
};

// The store itself.
//
// Thread safety: Snapshot(), the Look functions, AddIndex() and SetOnFault() from any thread; Apply() from one thread
// at a time, the informer's strand. The function of an index is never called by two threads at once.
//
// Blocking: Snapshot() and the Look functions never block. Apply() and AddIndex() may wait for each other, see
// AddIndex().
//
// Invariants (tests/runtime/cache/store_test.cc):
//   X1  A snapshot never changes.
//   X2  For every index and value, ByIndex gives exactly the objects of that snapshot whose function adds the value.
//   X3  A value without objects is not listed.
//   X4  version() of a snapshot is the version of the last applied transaction that had one.
class Store : public SharedObject {
 public:
  Store();
  ~Store() override;

  AnySnapshot Snapshot() const noexcept;
  // The current object, or null; cheaper than a snapshot. For the Get() of listers.
  AnyRef Look(std::string_view namespace_, std::string_view name) const;
  AnyRef Look(const ObjectKey& key) const;
  // One of the current objects with that value, or null.
  AnyRef LookByIndex(std::string_view index, std::string_view value) const noexcept;
  // The metadata of every changed object must match its key; one that does not is left out and reported to `on_fault`.
  // The cost is proportional to the transaction. Use Replacement to build a whole new content in steps.
  void Apply(Transaction transaction);
  class Replacement;  // cache/store/store_replacement.h, for the informer
  class Difference;   // cache/store/store_difference.h, for the informer

  // Whether an index function threw for one of the current objects, which therefore lacks its values in that index.
  bool HasUnindexed() const;

  // Content that was replaced as a whole is not freed at once. This frees about `units` objects of it, subtracts their
  // number from `units`, and returns true when nothing is left. Content that a snapshot holds is freed when the
  // snapshot is dropped.
  bool FreeSome(std::size_t& units);
  // Drops a snapshot. If it has the last reference to its content, FreeSome() frees that.
  void Drop(AnySnapshot snapshot);

  // Indexes the existing objects; the index is visible when the call returns. The values that `function` adds must
  // depend on the object alone. If it throws during the call, AddIndex fails with kUserCode and adds nothing. If it
  // throws later, for a new object, `on_fault` is called and the object has no value in that index.
  //
  // Blocks while `function` is called, on the calling thread, for every object in the store, and again for those that
  // changed meanwhile, until only a few hundred changes are left. Apply() waits while it processes those.
  //
  // An index function must not wait for an AddIndex() of its store on another thread: it may run under the lock that
  // the other call needs. `on_fault` may add indexes.
  //
  // Errors:
  //   kInvalidArgument  the name is taken, perhaps by a concurrent AddIndex(); or called from an index function
  //                     of this store
  //   kUserCode         `function` threw
  Result<void> AddIndex(std::string_view name, IndexFunction function);
  // Calls `on_fault` for each fault of a transaction once the transaction is visible, on the thread of Apply(), with no
  // lock held. It must not throw.
  void SetOnFault(std::function<void(const StoreFault&)> on_fault);

 private:
  using State = AnySnapshot::State;
  // A version that was replaced, until no reader announces it any more.
  struct Retired {
    Shared<const State> state;
    bool whole = false;  // it shares little with the current one, so freeing it takes long
  };

  std::uint64_t NextNumber() noexcept;
  // Returns an edit of maps that are built before the version that they will belong to. Their nodes have a smaller
  // birth than that version.
  StateEdit EditBeside() noexcept;
  // Called under the lock, so that version numbers ascend. Reserves room for what the caller adds, since publishing
  // must not fail half-way.
  Shared<State> NextState() KGEN_REQUIRES(writer_);
  void ShowIndex(Index index) KGEN_REQUIRES(writer_);
  void PublishNext(Shared<State> next) KGEN_REQUIRES(writer_);
  // Takes the faults that were collected, and reports them.
  void ReportFaults();
  // The caller has reserved room in retired_.
  void Publish(Shared<State> next, bool whole) KGEN_REQUIRES(writer_);
  void SettleRetired() KGEN_REQUIRES(writer_);
  void Put(State& state, Change change) KGEN_REQUIRES(writer_);
  void SetEverywhere(State& state, const AnyRef& before, const ObjectLeaf& leaf) KGEN_REQUIRES(writer_);
  // Returns true if the function of that index threw when the object was put, so that the object has no value in it.
  bool ForgetThrew(std::size_t index, const AnyRef& before) KGEN_REQUIRES(writer_);

  // Publishes the replacement, or adds the next index that it lacks and returns false.
  bool Show(Replacement& replacement, const std::string& version);
  // Leaves freeing the content of a Replacement to FreeSome().
  void Bury(Replacement& replacement);
  void Report(const StoreFault& fault);

  mutable Mutex writer_;  // guards publishing versions, the end of AddIndex(), and freeing old versions
  std::atomic<const State*> current_{nullptr};
  Shared<const State> current_owner_ KGEN_GUARDED_BY(writer_);
  std::vector<Retired> retired_ KGEN_GUARDED_BY(writer_);      // announced by a reader at the last check
  std::atomic<std::uint64_t> numbers_{ObjectMap::kNoVersion};  // of versions, and of maps that are built beside them
  // What FreeSome() frees.
  std::vector<Shared<const State>> leaving_ KGEN_GUARDED_BY(writer_);  // no other references exist
  StateRemains old_maps_ KGEN_GUARDED_BY(writer_);                     // of no version
  IdentitySet::Remains old_threw_ KGEN_GUARDED_BY(writer_);
  // For each index, the objects of the current state for which its function threw. Without this, the next change of
  // such an object would have to search every value for it.
  std::vector<IdentitySet> threw_ KGEN_GUARDED_BY(writer_) = std::vector<IdentitySet>(1);
  std::vector<StoreFault> faults_ KGEN_GUARDED_BY(writer_);                   // of the current transaction
  std::function<void(const StoreFault&)> on_fault_ KGEN_GUARDED_BY(writer_);  // called without the lock
};

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_STORE_STORE_H_
