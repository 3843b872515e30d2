// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which types can be decoded from protobuf.
#ifndef KGEN_GENERATOR_MODEL_PROTOBUF_H_
#define KGEN_GENERATOR_MODEL_PROTOBUF_H_

#include "generator/model/api.h"

namespace kgen::generator::model {

// Sets NamedType::protobuf of each type if all its members, and all members of the types that it contains, have a
// number. A member without one would be missing from decoded objects in silence.
void MarkProtobuf(Api& api);

// Returns whether all members of the type can be decoded. Of the types that it refers to, it reads what MarkProtobuf()
// has set.
bool CanDecodeMembers(const Api& api, const NamedType& type);

}  // namespace kgen::generator::model

#endif  // KGEN_GENERATOR_MODEL_PROTOBUF_H_
