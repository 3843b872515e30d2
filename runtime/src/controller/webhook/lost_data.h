// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What a spoke cannot say, as the annotation "kgen.dev/conversion-data" of the object in that version.
//
//   hub --from_hub--> spoke --to_hub--> back        FindLost(hub, back, spoke) --> the text of the annotation
//   spoke, annotation --TakeLost--> spoke --to_hub--> back --RestoreLost--> hub
//
// The text is a JSON object: the version of the hub, and for each of the two parts of an object (`status`, and all
// other members beside apiVersion, kind and metadata) a hash and the difference.
//
//   {"hub":"v2","object":["0f3a...",{"spec":{"lines":{"0":{"note":["fragile"]}},"old":[]}}],"status":[...]}
//
// A difference is a tree over the members and the indexes of elements. Its leaves are lists: ["fragile"] is a value,
// which may be null, and [] a member that the hub object does not have.
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_LOST_DATA_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_LOST_DATA_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen::controller {

inline constexpr std::string_view kLostAnnotation = "kgen.dev/conversion-data";
inline constexpr std::size_t kMostLostBytes = std::size_t{128} << 10;
inline constexpr std::size_t kMostAnnotationBytes = std::size_t{256} << 10;  // of all names and values, on servers

// The functions are pure and do not block. All objects are JSON text. Errors: kDecode if an object cannot be read.

// An object without the annotation.
struct TakenLost {
  std::string object;
  std::string data;  // the value of the annotation
};
// Returns nothing if the object has no such annotation.
Result<std::optional<TakenLost>> TakeLost(std::string_view object);

// The versions between which data is lost.
struct LostVersions {
  std::string_view hub;    // "v2"
  std::string_view spoke;  // "v1"
};

// Returns the text of the annotation for what `hub` has and `back` has not; "" if that is nothing. `spoke` is the
// object of which `back` was made.
Result<std::string> FindLost(const LostVersions& versions, std::string_view hub, std::string_view back,
                             std::string_view spoke);

// Returns `spoke` with the annotation; nothing if it is too large.
Result<std::optional<std::string>> AddLost(std::string_view spoke, std::string_view data);

struct RestoredLost {
  std::string hub;
  std::string ignored{};  // why data was ignored; "" if all of it was used
};
// Returns `back`, which was made of `spoke`, with the data. Any text may be `data`: what does not fit is ignored.
Result<RestoredLost> RestoreLost(const LostVersions& versions, std::string_view back, std::string_view spoke,
                                 std::string_view data);

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_LOST_DATA_H_
