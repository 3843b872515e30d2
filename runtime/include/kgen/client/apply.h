// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ApplyFile: applies a file of manifests, as `kubectl apply --server-side -f` does.
//
//   const auto applied = kgen::ApplyFile(connection, "deploy/shop.yaml", {.field_manager = "shop-installer"});
//   if (!applied) {
//     const kgen::ApplyError& error = applied.error();
//     std::cerr << error << '\n';
//     // apply deploy/shop.yaml: document 2, line 9 (Order default/first): patch orders.shop.example.com/v1
//     // default/first: ... (Invalid, 422)
//
//     for (const kgen::AppliedObject& done : error.applied) std::cerr << "applied before: " << done << '\n';
//     if (error.line != 0) OpenEditor(error.file, error.line);
//   }
#ifndef KGEN_CLIENT_APPLY_H_
#define KGEN_CLIENT_APPLY_H_

#include <cstdint>
#include <expected>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/connection.h"
#include "kgen/client/options.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/unstructured.h"

namespace kgen {

// Options of Apply(). Each has a default.
struct ApplyOptions {
  std::string field_manager = "kgen";  // the server records who owns which field
  bool force = false;                  // take over fields that other managers own; otherwise they are a conflict
  bool dry_run = false;                // the server checks and responds, but stores nothing
  FieldValidation field_validation = FieldValidation::kDefault;
  // The namespace of namespaced objects that name none. "": Connection::default_namespace(), or "default" if that is
  // "".
  std::string default_namespace{};
  std::optional<Nanos> timeout{};  // of each request; absent: Config::timeout; kgen::kNoLimit: no limit
};

// An object that the server has applied.
struct AppliedObject {
  GroupVersionKind kind{};     // what it is
  ObjectKey key{};             // its name and namespace
  std::uint32_t document = 0;  // in the file, from 1, empty ones counted
  std::uint32_t line = 0;      // where the object begins
  Unstructured object{};       // as the server returned it
  bool dry_run = false;        // the server has checked it and stored nothing

  // Returns "Order default/first", followed by " (dry run)" for a dry run.
  std::string str() const;
  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& os,
                                                      const AppliedObject& object) {
    return os << object.str();
  }
};

// Says why a file was not applied, where in the file, and which objects were applied before. The text of the Error says
// all of that.
struct ApplyError : Error {
  // Takes what went wrong; the members say where.
  explicit ApplyError(Error error) : Error(std::move(error)) {}

  std::string file{};                    // the path, or the name that stands for it
  std::uint32_t document = 0;            // from 1, empty ones counted; 0: the file could not be read, or is not YAML
  std::uint32_t line = 0;                // where the object begins, or the text goes wrong; 0: the file as a whole
  GroupVersionKind kind{};               // of the object, as far as it is known
  ObjectKey key{};                       // of the object, as far as it is known
  std::vector<AppliedObject> applied{};  // before, in the order of the file
  bool dry_run = false;                  // so these were only checked
};

// Applies every object of a YAML or JSON file (server-side apply), in the order of the file. A document is one object,
// or a list (`kind: List`, or a kind that ends in "List") whose items are objects. The whole file is read and checked
// before the first request. Kinds are looked up on the server as they are reached.
//
// An error ends the call, and objects that were applied before stay. In a dry run nothing is stored, so objects of a
// kind or in a namespace that the same file installs fail with kNotFound. The result converts to a Result.
//
// Thread safety: may be called from any thread. Blocks, as the clients of this connection do; a stop of
// Connection::With() ends it.
// Errors: kInvalidArgument (unreadable file, not YAML, an object without apiVersion, kind or metadata.name), kNotFound
// (the server does not serve that kind), kConflict (a field of another manager), and the server's.
[[nodiscard]] std::expected<std::vector<AppliedObject>, ApplyError> ApplyFile(const Connection& connection,
                                                                              const std::string& path,
                                                                              const ApplyOptions& options = {});

// Applies manifests that are given as text. `name` stands for the path in messages.
[[nodiscard]] std::expected<std::vector<AppliedObject>, ApplyError> ApplyText(const Connection& connection,
                                                                              std::string_view name, std::string text,
                                                                              const ApplyOptions& options = {});

}  // namespace kgen

#endif  // KGEN_CLIENT_APPLY_H_
