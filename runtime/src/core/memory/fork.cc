// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/memory/fork.h"

namespace kgen::detail {

constinit std::atomic<bool> forked_child{false};

}  // namespace kgen::detail
