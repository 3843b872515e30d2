// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Any text as the markers of an API header. Each line is one: the first byte chooses the declaration that it is on. No
// crash; and without an error there is a CRD, which is YAML and begins as one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "generator/crd/rbac.h"
#include "generator/crd/resources.h"
#include "generator/crd/schema.h"
#include "generator/crd/webhooks.h"
#include "kgen/codec/yaml.h"

namespace {

using namespace kgen::generator::crd;  // NOLINT(google-build-using-namespace)

Member Make(const std::string& name, Type type) {
  return {.name = name, .wire_name = name, .type = std::move(type), .comment = {}};
}

Description Base() {
  Description out;
  Struct line{.name_space = "a", .path = "Line", .header = "a.h", .comment = {}};
  line.members = {Make("item", {.kind = TypeKind::kString}), Make("count", {.kind = TypeKind::kInt32})};
  Struct kind{.name_space = "a", .path = "Order", .header = "a.h", .comment = {}};
  kind.comment.markers.push_back({"+kgen:resource:group=shop.example.com,version=v1", {}});
  const Type inner{.kind = TypeKind::kStruct, .name = "a::Line", .boxed = true};
  kind.members = {Make("metadata", {.kind = TypeKind::kObjectMeta}),
                  Make("spec", inner),
                  Make("lines", {.kind = TypeKind::kList, .name = {}, .element = {inner}}),
                  Make("names", {.kind = TypeKind::kList, .name = {}, .element = {{.kind = TypeKind::kString}}}),
                  Make("map", {.kind = TypeKind::kMap, .name = {}, .element = {{.kind = TypeKind::kString}}}),
                  Make("named", {.kind = TypeKind::kString, .aliases = {"a::Name"}}),
                  Make("ratio", {.kind = TypeKind::kDouble}),
                  Make("any", {.kind = TypeKind::kJson}),
                  Make("weight", {.kind = TypeKind::kQuantity})};
  out.aliases["a::Name"];
  out.structs["a::Line"] = std::move(line);
  out.structs["a::Order"] = std::move(kind);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Description description = Base();
  Struct& kind = description.structs["a::Order"];
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.size() < 2) continue;
    const std::size_t place = static_cast<unsigned char>(line[0]) % (kind.members.size() + 3);
    Comment& comment = place == 0                         ? kind.comment
                       : place <= kind.members.size()     ? kind.members[place - 1].comment
                       : place == kind.members.size() + 1 ? description.aliases["a::Name"].comment
                                                          : description.structs["a::Line"].comment;
    comment.markers.push_back({std::string(line.substr(1)), {}});
  }
  kgen::generator::Diagnostics diagnostics;
  ReadMarkers(description, diagnostics);
  MakeRoles(description.rules, "role");
  const WebhookService service{.name_space = "shop", .name = "hooks"};
  kgen::generator::Diagnostics of_webhooks;
  const std::string webhooks = MakeWebhooks(description, service, of_webhooks);
  if (!description.webhooks.empty() && !kgen::yaml::Parse(webhooks)) std::abort();
  const auto crds = MakeCrds(description, FindKinds(description, diagnostics), {.conversion = service}, diagnostics);
  if (diagnostics.has_errors()) return 0;
  if (crds.size() == 1 && kgen::yaml::Parse(crds[0].yaml)) return 0;
  std::fprintf(stderr, "no CRD, and no error\n");
  std::abort();
}
