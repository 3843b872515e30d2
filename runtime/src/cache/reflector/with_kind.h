// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The apiVersion and kind of objects whose type does not say them.
#ifndef KGEN_SRC_CACHE_REFLECTOR_WITH_KIND_H_
#define KGEN_SRC_CACHE_REFLECTOR_WITH_KIND_H_

#include "kgen/core/ref.h"
#include "kgen/core/type_table.h"

namespace kgen::cache {

// An Unstructured gets the apiVersion and kind that it lacks, which servers omit from the items of lists. A
// PartialObjectMetadata gets apiVersion and kind of the object that it stands for, and loses everything else but the
// metadata, for servers that send whole objects. Other objects are returned as they are.
AnyRef WithKind(AnyRef object, const KindInfo& kind);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_WITH_KIND_H_
