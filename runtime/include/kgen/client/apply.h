// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ApplyFile: what `kubectl apply --server-side -f` does, from a program.
//
//   auto applied = kgen::ApplyFile(connection, "deploy/shop.yaml", {.field_manager = "shop-installer"});
//   if (!applied) std::cerr << applied.error() << '\n';
//   // apply deploy/shop.yaml: document 2, line 9 (Order default/first): patch orders default/first: ... (Invalid, 422)
#ifndef KGEN_CLIENT_APPLY_H_
#define KGEN_CLIENT_APPLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen {

struct ApplyOptions {
  std::string field_manager = "kgen";  // the server records who owns which field
  bool force = false;                  // take over fields that other managers own; otherwise they are a conflict
  bool dry_run = false;                // the server checks and responds, but stores nothing
  FieldValidation field_validation = FieldValidation::kDefault;
  // For namespaced objects that name none. "": Connection::default_namespace(), or "default" if there is none.
  std::string default_namespace{};
  Nanos timeout{};  // of each request
};

// One object that the server has applied.
struct AppliedObject {
  GroupVersionKind kind{};
  ObjectKey key{};
  std::uint32_t document = 0;  // in the file, from 1, empty ones counted
  std::uint32_t line = 0;      // where the object begins
  Unstructured object{};       // as the server returned it
};

// Applies every object of a YAML or JSON file (server-side apply), in the order of the file. A document is one object,
// or a list (`kind: List`, or a kind that ends in "List") whose items are objects. The whole file is read and checked
// before the first request. Kinds are looked up on the server as they are reached.
//
// An error ends the call, and objects that were applied before stay. The message names the file, the document, the
// line, the object, the server's error, and the objects that were applied before.
//
// Thread safety: from any thread. Blocks, as the clients of this connection do; stops with Connection::With().
// Errors: kInvalidArgument (unreadable file, not YAML, an object without apiVersion, kind or metadata.name), kNotFound
// (the server does not serve that kind), kConflict (a field of another manager), and the server's.
[[nodiscard]] Result<std::vector<AppliedObject>> ApplyFile(const Connection& connection, const std::string& path,
                                                           const ApplyOptions& options = {});

// The same with text. `name` stands for the path in messages.
[[nodiscard]] Result<std::vector<AppliedObject>> ApplyText(const Connection& connection, std::string_view name,
                                                           std::string text, const ApplyOptions& options = {});

}  // namespace kgen

#endif  // KGEN_CLIENT_APPLY_H_
