// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle's view of one handler: checks O3, O4, O5, O8 and O12 of informer_run.h for each event.
#ifndef KGEN_TESTS_SIMULATION_LISTENER_H_
#define KGEN_TESTS_SIMULATION_LISTENER_H_

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cache/informer.h"
#include "cache/store/store.h"
#include "kgen/codec/encode.h"

namespace kgen::simulation {

inline std::uint64_t Number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

using View = std::map<std::string, std::uint64_t>;  // versions by key

// The first error; later ones follow from it.
class Verdict {
 public:
  void Fail(std::string_view law, std::string what) {
    if (text_.empty()) text_ = std::string(law) + ": " + std::move(what);
  }
  const std::string& text() const { return text_; }

  // The server returned to an older copy of its data: versions may go back, and are used a second time.
  bool restored = false;

 private:
  std::string text_;
};

// What a handler does besides recording events.
enum class Trick : std::uint8_t { kNone, kRemovesItself, kRemovesAnother, kAddsAnother, kThrows, kStopsTheInformer };

// A handler and its view of the objects.
struct Listener {
  std::string name;
  Verdict* verdict = nullptr;
  cache::Informer* informer = nullptr;
  bool resyncs = false;  // it receives everything again from time to time
  bool merges = false;   // its backlog is small: events of a key may be merged, and out of order with other keys
  Trick trick = Trick::kNone;
  int trick_at = 0;  // events
  View view;
  View last;  // the newest version delivered of each key
  View same;  // how often each key was delivered as unchanged
  std::uint64_t version = 0;
  bool leaving = false;  // it is being removed: its call may still run, and what waited is dropped
  bool removed = false;  // or joined: nothing may be delivered any more
  int told = 0, told_again = 0;
  std::optional<Registration> registration;
  // Absent: the informer has no shard.
  std::function<bool(const AnyEvent&)> may_be_deleted{}, may_leave{};

  void Hear(const AnyEvent& event) {
    if (removed) return Fail("O3", event, "after it was removed, or the informer joined");
    Fold(event);
    CheckReason(event);
    const AnyRef stored = informer->store()->Look(event.key);
    if (!verdict->restored && event.now && stored && VersionOf(stored) < VersionOf(event.now))
      Fail("O4", event, "before the store had it");
    if (!verdict->restored && Number(informer->store()->Snapshot().version()) < Number(event.version))
      Fail("O4", event, "before the store had that version");
    ++told;
  }

 private:
  static std::uint64_t VersionOf(const AnyRef& object) {
    return object ? Number(object.metadata()->resourceVersion) : 0;
  }

  void Fail(std::string_view law, const AnyEvent& event, std::string_view why) {
    verdict->Fail(law, name + " was told of " + event.key.str() + ": " + std::string(why));
  }

  void Fold(const AnyEvent& event) {
    const std::string key = event.key.str();
    const std::uint64_t before = VersionOf(event.before), now = VersionOf(event.now);
    const auto known = view.find(key);
    switch (event.type) {
      case AnyEvent::Type::kAdded:
        if (known != view.end()) Fail("O3", event, "an addition of what is there");
        if (!verdict->restored && now <= last[key]) Fail("O3", event, "an addition of an old version");
        break;
      case AnyEvent::Type::kUpdated:
        if (known == view.end()) return Fail("O3", event, "an update of what is not there");
        if (known->second != before) Fail("O3", event, "an update from another version than the last one told");
        if (event.before.metadata()->uid != event.now.metadata()->uid) Fail("O3", event, "an update of another object");
        if (event.reason == Reason::kResync ? now != before : now <= before && !verdict->restored)
          Fail("O3", event, "an update to an older version");
        break;
      case AnyEvent::Type::kLeft:
        if (known == view.end()) return Fail("O12", event, "that it left, though it was not there");
        if (merges ? before < known->second && !verdict->restored : before != known->second) {
          Fail("O12", event, "that it left, with another version than the last one told");
        }
        if (may_leave && !may_leave(event)) Fail("O12", event, "that it left, though it is in all ranges since");
        last[key] = before - 1;  // it may come back as it is
        break;
      case AnyEvent::Type::kDeleted:
        if (may_be_deleted && event.before && !may_be_deleted(event)) {
          Fail("O12", event, "that it was deleted, and it was not");
        }
        // For an object that could never be decoded, the deletion is the only event.
        if (known == view.end() && !event.before) break;
        if (known == view.end()) return Fail("O3", event, "a deletion of what is not there");
        // A deletion that the server reported has the final state of the object, which is newer at least by the
        // deletion.
        if (event.final_state_unknown && !merges ? before != known->second
                                                 : before < known->second && !verdict->restored)
          Fail("O3", event, "a deletion with an older state than the last one told");
        last[key] = std::max(last[key], before);
        break;
    }
    if (now != 0) last[key] = view[key] = now;
    if (now == 0) view.erase(key);
  }

  void CheckReason(const AnyEvent& event) {
    const std::uint64_t now = VersionOf(event.now), of_event = Number(event.version);
    if (of_event < version && !verdict->restored && !merges) Fail("O8", event, "in another order than the server's");
    version = of_event;
    const bool first = event.reason == Reason::kInitial || event.reason == Reason::kSaved;
    if (first && registration->HasSynced()) Fail("O5", event, "as initial after it had synced");
    if (first && event.type != AnyEvent::Type::kAdded) Fail("O8", event, "as initial, and no addition");
    if (event.reason == Reason::kWatch && now != 0 && now != of_event && !merges)
      Fail("O8", event, "with the version of another event");
    if (event.reason != Reason::kResync) return;
    ++told_again;
    if (Encode(event.before) != Encode(event.now)) Fail("O8", event, "as unchanged, and it has changed");
    // Without resyncs only a list can find that nothing changed.
    if (!resyncs && ++same[event.key.str()] > informer->status().lists) Fail("O8", event, "again, and nothing changed");
  }
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_LISTENER_H_
