// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The informer of pods, whole or projected.
#ifndef KGEN_BENCH_POD_INFORMER_H_
#define KGEN_BENCH_POD_INFORMER_H_

#include "k8s/informers.h"

namespace kgen::bench {

// T: Pod, or a projection of it.
template <typename T>
SharedInformer<T> PodsOf(const k8s::SharedInformerFactory& factory) {
  if constexpr (detail::IsProjection<T>) {
    return factory.Of<T>().Informer();
  } else {
    return factory.Core().V1().Pods().Informer();
  }
}

}  // namespace kgen::bench

#endif  // KGEN_BENCH_POD_INFORMER_H_
