// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's list: pages, retries and fallbacks.
#include <utility>

#include "cache/reflector/reflector.h"
#include "client/request/errors.h"
#include "core/metadata_table.h"
#include "core/observers/notify_observer.h"
#include "kgen/core/value.h"

namespace kgen::cache {
namespace {

constexpr std::int64_t kDefaultPageSize = 500;

// The envelope shows whether the server sent something else, for example a Status or a Table.
Result<void> CheckEnvelope(const ListSplitter& list, const TypeTable& table) {
  if (PeekIdentity(list.envelope()).kind == "Status") return Fail(client::WatchError(list.envelope()));
  return CheckListKind(list.envelope(), detail::ListedKind(table), list.has_items());
}

}  // namespace

// The first list may come from the server's cache; later ones must not be older than the version known here. If that
// version is unusable, it is not sent, and the server returns the newest state.
std::string Reflector::ListVersion() const {
  if (version_unusable_) return "";
  return version_.empty() ? "0" : version_;
}

std::int64_t Reflector::PageSize(const std::string& version) const {
  if (settings_.page_size != 0) return settings_.page_size;
  if (server_pages_) return kDefaultPageSize;
  return version.empty() || version == "0" ? kDefaultPageSize : 0;  // given a version, the server reads from its cache
}

void Reflector::SendList(Turn turn) {
  Listing& state = Become(Listing{.request = Request(std::move(turn)), .list = {}, .splitter = {}});
  ++lists_;
  List& list = state.list;
  list.started = Now();
  list.span = source_->StartList();
  list.first.resource_version = ListVersion();
  list.first.shard_selector = selector_;
  if (const std::int64_t size = PageSize(list.first.resource_version); size > 0) list.first.limit = size;
  list.request = list.first;
  SendPage(state);
  Changed();
}

void Reflector::SendPage(Listing& state) {
  state.list.answered = false;
  state.list.last_bytes = Now();
  ArmDeadline(kListDeadline, TimerKind::kProgress);
  Open(state.request, false, state.list.request);
  if (auto* still = std::get_if<Listing>(&state_)) MakeSplitter(*still);
}

void Reflector::MakeSplitter(Listing& state) {
  state.splitter.emplace([this](std::string_view item) { return OnListItem(item); }, ListSplitter::kMaxItemBytes,
                         encoding_);
}

Result<void> Reflector::OnListItem(std::string_view item) {
  List& list = std::get<Listing>(state_).list;
  Received received = intake_.Take(item, first_list_ ? Origin::kFirstList : Origin::kLaterList, encoding_);
  if (received.json_needed) return Fail(*std::move(received.json_needed));
  if (received.left_out) return {};
  if (received.key.name.empty()) {
    list.incomplete = true;
  } else {
    AnyRef object = OrStored(received);
    list.items.Append({std::move(received.key), std::move(object)});
  }
  return {};
}

// Returns the stored object if it is equal, so that the new one can be freed at once. Otherwise memory would hold two
// copies of everything until the list has been applied. Comparing versions is not enough: servers change what they send
// without changing the version, since a new CRD or release brings new defaults and conversions.
AnyRef Reflector::OrStored(Received& received) const {
  AnyRef object = std::move(received.object);
  if (!object || received.unchanged || !hooks_.stored) return object;
  AnyRef stored = hooks_.stored(received.key);
  if (!stored || stored.metadata()->resourceVersion != object.metadata()->resourceVersion) return object;
  return detail::EqualStruct(stored.object(), object.object(), table_) ? stored : object;
}

Result<meta::v1::ListMeta> Reflector::FinishPage(Listing& state, Result<void> end) {
  if (!end) return Fail(std::move(end).error());
  Result<meta::v1::ListMeta> meta = state.splitter->Finish();
  if (!meta) return meta;
  if (Result<void> fits = CheckEnvelope(*state.splitter, table_); !fits) return Fail(std::move(fits).error());
  // Without a version, no watch could continue from this list.
  if (state.list.version.empty() && meta->resourceVersion.empty()) {
    return Fail(Code::kDecode, "the list has no metadata.resourceVersion, so it cannot be watched");
  }
  if (meta->continue_.empty()) return meta;
  if (Result<void> followed = state.list.tokens.Follow(meta->continue_); !followed) {
    return Fail(std::move(followed).error());
  }
  return meta;
}

void Reflector::OnListEnd(Listing& state, Result<void> end) {
  List& list = state.list;
  const Result<meta::v1::ListMeta> meta = FinishPage(state, std::move(end));
  if (!meta && !list.answered) Settle(state.request, meta.error());
  if (!meta && !list.answered && IsNoConnection(meta.error())) {
    list.span.End({.error = &meta.error()});  // what follows is another list
    return Park(false, meta.error(), &Reflector::SendList);
  }
  if (!meta && IsNoConnection(meta.error())) state.request.turn().Lost();
  if (!meta && NeedsJson(meta.error())) return UseJson(false, meta.error(), &Reflector::SendList);
  if (!meta) return ListFailed(state, meta.error());
  if (list.version.empty()) list.version = meta->resourceVersion.str();
  if (meta->continue_.empty()) return ListDone(state);
  list.paginated = true;
  list.request.continue_ = meta->continue_.str();
  list.request.resource_version.clear();  // servers refuse it together with a continue token
  list.request.resource_version_match.clear();
  SendPage(state);
}

void Reflector::ListFailed(Listing& state, const Error& error) {
  List& list = state.list;
  const bool later_page = !list.request.continue_.empty();
  const bool again_in_full = later_page && !list.without_pages && HasReasonExpired(error);
  const bool again_without_version =
      !list.first.resource_version.empty() && (IsExpired(error) || IsVersionTooLarge(error));
  if (!again_in_full && !again_without_version) {
    list.span.End({.error = &error});
    return EndRound(false, error.With("failed to list " + name_));
  }
  if (again_in_full) {
    list.without_pages = true;
    list.first.limit.reset();
  } else {
    list.first.resource_version.clear();
    version_unusable_ = true;
  }
  list.request = list.first;
  list.version.clear();
  Discard(list.items);
  list.items = {};
  list.tokens = {};
  list.incomplete = false;
  Report(false, error, Nanos(0));
  SendPage(state);
}

void Reflector::ListDone(Listing& state) {
  List done = std::move(state.list);
  done.span.End({});
  if (done.paginated && done.first.resource_version == "0") server_pages_ = true;
  const Observer::Relisted event{name_, done.version, done.items.size(), false, Now() - done.started};
  NotifyObserver(observer_, [&](Observer& o) { o.OnRelisted(event); });
  Replace(std::move(done.items), done.version, done.incomplete);
  if (hooks_.on_queued) hooks_.on_queued();
  Go(&Reflector::SendWatch);
}

// The listed objects become the state, and the watch continues from the version of the list. If that version is older
// than the last one, the server's history was replaced.
void Reflector::Replace(ListedObjects items, const std::string& version, bool incomplete) {
  const bool other_history = std::exchange(history_replaced_, false) || IsOlderVersion(version, version_);
  version_unusable_ = false;
  check_due_ = false;
  list_due_ = false;
  fifo_.Replace(std::move(items), version, incomplete, other_history, cluster_, asked_);
  version_ = version;
  stale_ = false;
}

void Reflector::OnListDeadline(Listing& state) {
  const Nanos silent = Now() - state.list.last_bytes;
  if (silent < kListDeadline) return ArmDeadline(kListDeadline - silent, TimerKind::kProgress);
  ListFailed(state, Error(Code::kTimeout,
                          "no data for " +
                              std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silent).count()) + " s"));
}

}  // namespace kgen::cache
