// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// A projection of the sample kind, as the generator would write it: metadata.labels and spec.replicas.
#ifndef KGEN_TESTS_SIMULATION_SAMPLE_PART_H_
#define KGEN_TESTS_SIMULATION_SAMPLE_PART_H_

#include <cstdint>

#include "kgen/core/object_meta.h"

namespace kgen::simulation {

struct SamplePart {
  class Metadata : meta::v1::ObjectMeta {
   public:
    using meta::v1::ObjectMeta::deletionTimestamp;
    using meta::v1::ObjectMeta::finalizers;
    using meta::v1::ObjectMeta::labels;
    using meta::v1::ObjectMeta::name;
    using meta::v1::ObjectMeta::namespace_;
    using meta::v1::ObjectMeta::resourceVersion;
    using meta::v1::ObjectMeta::uid;

    static const TypeTable kTable;
  };

  struct Spec {
    Optional<std::int32_t> replicas{};
    UnknownFields unknown_fields{};

    static const TypeTable kTable;
  };

  Metadata metadata{};
  Optional<Spec> spec = kAbsent;
  UnknownFields unknown_fields{};

  static const TypeTable kTable;
};

}  // namespace kgen::simulation

#endif  // KGEN_TESTS_SIMULATION_SAMPLE_PART_H_
