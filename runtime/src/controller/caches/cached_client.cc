// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CachedClient: its handles, and its reads. The writes are in cached_client_writes.cc.
#include "kgen/controller/cached_client.h"

#include <utility>

#include "cache/reflector/with_kind.h"
#include "client/request/accept.h"
#include "client/verbs/kind_registry.h"
#include "codec/list_splitter.h"
#include "controller/caches/client_state.h"
#include "core/metadata_table.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/resource_client.h"
#include "kgen/codec/decode.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace controller {

ClientState::~ClientState() {
  for (Held* held = first_.load(); held != nullptr;) delete std::exchange(held, held->next);
}

KindCache* ClientState::Find(const TypeTable& table, const KindInfo& kind) const noexcept {
  for (const Held* held = first_.load(std::memory_order_acquire); held != nullptr; held = held->next) {
    if (held->table == &table && held->kind == &kind) return held->kind_cache.get();
  }
  return nullptr;
}

KindCache* ClientState::Keep(const TypeTable& table, const KindInfo& kind, Shared<KindCache> kind_cache) {
  const MutexLock lock(mutex_);
  if (KindCache* const known = Find(table, kind))
    return known;  // `kind_cache` is the same one, or another user's is gone
  KindCache* const kept = kind_cache.get();
  first_.store(new Held{&table, &kind, std::move(kind_cache), first_.load()}, std::memory_order_release);
  return kept;
}

Result<KindCache*> ClientState::Synced(const Caches& caches, const TypeTable& table, const KindInfo& kind,
                                       const std::stop_token& stop) {
  if (KindCache* const known = Find(table, kind)) return known;
  Result<AnyCache> cache = caches.Of(table, kind);
  if (!cache) return Fail(std::move(cache).error());
  // A read that need not wait succeeds after a stop, too: what was begun may be finished.
  if (!cache->HasSynced()) {
    if (Result<void> synced = cache->WaitForSync(stop); !synced) return Fail(std::move(synced).error());
  }
  return Keep(table, kind, cache->kind_cache());
}

}  // namespace controller

namespace {

// Whether the server says that the object does not exist. It also says NotFound of a resource that it does not serve,
// but then without the name of the object.
bool IsMissing(const Error& error, const ObjectKey& key) {
  const meta::v1::Status* const status = error.status();
  return error.code() == Code::kNotFound && status != nullptr && status->details->name == key.name;
}

Result<AnyRef> GetLive(const Connection& connection, const TypeTable& table, const KindInfo& kind,
                       const ObjectKey& key) {
  Result<ApiRequest> request = RawResource(connection, kind, key.namespace_).Get(key.name, "", {});
  if (request && detail::IsMetadataOnly(table)) request->accept = client::kAcceptMetadata;
  const std::string what = detail::WhatOf(request);
  const Result<std::string> body = detail::CallForBody(connection, std::move(request));
  if (!body && IsMissing(body.error(), key)) return AnyRef();
  if (!body) return Fail(body.error());
  Result<AnyRef> object = ObjectDecoder(table).Decode(*body);
  if (!object) return Fail(object.error().With(what));
  return cache::WithKind(*std::move(object), kind);
}

Result<std::vector<AnyRef>> ListLive(const Connection& connection, const TypeTable& table, const KindInfo& kind,
                                     const ListFilter& filter) {
  std::vector<AnyRef> objects;
  const std::string what = "list " + std::string(kind.resource);
  if (!filter.index.empty() || !filter.value.empty()) {
    return Fail(
        Error(Code::kInvalidArgument, "only caches have indexes; a live read cannot use \"" + filter.index + "\"")
            .With(what));
  }
  if (filter.labels.is_nothing()) return objects;
  Result<ApiRequest> request =
      RawResource(connection, kind, filter.namespace_).List({.label_selector = filter.labels.str()});
  const bool metadata = detail::IsMetadataOnly(table);
  if (request && metadata) request->accept = client::kAcceptMetadataList;
  const Result<std::string> body = detail::CallForBody(connection, std::move(request));
  if (!body) return Fail(body.error());
  ObjectDecoder decoder(table);
  ListSplitter items([&](std::string_view item) -> Result<void> {
    Result<AnyRef> object = decoder.Decode(item);
    if (!object) return Fail(std::move(object).error());
    objects.push_back(cache::WithKind(*std::move(object), kind));
    return {};
  });
  Result<void> done = items.Feed(*body);
  if (done) done = Discard(items.Finish());
  if (done) done = CheckListKind(items.envelope(), metadata ? nullptr : &kind, items.has_items());
  if (!done) return Fail(done.error().With(what));
  return objects;
}

}  // namespace

