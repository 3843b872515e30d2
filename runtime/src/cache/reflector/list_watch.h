// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ListWatch: the source of a reflector's bytes.
//
//   Connection --> ListWatch (path, selection) --> Reflector
#ifndef KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_
#define KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_

#include <string>
#include <string_view>

#include "core/observers/open_span.h"
#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/core/type_table.h"

namespace kgen::client {
class ReconnectGate;
}

namespace kgen::cache {

// Thread safety: used by one reflector, on its strand. Never blocks.
class ListWatch : public SharedObject {
 public:
  ~ListWatch() override;
  // Responses are streamed to `sink` on `strand`.
  virtual Shared<StreamCall> List(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) = 0;
  virtual Shared<StreamCall> Watch(const ListOptions& options, Shared<Strand> strand, Shared<StreamSink> sink) = 0;
  // Starts the span of a list. The requests of List() are its children until the next call.
  virtual OpenSpan StartList() { return {}; }
  // Asks for the namespace kube-system, whose UID tells clusters apart. Null: the source cannot ask.
  virtual Shared<StreamCall> Cluster(Shared<Strand> strand, Shared<StreamSink> sink);
  // The gate of the connection, which decides which reflector may send its next request. If null, the reflector creates
  // its own gate.
  virtual Shared<client::ReconnectGate> gate() const;
  // What the source sends from now on must be JSON. Until then it may be protobuf, if the content type says so.
  virtual void UseJson() noexcept {}
  // False if the source never sends initial events in a watch.
  virtual bool SupportsStreamingList() const noexcept { return true; }
  // The resource with its group and version, and what is selected: "pods" (of the core group), "deployments.apps/v1 in
  // default with app=web". Error messages, metrics and status() name the informer so.
  virtual std::string Describe() const = 0;
  virtual std::string_view kind() const noexcept { return {}; }  // "Deployment"; empty if unknown
};

// How the objects of an informer are asked for.
struct ObjectForm {
  bool metadata_only = false;  // PartialObjectMetadata; servers that cannot make those send whole objects
  bool protobuf = false;       // rather than JSON; servers that have none send JSON
  std::string_view name{};     // for Describe(): "metadata", or the type of a projection; empty for whole objects
};
// The form of the objects of a table. Its name is the table's, or a literal.
ObjectForm FormOf(const TypeTable& table) noexcept;

// What one informer selects on the server.
struct Selection {
  std::string namespace_{};  // "": all namespaces
  std::string label_selector{};
  std::string field_selector{};
  friend bool operator==(const Selection&, const Selection&) = default;
};

// Returns the source of one resource of a connection. `kind` must outlive the informer, as tables do.
Shared<ListWatch> MakeListWatch(Connection connection, const KindInfo& kind, Selection selection = {},
                                ObjectForm form = {});

// Returns a source whose requests all fail with `error`, for an informer whose options are wrong.
Shared<ListWatch> MakeFailingListWatch(Shared<Executor> executor, const KindInfo& kind, const Selection& selection,
                                       Error error);

}  // namespace kgen::cache

#endif  // KGEN_SRC_CACHE_REFLECTOR_LIST_WATCH_H_
