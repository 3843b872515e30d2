// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which types can be decoded from protobuf.
#ifndef KGEN_GENERATOR_MODEL_PROTOBUF_H_
#define KGEN_GENERATOR_MODEL_PROTOBUF_H_

#include "generator/model/api.h"

namespace kgen::generator::model {

// Sets NamedType::protobuf of the types all of whose members have a number, and so do those of every type that they
// contain. A member without one would be missing from decoded objects in silence.
void MarkProtobuf(Api& api);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_PROTOBUF_H_
