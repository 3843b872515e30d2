// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: writes a part of a struct as JSON, for Convert().
#ifndef KGEN_SRC_CODEC_ENCODE_REST_H_
#define KGEN_SRC_CODEC_ENCODE_REST_H_

#include <functional>
#include <string>

#include "kgen/core/type_table.h"

namespace kgen::codec {

// Appends an object with the members that `take` selects, in their received spelling, and with all unknown fields and
// nulls that the encoder would write. `kind` is the kind whose apiVersion and kind are written first, or null. The
// table must have unknown fields.
void EncodeRest(const void* object, const TypeTable& table, const KindInfo* kind,
                const std::function<bool(const Field&)>& take, std::string& out);

}  // namespace kgen::codec

#endif  // KGEN_SRC_CODEC_ENCODE_REST_H_
