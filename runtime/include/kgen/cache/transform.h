// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// TransformFunction: a function that changes the objects of an informer before they are stored.
#ifndef KGEN_CACHE_TRANSFORM_H_
#define KGEN_CACHE_TRANSFORM_H_

#include "kgen/core/function.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen {

// Changes an object before the cache and the handlers see it. Runs exactly once for each received object, on the
// informer's strand: it must be fast and must not block. The name, namespace, uid and resourceVersion stay what the
// server sent. An error or an exception refuses the object, which is reported to the observer.
using TransformFunction = Function<Result<AnyRef>(AnyRef object)>;

}  // namespace kgen

#endif  // KGEN_CACHE_TRANSFORM_H_
