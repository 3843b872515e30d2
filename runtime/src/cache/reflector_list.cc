// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The reflector's list: pages, second attempts, fall-backs. [INF RL, LW]
#include <utility>

#include "cache/reflector_impl.h"
#include "core/tell.h"
#include "kgen/core/value.h"

namespace kgen::cache {
namespace {

constexpr std::int64_t kDefaultPageSize = 500;  // [LW-04]

// The envelope says what came instead of a list of ours. [RL: a list in Table form is refused]
Result<void> CheckEnvelope(const std::string& envelope, const TypeTable& table) {
  const Identity identity = PeekIdentity(envelope);
  if (identity.kind == "Status") return Fail(WatchError(envelope));
  const std::string expected = table.kind != nullptr ? std::string(table.kind->list_kind) : std::string();
  const bool fits =
      expected.empty() ? identity.kind.empty() || identity.kind.ends_with("List") : identity.kind == expected;
  if (fits || identity.kind.empty()) return {};
  return Fail(Code::kDecode, "expected " + (expected.empty() ? "a list" : expected) + ", found " + identity.kind);
}

}  // namespace

// [RL-01 to RL-03]
std::string Reflector::Impl::ListVersion() const {
  if (version_unusable_) return "";
  return status_.resource_version.empty() ? "0" : status_.resource_version;
}

// [RL-06]
std::int64_t Reflector::Impl::PageSize(const std::string& version) const {
  if (options_.page_size != 0) return options_.page_size;
  if (server_pages_) return kDefaultPageSize;
  return version.empty() || version == "0" ? kDefaultPageSize : 0;  // at a version the server answers from its cache
}

void Reflector::Impl::StartList() {
  phase_ = Phase::kList;
  ++status_.lists;
  list_ = {};
  list_.started = Now();
  list_.first.resource_version = ListVersion();
  if (const std::int64_t size = PageSize(list_.first.resource_version); size > 0) list_.first.limit = size;
  list_.request = list_.first;
  SetState(ReflectorStatus::State::kListing);
  SendPage();
}

void Reflector::Impl::SendPage() {
  splitter_.emplace([this](std::string_view item) { return OnListItem(item); });
  ArmDeadline(options_.list_deadline, TimerKind::kProgress);
  OpenStream(false, list_.request);
}

Result<void> Reflector::Impl::OnListItem(std::string_view item) {
  Received received = intake_.Take(item);
  if (received.key.name.empty()) {
    list_.incomplete = true;
  } else {
    AnyRef object = OrStored(received.key, std::move(received.object));
    list_.items.push_back({std::move(received.key), std::move(object)});
  }
  return {};
}

// The stored object instead of an equal one, which goes at once: else two copies of everything would be in memory until
// the list has been applied. The version alone does not say that an object is the same, since servers change what they
// send without a new one: defaults and conversions come with a new CRD or a new release.
AnyRef Reflector::Impl::OrStored(const ObjectKey& key, AnyRef object) const {
  if (!object || !hooks_.stored) return object;
  AnyRef stored = hooks_.stored(key);
  if (!stored || stored.metadata()->resourceVersion != object.metadata()->resourceVersion) return object;
  return detail::EqualStruct(stored.object(), object.object(), table_) ? stored : object;
}

void Reflector::Impl::OnListBytes(std::string_view bytes) {
  const Result<void> fed = splitter_->Feed(bytes);
  if (!fed) ListFailed(fed.error());
}

Result<meta::v1::ListMeta> Reflector::Impl::FinishPage(Result<void> end) {
  if (!end) return Fail(std::move(end).error());
  Result<meta::v1::ListMeta> meta = splitter_->Finish();
  if (!meta) return meta;
  if (Result<void> fits = CheckEnvelope(splitter_->envelope(), table_); !fits) return Fail(std::move(fits).error());
  return meta;
}

void Reflector::Impl::OnListEnd(Result<void> end) {
  const Result<meta::v1::ListMeta> meta = FinishPage(std::move(end));
  CloseStream();
  if (!meta) return ListFailed(meta.error());
  if (list_.version.empty()) list_.version = meta->resourceVersion.str();
  if (meta->continue_.empty()) return ListDone();
  list_.paginated = true;
  list_.request.continue_ = meta->continue_.str();
  list_.request.resource_version.clear();  // servers refuse it beside a continue token [LW-06]
  list_.request.resource_version_match.clear();
  SendPage();
}

void Reflector::Impl::ListFailed(const Error& error) {
  CloseStream();
  const bool later_page = !list_.request.continue_.empty();
  const bool again_in_full = later_page && !list_.without_pages && HasReasonExpired(error);  // [LW-08]
  const bool again_without_version =
      !list_.without_version && (IsExpired(error) || IsVersionTooLarge(error));  // [RL-04]
  if (!again_in_full && !again_without_version) {
    list_ = {};
    return EndRound(false, error.With("failed to list " + name_));  // [RL-11]
  }
  if (again_in_full) {
    list_.without_pages = true;
    list_.first.limit.reset();
  } else {
    list_.without_version = true;
    list_.first.resource_version.clear();
    version_unusable_ = true;
  }
  list_.request = list_.first;
  list_.version.clear();
  list_.items.clear();
  list_.incomplete = false;
  Report(false, error, Nanos(0));
  SendPage();
}

void Reflector::Impl::ListDone() {
  version_unusable_ = false;                                                         // [RL-05]
  if (list_.paginated && list_.first.resource_version == "0") server_pages_ = true;  // [RL-07]
  List done = std::exchange(list_, {});
  const Observer::Relisted event{name_, done.version, done.items.size(), false, Now() - done.started};
  Tell(observer_, [&](Observer& o) { o.OnRelisted(event); });
  fifo_.Replace(std::move(done.items), done.version, done.incomplete);  // then the version [RL-10]
  status_.resource_version = done.version;
  EnterWatchPhase();
  if (hooks_.on_queued) hooks_.on_queued();
  StartWatch();
}

void Reflector::Impl::OnListDeadline() {
  const Nanos silent = Now() - last_bytes_;
  if (silent < options_.list_deadline) return ArmDeadline(options_.list_deadline - silent, TimerKind::kProgress);
  ListFailed(
      Error(Code::kTimeout,
            "no byte for " + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(silent).count()) + " s"));
}

}  // namespace kgen::cache
