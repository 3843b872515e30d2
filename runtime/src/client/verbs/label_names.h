// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks the keys and values of labels.
#ifndef KGEN_SRC_CLIENT_VERBS_LABEL_NAMES_H_
#define KGEN_SRC_CLIENT_VERBS_LABEL_NAMES_H_

#include <string_view>

namespace kgen::client {

// True for a label value that is not empty; it may also be the name part of a label key.
bool IsLabelValue(std::string_view text) noexcept;
// True for a label key, which Kubernetes calls a qualified name: "app", "shop.example.com/app".
bool IsQualifiedName(std::string_view text) noexcept;

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_VERBS_LABEL_NAMES_H_
