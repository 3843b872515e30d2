// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ListWatch: the source of a reflector's bytes.
//
//   Connection --> ListWatch (path, namespace, tweak of the options) --> Reflector
#ifndef KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_
#define KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/core/type_table.h"

namespace kgen::client {
class Gate;
}

namespace kgen::cache {

// Thread safety: used by one reflector, on its strand. Never blocks.
class ListWatch : public SharedObject {
 public:
  ~ListWatch() override;
  // Responses are streamed to `sink` on `strand`.
  virtual Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) = 0;
  virtual Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) = 0;
  // The gate of the connection, which decides which reflector may send its next request. If null, the reflector creates
  // its own gate.
  virtual Shared<client::Gate> gate() const;
  // False if the source never sends initial events in a watch.
  virtual bool SupportsStreamingList() const noexcept { return true; }
  // The resource with its group and version, and the namespace: "pods" (of the core group), "deployments.apps/v1 in
  // default". Error messages, metrics and status() name the informer so.
  virtual std::string Describe() const = 0;
  virtual std::string_view kind() const noexcept { return {}; }  // "Deployment"; empty if unknown
};

using TweakListOptions = std::function<void(ListOptions&)>;

enum class ObjectForm : std::uint8_t {
  kWhole,
  kMetadata,  // PartialObjectMetadata; servers that cannot make those send whole objects
};

// The source of one resource of a connection. `tweak` runs after the reflector has filled the options, for list and
// watch alike. `kind` must outlive the informer, as tables do. An empty `namespace_` means all namespaces.
Shared<ListWatch> MakeListWatch(Connection connection, const KindInfo& kind, std::string namespace_,
                                TweakListOptions tweak = {}, ObjectForm form = ObjectForm::kWhole);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_
