// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/shared.h"

#include "core/memory/fork.h"

namespace kgen {

SharedObject::~SharedObject() = default;

void SharedObject::Destroy(const SharedObject* object) noexcept {
  if (!detail::ForkedChild()) [[likely]]
    delete object;
}

}  // namespace kgen
