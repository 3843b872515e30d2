// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/apply.h"

#include <algorithm>
#include <utility>

#include "client/verbs/kind_registry.h"
#include "core/files/read_file.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/rest_mapper.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/yaml.h"

namespace kgen {
namespace {

constexpr std::size_t kMaxFile = 256u << 20;
constexpr std::size_t kNamedInErrors = 10;

// One object of the file, before its kind has been looked up on the server.
struct Manifest {
  GroupVersionKind kind{};
  std::string namespace_{};
  std::string name{};
  std::uint32_t document = 0;
  const yaml::Node* node = nullptr;

  std::string Where() const {
    return "document " + std::to_string(document) + ", line " + std::to_string(node->mark().line);
  }
};

std::string_view TextAt(const yaml::Node* map, std::string_view key) {
  const yaml::Node* value = map == nullptr ? nullptr : map->Find(key);
  return value != nullptr && value->is_string() ? value->text() : std::string_view();
}

std::string Described(std::string_view kind, const ObjectKey& key) { return std::string(kind) + ' ' + key.str(); }

bool DefinesKinds(const GroupVersionKind& kind) {
  return (kind.group == "apiextensions.k8s.io" && kind.kind == "CustomResourceDefinition") ||
         (kind.group == "apiregistration.k8s.io" && kind.kind == "APIService");
}

using Applied = std::expected<void, ApplyError>;

// Returns the failure of an object, with its position in the file.
std::unexpected<ApplyError> FailAt(const Manifest& manifest, const ObjectKey& key, const Error& error) {
  ApplyError failure(error);
  failure.document = manifest.document;
  failure.line = manifest.node->mark().line;
  failure.kind = manifest.kind;
  failure.key = key;
  return std::unexpected(std::move(failure));
}

// Collects the objects of a document. Fails at the first value that is not an object.
class Manifests {
 public:
  Applied Add(const yaml::Node& node, std::uint32_t document) {
    Manifest manifest{.document = document, .node = &node};
    const auto refuse = [&](std::string_view why) {
      return FailAt(manifest, ObjectKey(manifest.namespace_, manifest.name),
                    Error(Code::kInvalidArgument, manifest.Where() + ": " + std::string(why)));
    };
    if (!node.is_map()) return refuse("expected an object, found " + std::string(yaml::Describe(node.kind())));
    const std::string_view api_version = TextAt(&node, "apiVersion");
    const std::string_view kind = TextAt(&node, "kind");
    if (api_version.empty()) return refuse("the object has no apiVersion");
    if (kind.empty()) return refuse("the object has no kind");
    const yaml::Node* items = node.Find("items");
    if (kind.ends_with("List") && (kind == "List" || (items != nullptr && items->is_list())))
      return AddItems(items, manifest);
    const Result<GroupVersion> group_version = GroupVersion::Parse(api_version);
    if (!group_version) return refuse(group_version.error().message());
    manifest.kind = {.group = group_version->group, .version = group_version->version, .kind = kind};
    const yaml::Node* metadata = node.Find("metadata");
    for (const char* key : {"name", "namespace"}) {
      const yaml::Node* value = metadata == nullptr ? nullptr : metadata->Find(key);
      if (value == nullptr || value->is_string() || value->is_null()) continue;
      return refuse(std::string("metadata.") + key + " must be text, not " +
                    std::string(yaml::Describe(value->kind())) + "; put it in quotes");
    }
    manifest.namespace_ = TextAt(metadata, "namespace");
    manifest.name = TextAt(metadata, "name");
    if (manifest.name.empty()) {
      return refuse(std::string(kind) +
                    " has no metadata.name, which apply needs (generateName does not work with it)");
    }
    all_.push_back(std::move(manifest));
    return {};
  }

  const std::vector<Manifest>& all() const noexcept { return all_; }

 private:
  Applied AddItems(const yaml::Node* items, const Manifest& list) {
    if (items == nullptr) return {};
    if (!items->is_list()) {
      return FailAt(list, {},
                    Error(Code::kInvalidArgument, list.Where() + ": items of a list must be a list, not " +
                                                      std::string(yaml::Describe(items->kind()))));
    }
    for (const yaml::Node& item : items->items()) {
      if (Applied added = Add(item, list.document); !added) return added;
    }
    return {};
  }

  std::vector<Manifest> all_;
};

// Sends the objects one after the other.
class Applier {
 public:
  Applier(const Connection& connection, const ApplyOptions& options)
      : connection_(connection), options_(options), mapper_(connection, options.timeout) {}

  Applied Apply(const Manifest& manifest) {
    ObjectKey key(manifest.namespace_, manifest.name);
    Result<Unstructured> object = Send(manifest, key);
    if (!object) {
      const std::string what = manifest.Where() + " (" + Described(manifest.kind.kind, key) + ")";
      return FailAt(manifest, key, object.error().With(what));
    }
    if (DefinesKinds(manifest.kind)) kinds_installed_ = true;
    applied_.push_back({manifest.kind, std::move(key), manifest.document, manifest.node->mark().line,
                        *std::move(object), options_.dry_run});
    return {};
  }

