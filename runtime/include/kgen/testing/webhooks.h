// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Checks of the webhooks of a manager that need no cluster.
//
//   EXPECT_TRUE(kgen::testing::DefaultsAreIdempotent(manager, "/mutate-shop-example-v1-order", R"({
//       "apiVersion": "shop.example/v1", "kind": "Order", "metadata": {"name": "first"}, "spec": {"item":
//       "kettle"}})"));
#ifndef KGEN_TESTING_WEBHOOKS_H_
#define KGEN_TESTING_WEBHOOKS_H_

#include <string_view>

#include "kgen/controller/manager.h"
#include "kgen/core/result.h"

namespace kgen::testing {

// Calls the functions of Default() at `path` for the creation of an object, and then for the object with these
// defaults. Servers do the same when other webhooks have changed the object in between, so the second call must change
// nothing. The manager need not run, unless the functions ask for Admission::client().
//
// Errors: kInvalid          the second call changes the object, and the message has the JSON patch; or a call denies
// it,
//                           and the message has the reason
//         kInvalidArgument  no functions of Default() are at that path; `object_json` is no object with apiVersion and
//                           kind
// Thread safety: any thread. Blocks as long as the functions.
[[nodiscard]] Result<void> DefaultsAreIdempotent(const Manager& manager, std::string_view path,
                                                 std::string_view object_json);

}  // namespace kgen::testing

#endif  // KGEN_TESTING_WEBHOOKS_H_
