// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/caches/namespace_source.h"

#include <algorithm>
#include <utility>

#include "cache/reflector/list_watch.h"
#include "cache/resolve_options.h"
#include "cache/wait_for_sync.h"
#include "core/quoted.h"
#include "kgen/core/unstructured.h"

namespace kgen::controller {
namespace {

constexpr KindInfo kNamespaceKind = {.group = "",
                                     .version = "v1",
                                     .kind = "Namespace",
                                     .list_kind = "NamespaceList",
                                     .resource = "namespaces",
                                     .singular = "namespace",
                                     .scope = Scope::kCluster,
                                     .list = nullptr};

Shared<cache::Informer> MakeInformer(const Connection& connection, const std::string& labels, bool streaming_list) {
  const TypeTable& table = PartialObjectMetadata::kTable;
  const InformerOptions options{.resync = kNever, .drop_managed_fields = true, .streaming_list = streaming_list};
  return MakeShared<cache::Informer>(
      connection, cache::MakeListWatch(connection, kNamespaceKind, {.label_selector = labels}, cache::FormOf(table)),
      table, *cache::SettingsOf(options, connection.clock()));
}

}  // namespace

NamespaceSource::NamespaceSource(NamespaceFollower& follower, const Connection& connection, const std::string& labels,
                                 bool streaming_list)
    : labels_(labels), informer_(MakeInformer(connection, labels, streaming_list)), follower_(&follower) {
  // Events are not merged, because the last one of a series is the one that counts.
  registration_ = informer_->AddEventHandler(
      [self = Shared<NamespaceSource>(this)](const AnyEvent& event) { self->OnEvent(event); },
      {.name = "namespaces of the caches", .backlog_bytes = kUnlimited});
}

void NamespaceSource::Start(const std::stop_token& stop) { informer_->Start(stop); }

void NamespaceSource::Stop() {
  {
    const MutexLock lock(mutex_);
    follower_ = nullptr;
  }
  informer_->Stop();
  registration_.Remove();  // and the reference to this object that the handler has
}

Result<void> NamespaceSource::WaitForSync(const std::stop_token& stop, Nanos limit) const {
  const SyncOptions options{.handlers = {&registration_}, .give_up_after = std::max(Nanos(0), limit)};
  Result<void> synced = cache::WaitForSync(*informer_->executor(), stop, {informer_}, options);
  if (!synced) return Fail(synced.error().With("namespaces with the labels " + detail::Quoted(labels_)));
  return synced;
}

// If several events wait, the last one tells what they come to.
void NamespaceSource::OnEvent(const AnyEvent& event) {
  if (event.type == AnyEvent::Type::kAdded || event.type == AnyEvent::Type::kUpdated) {
    names_.insert(event.key.name.str());
  } else {
    names_.erase(event.key.name.str());
  }
  if (registration_.Backlog() > 0) return;
  Shared<NamespaceFollower> follower;
  {
    const MutexLock lock(mutex_);
    if (follower_ != nullptr) follower = Shared<NamespaceFollower>::TryAdd(follower_);
  }
  if (follower) follower->FollowNamespaces(names_);
}

}  // namespace kgen::controller