  // The prefix of an error: the objects that were applied before, the last ones by name.
  std::string Before() const {
    std::string text = options_.dry_run ? "dry run" : "";
    if (!applied_.empty()) text += options_.dry_run ? "; accepted before: " : "applied before: ";
    const std::size_t named = std::min(applied_.size(), kNamedInErrors);
    if (named < applied_.size()) text += std::to_string(applied_.size() - named) + " objects and ";
    for (std::size_t i = applied_.size() - named; i < applied_.size(); ++i) {
      text += Described(applied_[i].kind.kind, applied_[i].key) + (i + 1 < applied_.size() ? ", " : "");
    }
    return text.empty() ? text : " (" + text + ")";
  }

  std::vector<AppliedObject> Take() { return std::move(applied_); }

 private:
  // Sends one object. Completes `key` with the namespace that the object will be in.
  Result<Unstructured> Send(const Manifest& manifest, ObjectKey& key) {
    const Result<ResourceMapping> mapping = LookUp(manifest.kind);
    if (!mapping) return Fail(mapping.error());
    if (mapping->scope == Scope::kCluster) {
      key.namespace_.reset();
    } else if (manifest.namespace_.empty()) {
      key.namespace_ = DefaultNamespace();
    }
    const PatchOptions options = {.dry_run = options_.dry_run,
                                  .field_manager = options_.field_manager,
                                  .force = options_.force,
                                  .field_validation = options_.field_validation,
                                  .timeout = options_.timeout};
    Result<ApiRequest> request = RawResource(connection_, client::KindOf(*mapping), key.namespace_)
                                     .Patch(manifest.name, "", ApplyPatch(yaml::ToJson(*manifest.node)), options);
    if (!request) return Fail(std::move(request).error());
    const std::string what = request->what;
    const Result<ApiResponse> response = connection_.Call(*std::move(request));
    if (!response) return Fail(response.error());
    Result<Unstructured> object = Decode<Unstructured>(response->body);
    if (!object) return Fail(object.error().With(what));
    return object;
  }

  Result<ResourceMapping> LookUp(const GroupVersionKind& kind) {
    Result<ResourceMapping> mapping = mapper_.ForKind(kind);
    // The file may install the kinds of its own objects, and more of them than the mapper would query the server again
    // for.
    if (!mapping && std::exchange(kinds_installed_, false)) {
      mapper_.Invalidate();
      mapping = mapper_.ForKind(kind);
    }
    if (mapping || mapping.error().code() != Code::kNotFound || mapping.error().status() != nullptr) return mapping;
    return Fail(Code::kNotFound, mapping.error().message() + "; install its CRD first and wait until it is served");
  }

  std::string_view DefaultNamespace() const {
    if (!options_.default_namespace.empty()) return options_.default_namespace;
    return connection_.default_namespace().empty() ? "default" : connection_.default_namespace();
  }

  const Connection& connection_;
  const ApplyOptions& options_;
  RestMapper mapper_;
  bool kinds_installed_ = false;  // since a look-up last failed
  std::vector<AppliedObject> applied_;
};

std::unexpected<ApplyError> FailSyntax(const yaml::SyntaxError& error) {
  std::string message = "line " + std::to_string(error.mark.line) + ", column " + std::to_string(error.mark.column) +
                        ": " + error.message;
  if (!error.hint.empty()) message += "; " + error.hint;
  ApplyError failure(Error(Code::kInvalidArgument, message));
  failure.line = error.mark.line;
  return std::unexpected(std::move(failure));
}

Applied ApplyAll(Applier& applier, const ApplyOptions& options, std::string text) {
  if (options.field_manager.empty()) {
    return std::unexpected(
        ApplyError(Error(Code::kInvalidArgument, "field_manager is empty; name the program that applies")));
  }
  const auto stream = yaml::Parse(std::move(text), {.kubectl_keys = true});
  if (!stream) return FailSyntax(stream.error());
  Manifests manifests;
  for (std::size_t i = 0; i < stream->documents().size(); ++i) {
    if (Applied added = manifests.Add(stream->documents()[i], stream->number(i)); !added) return added;
  }
  for (const Manifest& manifest : manifests.all()) {
    if (Applied applied = applier.Apply(manifest); !applied) return applied;
  }
  return {};
}

}  // namespace

std::string AppliedObject::str() const { return Described(kind.kind, key) + (dry_run ? " (dry run)" : ""); }

std::expected<std::vector<AppliedObject>, ApplyError> ApplyText(const Connection& connection, std::string_view name,
                                                                std::string text, const ApplyOptions& options) {
  Applier applier(connection, options);
  Applied applied = ApplyAll(applier, options, std::move(text));
  if (applied) return applier.Take();
  ApplyError error = std::move(applied).error();
  static_cast<Error&>(error) = error.With("apply " + std::string(name) + applier.Before());
  error.file = name;
  error.applied = applier.Take();
  error.dry_run = options.dry_run;
  return std::unexpected(std::move(error));
}

std::expected<std::vector<AppliedObject>, ApplyError> ApplyFile(const Connection& connection, const std::string& path,
                                                                const ApplyOptions& options) {
  Result<std::string> text = detail::ReadFile("manifest", path, kMaxFile);
  if (text) return ApplyText(connection, path, *std::move(text), options);
  ApplyError error(Error(Code::kInvalidArgument, text.error().message()).With("apply"));
  error.file = path;
  error.dry_run = options.dry_run;
  return std::unexpected(std::move(error));
}

}  // namespace kgen
