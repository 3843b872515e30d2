// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CustomResourceDefinitions, from the structs with the marker +kgen:resource.
#ifndef KGEN_GENERATOR_CRD_RESOURCES_H_
#define KGEN_GENERATOR_CRD_RESOURCES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generator/crd/description.h"
#include "generator/crd/schema.h"
#include "generator/diagnostic.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::crd {

// A struct that is a kind: one version of one resource.
struct KindOf {
  const Struct* described;
  const Marker* resource;
  std::string group, version;
};

// The kinds, in byte order of group, kind and version. Reports kinds without group or version.
std::vector<KindOf> FindKinds(const Description& description, Diagnostics& diagnostics);

struct Crd {
  std::string file;  // "shop.example.com_orders.yaml"
  std::string yaml;
  std::shared_ptr<const yaml::Stream> tree = {};  // the same; null after an error
};

// One CRD for each kind with all its versions, by group and kind, and with a conversion if one of them is the hub and
// the options have a Service. Complete only if there are no errors.
std::vector<Crd> MakeCrds(const Description& description, const std::vector<KindOf>& kinds,
                          const SchemaOptions& options, Diagnostics& diagnostics);

// "orders" for "Order", "policies" for "Policy", "boxes" for "Box": the plural if no marker has one.
std::string Plural(std::string_view kind);

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_RESOURCES_H_
