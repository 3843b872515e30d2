// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ConversionBuilder: converts objects of a kind between its versions, through one of them, the hub.
//
//   manager.Conversion<v2::Order>()
//       .Spoke<v1::Order>(
//           [](const v1::Order& from, v2::Order& to) -> kgen::Result<void> {
//             to.spec->lines[0].quantity = from.spec->quantity;      // what Convert() cannot know
//             return {};
//           },
//           [](const v2::Order& from, v1::Order& to) -> kgen::Result<void> { ... })
//       .KeepsWhatIsLost();
//
//   v1 --> hub --> v3: the library composes the two functions of each spoke
//
// What `to` holds when a function is called, and what becomes of the members of an object:
//
//   both versions have it       `to` has the value, if it fits the type there (kgen::Convert); a null stays a null
//   only `from` has it, or      dropped, at any depth: the function assigns what `to` has in its place. It never goes
//   it has no place in `to`     into the answer as an unknown member
//   neither version has it,     kept as received among the unknown fields; servers prune what the schema lacks
//   or not of the type in `from`
//   metadata                    kept byte for byte. A function may change `to.metadata.labels` and `.annotations`,
//   which
//                               is all that servers take from an answer; its other changes of metadata are ignored.
//                               The functions do not see managedFields
//   status                      converted as the rest is
//
// An object that has the desired version already is answered as it came. One spoke becomes another through the hub.
// Conversion neither sets defaults nor validates, and must not depend on the API server: it is called for every list
// and watch of a version that is not stored, and a server waits 30 s for it. A failure makes the whole list fail, with
// a message that names the object; docs/versions.md says what follows from that.
#ifndef KGEN_CONTROLLER_CONVERSION_H_
#define KGEN_CONTROLLER_CONVERSION_H_

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "kgen/core/type_table.h"

namespace kgen {

namespace controller {
class WebhookRoutes;
}

namespace detail {

// One spoke, erased. The functions take and make JSON objects of the two versions.
struct SpokeSpec {
  const KindInfo* hub = nullptr;
  const KindInfo* spoke = nullptr;
  std::function<Result<std::string>(std::string_view spoke)> to_hub{};
  std::function<Result<std::string>(std::string_view hub)> from_hub{};
};
// An error of the declaration (another group or kind, a version twice) is returned by Manager::Run().
void AddSpoke(const Shared<controller::WebhookRoutes>& routes, SpokeSpec spec);
void KeepLost(const Shared<controller::WebhookRoutes>& routes, const KindInfo* hub);

// The objects of one call of a function, which are default-constructed structs of the tables, and the function itself.
struct ConversionCall {
  const TypeTable* from_table = nullptr;
  const TypeTable* to_table = nullptr;
  void* from = nullptr;  // what the function reads
  void* copy = nullptr;  // of `from`, which Convert() takes apart
  void* to = nullptr;
  const void* function = nullptr;
  Result<void> (*call)(const void* function, const void* from, void* to) = nullptr;
};
// Decodes `json`, converts it with Convert() and the function, and returns the result as JSON. See the top of this file
// for what becomes of each member. Errors: kDecode, and the function's. Exceptions of the function pass through.
Result<std::string> ConvertObject(std::string_view json, const ConversionCall& call);

template <typename From, typename To, typename F>
std::function<Result<std::string>(std::string_view)> ConversionOf(F function) {
  return [function = std::move(function)](std::string_view json) {
    From from{};
    From copy{};
    To to{};
    return ConvertObject(json, {.from_table = &From::kTable,
                                .to_table = &To::kTable,
                                .from = &from,
                                .copy = &copy,
                                .to = &to,
                                .function = &function,
                                .call = [](const void* erased, const void* before, void* after) -> Result<void> {
                                  return (*static_cast<const F*>(erased))(*static_cast<const From*>(before),
                                                                          *static_cast<To*>(after));
                                }});
  };
}

}  // namespace detail

// Declares the versions of one kind. Hub and spokes are generated types, or structs of your own, of the same group and
// kind. Functions run as the functions of webhooks do.
template <typename Hub>
class ConversionBuilder {
 public:
  explicit ConversionBuilder(Shared<controller::WebhookRoutes> routes) : routes_(std::move(routes)) {}

  // Adds an older version, with a function from it to the hub and one from the hub to it.
  template <typename Old, typename ToHub, typename FromHub>
  ConversionBuilder& Spoke(ToHub to_hub, FromHub from_hub) {
    static_assert(!std::is_same_v<Old, Hub>, "Spoke: the hub converts to itself as it is");
    static_assert(std::is_invocable_r_v<Result<void>, const ToHub&, const Old&, Hub&>,
                  "Spoke: the first function is [](const Old& from, Hub& to) -> kgen::Result<void>");
    static_assert(std::is_invocable_r_v<Result<void>, const FromHub&, const Hub&, Old&>,
                  "Spoke: the second function is [](const Hub& from, Old& to) -> kgen::Result<void>");
    detail::AddSpoke(routes_, {.hub = Hub::kTable.kind,
                               .spoke = Old::kTable.kind,
                               .to_hub = detail::ConversionOf<Old, Hub>(std::move(to_hub)),
                               .from_hub = detail::ConversionOf<Hub, Old>(std::move(from_hub))});
    return *this;
  }
  // Keeps what a spoke cannot say in the annotation "kgen.dev/conversion-data" of objects of that version, and restores
  // it on the way back. It costs two more conversions for each object that is converted to a spoke.
  //
  // What is kept: the members of the hub object beside metadata that are missing or different, null included, after its
  // spoke object was converted back. `status` is one part and all other members are another, because servers write the
  // two separately: each part has a hash of the members of the spoke object that it was made from. Metadata is in no
  // hash, so a change of labels, annotations, resourceVersion or managedFields loses nothing.
  //
  // A part is ignored, with a warning to the observer, if somebody has changed these members or the annotation, or if
  // it was made for another hub version. The data is not kept, with a warning once for each kind, if it has more than
  // 128 KiB, or if all annotations of the object would have more than the 256 KiB that servers accept.
  //
  // The hash finds changes; it is no proof against forgery. Whoever may write objects of a spoke can put any value into
  // the hub object, past the schema of the hub, so a controller should not trust more than it trusts those users.
  ConversionBuilder& KeepsWhatIsLost() {
    detail::KeepLost(routes_, Hub::kTable.kind);
    return *this;
  }

 private:
  const Shared<controller::WebhookRoutes> routes_;
};

}  // namespace kgen

#endif  // KGEN_CONTROLLER_CONVERSION_H_
