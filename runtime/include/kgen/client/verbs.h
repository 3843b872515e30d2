// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Verbs and Subresource: what an API document lets clients do with a resource, as template arguments of ResourceClient.
#ifndef KGEN_CLIENT_VERBS_H_
#define KGEN_CLIENT_VERBS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace kgen {

// The operations that a server supports on a resource. Values combine with |.
enum class Verbs : std::uint16_t {
  kNone = 0,
  kCreate = 1 << 0,
  kGet = 1 << 1,
  kList = 1 << 2,
  kWatch = 1 << 3,
  kUpdate = 1 << 4,
  kPatch = 1 << 5,
  kDelete = 1 << 6,
  kDeleteCollection = 1 << 7,
  kUpdateStatus = 1 << 8,
  kPatchStatus = 1 << 9,
  kGetScale = 1 << 10,
  kUpdateScale = 1 << 11,
  kStandard = 0xFF,  // all of the object itself
  kStatus = kUpdateStatus | kPatchStatus,
  kScale = kGetScale | kUpdateScale,
  kAll = kStandard | kStatus | kScale,
};
constexpr Verbs operator|(Verbs a, Verbs b) noexcept {
  return static_cast<Verbs>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}

// The compiler names this when a program calls a verb that the API document of the resource does not have.
template <Verbs verbs, Verbs verb>
concept ResourceHasVerb = (verbs | verb) == verbs;

// The name of a subresource as a template argument: pods.GetSubresource<"resize">("web-0").
template <std::size_t size>
struct SubresourceName {
  // Takes the text with its terminating zero.
  consteval SubresourceName(const char (&name)[size]) {
    for (std::size_t i = 0; i < size; ++i) text[i] = name[i];  // std::copy_n would need <algorithm>
  }
  // Returns the name.
  constexpr std::string_view view() const noexcept { return {text, size - 1}; }

  char text[size] = {};  // ends with a zero
};

// A subresource that an API document declares, besides status and scale: the type of what clients send and receive, and
// its verbs (kCreate is POST). Generated code names them in the aliases of its clients. std::string as the body means
// that the server answers with text.
template <SubresourceName name, typename BodyType, Verbs subresource_verbs>
struct Subresource {
  // The arguments of the template.
  using Body = BodyType;
  static constexpr std::string_view kName = name.view();
  static constexpr Verbs kVerbs = subresource_verbs;
};

namespace detail {

// Stands for a subresource that the resource does not have.
struct NotDeclaredInTheDocument {};
struct NoSubresource {
  using Body = NotDeclaredInTheDocument;
  static constexpr Verbs kVerbs = Verbs::kNone;
};

template <SubresourceName name, typename... Declared>
struct FindSubresource : std::type_identity<NoSubresource> {};
template <SubresourceName name, typename First, typename... Rest>
struct FindSubresource<name, First, Rest...>
    : std::conditional_t<First::kName == name.view(), std::type_identity<First>, FindSubresource<name, Rest...>> {};

// Is true whenever it compiles. It is evaluated for a call before the compiler compares the arguments, so that the
// first line of the compiler's message says what is missing.
template <typename Body>
struct BodyIsIncluded {
  static_assert(
      requires { sizeof(Body); },
      "the body of this subresource is a type of another group: include the types.h of its namespace, such as "
      "<k8s/policy/v1/types.h> for k8s::policy::v1::Eviction");
  static constexpr bool kValue = true;
};

}  // namespace detail

// The compiler names these when a program uses a subresource, or a verb of it, that the API document does not have.
// Both are single expressions: Clang 22 confuses the subresources of one client where a concept passes Sub::kVerbs on.
template <typename Sub, Verbs verb>
concept SubresourceHasVerb = (Sub::kVerbs | verb) == Sub::kVerbs && !std::is_same_v<typename Sub::Body, std::string> &&
                             detail::BodyIsIncluded<typename Sub::Body>::kValue;
template <typename Sub>
concept SubresourceIsText =
    (Sub::kVerbs | Verbs::kGet) == Sub::kVerbs && std::is_same_v<typename Sub::Body, std::string>;

}  // namespace kgen

#endif  // KGEN_CLIENT_VERBS_H_