CachedClient::CachedClient(Caches caches, std::string_view field_manager)
    : caches_(std::move(caches)),
      state_(MakeShared<controller::ClientState>(caches_.connection())),
      connection_(caches_.connection()),
      field_manager_(field_manager) {}
CachedClient::CachedClient(const CachedClient&) = default;
CachedClient::CachedClient(CachedClient&&) noexcept = default;
CachedClient& CachedClient::operator=(CachedClient other) noexcept {
  std::swap(caches_, other.caches_);
  std::swap(state_, other.state_);
  std::swap(connection_, other.connection_);
  std::swap(log_, other.log_);
  std::swap(field_manager_, other.field_manager_);
  std::swap(live_, other.live_);
  return *this;
}
CachedClient::~CachedClient() = default;

CachedClient CachedClient::Live() const {
  CachedClient live(*this);
  live.live_ = true;
  return live;
}
CachedClient CachedClient::With(std::stop_token stop) const {
  CachedClient with(*this);
  with.connection_ = connection_.With(std::move(stop));
  return with;
}
CachedClient CachedClient::With(Shared<SendGuard> guard) const {
  CachedClient with(*this);
  with.connection_ = connection_.With(std::move(guard));
  return with;
}
CachedClient CachedClient::With(const TraceContext& parent) const {
  CachedClient with(*this);
  with.connection_ = connection_.With(parent);
  return with;
}
CachedClient CachedClient::WithFieldManager(std::string_view name) const {
  CachedClient with(*this);
  with.field_manager_ = name;
  return with;
}
CachedClient CachedClient::With(Shared<controller::WriteLog> log) const {
  CachedClient with(*this);
  with.log_ = std::move(log);
  return with;
}
RestMapper CachedClient::mapper() const { return state_->mapper(); }

Result<AnyRef> CachedClient::GetAny(const TypeTable& table, const KindInfo& kind, const ObjectKey& key) const {
  if (live_) return GetLive(connection_, table, kind, key);
  const Result<controller::KindCache*> cache = state_->Synced(caches_, table, kind, connection_.stop());
  if (!cache) return Fail(cache.error().With("get " + std::string(kind.resource) + " " + key.str()));
  return (*cache)->GetFresh(key, connection_.stop());
}

Result<std::vector<AnyRef>> CachedClient::ListAny(const TypeTable& table, const KindInfo& kind,
                                                  const ListFilter& filter) const {
  if (live_) return ListLive(connection_, table, kind, filter);
  const Result<controller::KindCache*> cache = state_->Synced(caches_, table, kind, connection_.stop());
  if (!cache) return Fail(cache.error().With("list " + std::string(kind.resource)));
  return (*cache)->ListFresh(filter, connection_.stop());
}

Result<Ref<const Unstructured>> CachedClient::Get(const GroupVersionKind& kind, const ObjectKey& key) const {
  const Result<ResourceMapping> mapping = state_->mapper().ForKind(kind);
  if (!mapping) return Fail(mapping.error().With("get " + kind.str() + " " + key.str()));
  return TypedRef<Unstructured>(GetAny(Unstructured::kTable, client::KindOf(*mapping), key));
}

Result<std::vector<Ref<const Unstructured>>> CachedClient::List(const GroupVersionKind& kind,
                                                                const ListFilter& filter) const {
  const Result<ResourceMapping> mapping = state_->mapper().ForKind(kind);
  if (!mapping) return Fail(mapping.error().With("list " + kind.str()));
  return TypedList<Unstructured>(ListAny(Unstructured::kTable, client::KindOf(*mapping), filter));
}

Result<Ref<const PartialObjectMetadata>> CachedClient::GetMetadata(const KindInfo& kind, const ObjectKey& key) const {
  return TypedRef<PartialObjectMetadata>(GetAny(PartialObjectMetadata::kTable, kind, key));
}
Result<std::vector<Ref<const PartialObjectMetadata>>> CachedClient::ListMetadata(const KindInfo& kind,
                                                                                 const ListFilter& filter) const {
  return TypedList<PartialObjectMetadata>(ListAny(PartialObjectMetadata::kTable, kind, filter));
}

}  // namespace kgen
