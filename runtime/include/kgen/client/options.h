// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The options of the verbs. They are aggregates for designated initializers; options that are left out are not sent.
//
// `timeout` is a deadline for the whole call, counted from its beginning: waiting for the limiter, for credentials and
// for a connection, every attempt and the pauses between them. When it passes, the call fails with kTimeout, and the
// message contains the failure of the last attempt, if there was one. The call does not wait for a retry that could
// only begin after the deadline. A write that timed out may still take effect. `timeout` replaces Config::timeout.
// Absent: Config::timeout; kgen::kNoLimit: no limit. With zero or less the call fails with kInvalidArgument, and
// nothing is sent.
#ifndef KGEN_CLIENT_OPTIONS_H_
#define KGEN_CLIENT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/codec/merge_patch.h"
#include "kgen/core/clock.h"
#include "kgen/core/optional.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen {

// The options of get.
struct GetOptions {
  std::string resource_version{};  // "": the newest; "0": any that the server has in its cache
  std::optional<Nanos> timeout{};
};

// The options of list, watch and deleteCollection.
struct ListOptions {
  std::string label_selector{};  // Default: every object. "app=web,tier in (a,b)".
  std::string field_selector{};  // Default: every object. "spec.nodeName=n1".
  // Default: every object. ShardRanges::Selector() makes it. Servers without the gate ShardedListAndWatch ignore it and
  // answer with everything. deleteCollection fails with kInvalidArgument if it is set, and sends nothing: such a server
  // would delete everything.
  std::string shard_selector{};
  Optional<std::int64_t> limit{};        // Default: all items, as for 0 on the server. The items of a page.
  std::string continue_{};               // Default: the first page. The token of the page before.
  std::string resource_version{};        // Default: for a list, the newest. "0": any that the server has in its cache.
  std::string resource_version_match{};  // Default: as the server decides. "Exact", "NotOlderThan".
  Optional<std::int64_t> timeout_seconds{};  // Default: as the server decides. Its limit for a watch, in seconds.
  bool allow_watch_bookmarks = false;        // Default: false. A watch gets bookmarks, too.
  bool send_initial_events = false;          // Default: false. A watch begins with the state.
  std::optional<Nanos> timeout{};  // Default: Config::timeout. Of Pages: for each page; of a watch: for its opening.
  // Default: 2 GiB. The largest response, in bytes; for Pages, the largest page. A larger one fails with kDecode.
  // kUnlimited: any. With zero the call fails with kInvalidArgument, and nothing is sent. Only clients use it:
  // informers bound each object instead.
  std::uint64_t max_answer_bytes = std::uint64_t{2} << 30;

  // Returns the query string without '?', keys sorted; `watch` adds watch=true.
  std::string Query(bool watch = false) const;
};

// What the server does about members that it does not know or that occur twice: as it decides itself (kDefault), drop
// them, drop them with a warning, or refuse the object.
enum class FieldValidation : std::uint8_t { kDefault, kIgnore, kWarn, kStrict };

// The options of create and update.
struct CreateOptions {
  bool dry_run = false;         // the server checks the request and stores nothing
  std::string field_manager{};  // who owns the written fields; "": as the server decides
  FieldValidation field_validation = FieldValidation::kDefault;
  std::optional<Nanos> timeout{};
};
using UpdateOptions = CreateOptions;  // both verbs have the same options

// The options of patch and apply.
struct PatchOptions {
  bool dry_run = false;         // the server checks the request and stores nothing
  std::string field_manager{};  // required by the server for apply
  bool force = false;           // apply only: take over fields of other managers
  FieldValidation field_validation = FieldValidation::kDefault;
  std::optional<Nanos> timeout{};
};

// What happens to the objects that the deleted one owns: as the server decides, they stay, or they are deleted after it
// or before it.
enum class Propagation : std::uint8_t { kDefault, kOrphan, kBackground, kForeground };

// The options of delete.
struct DeleteOptions {
  Optional<std::int64_t> grace_period_seconds{};  // absent: the default of the kind; 0: at once
  Propagation propagation_policy = Propagation::kDefault;
  std::string uid{};               // precondition: delete only this incarnation
  std::string resource_version{};  // precondition: only if unchanged
  bool dry_run = false;
  std::optional<Nanos> timeout{};

  std::string Body() const;  // the meta/v1 DeleteOptions as JSON
};

// The options of reading the log of a container.
struct LogOptions {
  std::string container{};  // Default: the only one of the pod, or the one that its annotation names.
  bool follow = false;      // Default: false. Streams only: goes on as the container writes, until it ends.
  bool previous = false;    // Default: false. The log of the container before its last restart.
  // Default: at the beginning. How far back the log begins, counted from now and rounded up to whole seconds. With zero
  // or less the call fails with kInvalidArgument.
  std::optional<Nanos> since{};
  Optional<std::int64_t> tail_lines{};   // Default: all lines. So many last lines only.
  bool timestamps = false;               // Default: false. Each line begins with the time (RFC 3339) and a space.
  Optional<std::int64_t> limit_bytes{};  // Default: none. The server cuts the text after so many bytes, even in a line.
  std::optional<Nanos> timeout{};        // Default: Config::timeout. Of a stream: for its opening.

  std::string Query() const;  // the query string without '?', keys sorted
};

// The body of a PATCH and its media type.
struct Patch {
  std::string_view content_type;  // "application/merge-patch+json"
  std::string body;               // the patch as JSON
};
Patch MergePatch(std::string_view json);           // RFC 7386
Patch JsonPatch(std::string_view json);            // RFC 6902
Patch StrategicMergePatch(std::string_view json);  // built-in kinds only
Patch ApplyPatch(std::string_view json);           // server-side apply; name the field_manager in PatchOptions

// Returns the merge patch that turns `before` into `after`: the members that differ, null for members that are gone,
// lists as a whole. What others changed meanwhile stays as it is. A resourceVersion that differs is part of the patch,
// like any other member.
//
//   Order after = *cached;
//   after.spec->quantity = 3;
//   orders.Patch(after.metadata.name, kgen::Must(kgen::MergePatch(*cached, after)));
//
// Errors: kInvalidArgument, with the path of a member that became null, which no merge patch can say; kDecode, if text
// in a Json or an unknown field is no JSON. Thread safety: pure. Does not block.
template <detail::HasTable T>
Result<Patch> MergePatch(const T& before, const std::type_identity_t<T>& after) {
  auto json = detail::DiffStructs(&before, &after, T::kTable);
  if (!json) return Fail(std::move(json).error().With("merge patch"));
  return MergePatch(*json);
}

}  // namespace kgen

#endif  // KGEN_CLIENT_OPTIONS_H_
