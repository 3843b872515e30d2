// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/client.h"

#include "kgen/client/rest_mapper.h"
#include "kgen/controller/wait.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace controller {
class ClientState final : public SharedObject {};
}  // namespace controller

namespace {
std::unexpected<Error> Stub() { return Fail(Code::kInternal, "not written yet"); }
}  // namespace

Client::Client(Caches caches, std::string_view field_manager)
    : caches_(std::move(caches)), connection_(caches_.connection()), field_manager_(field_manager) {}
Client::Client(const Client&) = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client other) noexcept {
  std::swap(caches_, other.caches_);
  std::swap(state_, other.state_);
  std::swap(connection_, other.connection_);
  std::swap(field_manager_, other.field_manager_);
  std::swap(live_, other.live_);
  return *this;
}
Client::~Client() = default;
Result<Ref<const Unstructured>> Client::Get(const GroupVersionKind&, const ObjectKey&) const { return Stub(); }
Result<std::vector<Ref<const Unstructured>>> Client::List(const GroupVersionKind&, const ListFilter&) const {
  return Stub();
}
Result<AnyRef> Client::GetAny(const TypeTable&, const KindInfo&, const ObjectKey&) const { return Stub(); }
Result<std::vector<AnyRef>> Client::ListAny(const TypeTable&, const KindInfo&, const ListFilter&) const {
  return Stub();
}
Client Client::Live() const { return *this; }
Client Client::With(std::stop_token) const { return *this; }
Client Client::With(Shared<SendGuard>) const { return *this; }
Client Client::WithFieldManager(std::string_view) const { return *this; }
RestMapper Client::mapper() const { return RestMapper(connection_); }
Result<Ref<const PartialObjectMetadata>> Client::GetMetadata(const KindInfo&, const ObjectKey&) const { return Stub(); }
Result<std::vector<Ref<const PartialObjectMetadata>>> Client::ListMetadata(const KindInfo&, const ListFilter&) const {
  return Stub();
}
Result<void> Client::CreateAny(const void*, const TypeTable&, const CreateOptions&, void*) const { return Stub(); }
Result<void> Client::UpdateAny(const void*, const TypeTable&, std::string_view, const UpdateOptions&, void*) const {
  return Stub();
}
Result<void> Client::PatchAny(const void*, const TypeTable&, std::string_view, const kgen::Patch*, const PatchOptions&,
                              void*) const {
  return Stub();
}
Result<void> Client::DeleteAny(const void*, const TypeTable&, const DeleteOptions&) const { return Stub(); }
Result<void> Client::DeleteKey(const KindInfo&, const ObjectKey&, const DeleteOptions&) const { return Stub(); }

}  // namespace kgen
