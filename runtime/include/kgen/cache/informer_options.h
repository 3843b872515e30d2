// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// InformerOptions: which objects of a kind an informer keeps, and how. A factory and the caches of a manager take them
// for all kinds and for single ones.
//
//   k8s::SharedInformerFactory factory(clientset, {
//       .defaults = {.drop_managed_fields = true},
//       .of = {{&Pod::kTable, {.label_selector = "app=web", .resync = 30min}}}});
//
// Wrong options (a malformed label selector, a period that is not positive, ...) make Caches::Of() and
// SharedInformerFactory::WaitForCacheSync() fail with kInvalidArgument, which names the option. Accessors return no
// errors.
#ifndef KGEN_CACHE_INFORMER_OPTIONS_H_
#define KGEN_CACHE_INFORMER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kgen/cache/transform.h"
#include "kgen/cache/warm_start.h"
#include "kgen/core/clock.h"
#include "kgen/core/type_table.h"

namespace kgen {

// Options of one informer.
struct InformerOptions {
  std::string label_selector{};  // "app=web"; by default every object
  // "spec.nodeName=n1"; by default every object. The server decides by which fields it selects.
  std::string field_selector{};
  // By default 10 hours: how often handlers get every object again, unless HandlerOptions::resync says otherwise.
  // kNever: not at all. A period below a second counts as a second. Each informer takes up to a tenth more or less, so
  // that resyncs do not coincide.
  std::optional<Nanos> resync{};
  // Runs once for each received object, see SharedInformer::SetTransform(), which replaces it. Update() of an object
  // would delete on the server what this has dropped: write such a kind with patches or Apply().
  TransformFunction transform{};
  bool drop_managed_fields = false;  // drops metadata.managedFields without decoding an object twice
  // The number of objects in one answer of a list. By default the reflector decides: 500 where the server reads from
  // etcd, and all objects where it reads from its cache.
  std::optional<std::int64_t> page_size{};
  bool streaming_list = true;  // false: always list first, instead of a watch that begins with the state
  // Absent: nothing is saved. Otherwise the informer saves its cache in a file, and the next process starts from it.
  std::optional<WarmStart> warm_start{};
};

// The options of single kinds: {{&Pod::kTable, {...}}}. They replace the defaults, for every version and form of the
// kind.
using InformerOptionsOf = std::vector<std::pair<const TypeTable*, InformerOptions>>;

// Where an informer looks for objects of its kind.
struct InformerScope {
  std::string namespace_{};  // by default all namespaces
  // Absent: the selectors of the kind's InformerOptions. "" selects every object.
  std::optional<std::string> label_selector{};
  std::optional<std::string> field_selector{};
};

}  // namespace kgen

#endif  // KGEN_CACHE_INFORMER_OPTIONS_H_
