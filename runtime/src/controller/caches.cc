// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/caches.h"

#include "kgen/client/connection.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace controller {

class CacheCore final : public SharedObject {};
class CachesState final : public SharedObject {
 public:
  explicit CachesState(const Connection& to) : connection(to) {}
  const Connection connection;
};

}  // namespace controller

namespace {
std::unexpected<Error> Stub() { return Fail(Code::kInternal, "not written yet"); }
}  // namespace

CacheRegistration::CacheRegistration() noexcept = default;
CacheRegistration::CacheRegistration(CacheRegistration&&) noexcept = default;
CacheRegistration& CacheRegistration::operator=(CacheRegistration&&) noexcept = default;
CacheRegistration::~CacheRegistration() = default;
void CacheRegistration::Remove() {}
Result<void> CacheRegistration::status() const { return Stub(); }
bool CacheRegistration::HasSynced() const noexcept { return false; }
std::size_t CacheRegistration::Backlog() const noexcept { return 0; }

AnyCache::AnyCache() noexcept = default;
AnyCache::AnyCache(Shared<controller::CacheCore> core) noexcept : core_(std::move(core)) {}
AnyCache::AnyCache(const AnyCache&) noexcept = default;
AnyCache::AnyCache(AnyCache&&) noexcept = default;
AnyCache& AnyCache::operator=(AnyCache other) noexcept {
  std::swap(core_, other.core_);
  return *this;
}
AnyCache::~AnyCache() = default;
const TypeTable& AnyCache::table() const noexcept { return Unstructured::kTable; }
const KindInfo& AnyCache::kind() const noexcept { return *Unstructured::kTable.kind; }
std::string AnyCache::name() const { return {}; }
Result<AnyRef> AnyCache::Get(const ObjectKey&) const { return Stub(); }
Result<std::vector<AnyRef>> AnyCache::List(const ListFilter&) const { return Stub(); }
Result<void> AnyCache::AddIndex(std::string_view, const FieldPath&) const { return Stub(); }
Result<void> AnyCache::AddIndex(std::string_view, cache::IndexFunction) const { return Stub(); }
CacheRegistration AnyCache::AddEventHandler(AnyHandler, HandlerOptions) const { return {}; }
bool AnyCache::HasSynced() const noexcept { return false; }
Result<void> AnyCache::WaitForSync(std::stop_token) const { return Stub(); }
Result<void> AnyCache::WaitUntil(const ObjectKey&, std::string_view, std::stop_token, Nanos) const { return Stub(); }
Result<AnyRef> AnyCache::WaitFor(const ObjectKey&, const std::function<bool(const AnyRef&)>&, std::stop_token,
                                 Nanos) const {
  return Stub();
}
std::vector<cache::InformerStatus> AnyCache::status() const { return {}; }

Caches::Caches(const Connection& connection, CachesOptions)
    : state_(MakeShared<controller::CachesState>(connection)) {}
Result<Cache<Unstructured>> Caches::Of(const ResourceMapping&) const { return Stub(); }
Result<Cache<PartialObjectMetadata>> Caches::MetadataOf(const ResourceMapping&) const { return Stub(); }
Result<Cache<PartialObjectMetadata>> Caches::MetadataOf(const KindInfo&) const { return Stub(); }
Result<AnyCache> Caches::Of(const TypeTable&, const KindInfo&) const { return Stub(); }
void Caches::Start(std::stop_token) const {}
Result<void> Caches::WaitForSync(std::stop_token) const { return Stub(); }
void Caches::Shutdown() const {}
std::vector<cache::InformerStatus> Caches::status() const { return {}; }
const Connection& Caches::connection() const noexcept { return state_->connection; }

}  // namespace kgen
