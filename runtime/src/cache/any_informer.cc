// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/any_informer.h"

#include <utility>

#include "cache/informer.h"

namespace kgen {

bool AnyInformer::HasSynced() const noexcept { return informer_->HasSynced(); }
bool AnyInformer::IsStopped() const noexcept { return informer_->IsStopped(); }
cache::InformerStatus AnyInformer::status() const { return informer_->status(); }
Result<void> AnyInformer::WaitUntil(std::string_view version, std::stop_token stop, Nanos limit) const {
  return informer_->WaitUntil(version, std::move(stop), limit);
}
Registration AnyInformer::AddHandler(AnyHandler handler) const { return AddHandler(std::move(handler), {}); }
Registration AnyInformer::AddHandler(AnyHandler handler, HandlerOptions options) const {
  return informer_->AddEventHandler(std::move(handler), std::move(options));
}
Result<void> AnyInformer::AddIndexBy(std::string_view name, const FieldPath& path) const {
  return informer_->AddIndex(name, path);
}
Result<void> AnyInformer::AddIndexBy(std::string_view name, const cache::IndexFunction& function) const {
  return informer_->AddIndex(name, function);
}
Result<void> AnyInformer::SetTransformBy(TransformFunction transform) const {
  return informer_->SetTransform(std::move(transform));
}
const Shared<cache::Store>& AnyInformer::store() const noexcept { return informer_->store(); }

}  // namespace kgen
