// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/cache/lister.h"

#include "cache/store/store.h"
#include "cache/store/store_state.h"

namespace kgen::detail {

std::vector<AnyRef> ListFromStore(const Shared<cache::Store>& store, std::string_view namespace_,
                                  const Selector* selector) {
  return cache::ListFrom(store->Snapshot().state(), namespace_, selector);
}

AnyRef GetFromStore(const Shared<cache::Store>& store, std::string_view namespace_, std::string_view name) {
  return store->Look(namespace_, name);
}

}  // namespace kgen::detail
