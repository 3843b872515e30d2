// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#ifndef KGEN_SRC_CORE_OWN_BYTES_H_
#define KGEN_SRC_CORE_OWN_BYTES_H_

#include <cstddef>

#include "kgen/core/ref.h"

namespace kgen::detail {

// The bytes that would be freed with the object: its block, and the blocks below it that nothing else shares. Takes
// about as long as freeing them, since it does not look below a shared block. Any thread; a snapshot, since other
// objects may begin or cease to share with this one. 0 for null.
std::size_t OwnBytes(const AnyRef& object) noexcept;

// The bytes of an object in the cache of an informer: its block counts in full, and each block below it in proportion
// to the number of objects that share it. So the sum over all objects is about what they take together. Takes as long
// as a copy of all values. Any thread. 0 for null.
std::size_t BytesWithShare(const AnyRef& object) noexcept;

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_OWN_BYTES_H_
