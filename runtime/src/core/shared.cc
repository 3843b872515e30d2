// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/shared.h"

namespace kgen {

SharedObject::~SharedObject() = default;

}  // namespace kgen
