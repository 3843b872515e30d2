// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The writes of CachedClient: what they send, and what is remembered of the answers.
#include <utility>

#include "cache/store/version_number.h"
#include "client/request/accept.h"
#include "client/verbs/kind_registry.h"
#include "controller/caches/client_state.h"
#include "kgen/client/raw_resource.h"
#include "kgen/client/resource_client.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/controller/cached_client.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace controller {

// The server has refused it, or nothing was sent.
bool MayBeStored(const Error& error) noexcept {
  switch (error.code()) {
    case Code::kInvalidArgument:
    case Code::kConfig:
    case Code::kTls:
    case Code::kUnauthorized:
    case Code::kForbidden:
    case Code::kNotFound:
    case Code::kMethodNotAllowed:
    case Code::kAlreadyExists:
    case Code::kConflict:
    case Code::kExpired:
    case Code::kRequestTooLarge:
    case Code::kUnsupportedMedia:
    case Code::kInvalid:
    case Code::kTooManyRequests:
      return false;
    default:
      return true;
  }
}

}  // namespace controller
namespace {

using meta::v1::ObjectMeta;

// A kind that an object names itself.
struct Named {
  std::string_view api_version, kind;
};
Named NamesIn(const void* object, const TypeTable& table) {
  if (&table == &Unstructured::kTable) {
    const auto& whole = *static_cast<const Unstructured*>(object);
    return {whole.apiVersion, whole.kind};
  }
  const auto& part = *static_cast<const PartialObjectMetadata*>(object);
  return {part.apiVersion, part.kind};
}

// What a write goes to.
struct Target {
  const KindInfo* kind;
  const ObjectMeta* metadata;
  ObjectKey key() const { return {kind->scope == Scope::kCluster ? String() : metadata->namespace_, metadata->name}; }
};

Result<Target> TargetOf(const RestMapper& mapper, std::string_view verb, const void* object, const TypeTable& table) {
  const bool named = &table == &Unstructured::kTable || &table == &PartialObjectMetadata::kTable;
  if ((table.kind == nullptr && !named) || table.metadata_offset == TypeTable::kNoMetadata) {
    return Fail(Error(Code::kInvalidArgument, std::string(table.name) + " is no kind").With(verb));
  }
  const auto* metadata = reinterpret_cast<const ObjectMeta*>(static_cast<const char*>(object) + table.metadata_offset);
  if (!named) return Target{table.kind, metadata};
  const auto [api_version, kind] = NamesIn(object, table);
  const std::string doing =
      std::string(verb) + " " + std::string(kind) + " " + ObjectKey(metadata->namespace_, metadata->name).str();
  if (api_version.empty() || kind.empty()) {
    return Fail(Error(Code::kInvalidArgument, "the object needs its apiVersion and kind").With(doing));
  }
  const Result<GroupVersion> version = GroupVersion::Parse(api_version);
  if (!version) return Fail(version.error().With(doing));
  const Result<ResourceMapping> mapping = mapper.ForKind({version->group, version->version, String(kind)});
  if (!mapping) return Fail(mapping.error().With(doing));
  return Target{&client::KindOf(*mapping), metadata};
}

std::string EncodeAny(const void* object, const TypeTable& table) {
  std::string body;
  detail::EncodeStruct(object, table, body);
  return body;
}

template <typename Options>
Options Managed(const Options& options, const std::string& field_manager) {
  Options managed = options;
  if (managed.field_manager.empty()) managed.field_manager = field_manager;
  return managed;
}

// What a write is part of: the caches that remember it, and the log of the call that makes it.
struct Writer {
  const Caches& caches;
  const Connection& connection;
  controller::WriteLog* log;  // may be null

  void SetUnsure() const {
    if (log != nullptr) log->SetUnsure();
  }
  void SetUnsureAfter(const Error& error) const {
    if (controller::MayBeStored(error)) SetUnsure();
  }
};

// Remembers the object that a server answered with. Versions that are no numbers cannot be compared, so those writes
// are not remembered.
void Remember(const Writer& writer, const KindInfo& kind, const ObjectMeta& answer, std::string_view body,
              bool deleted) {
  const std::optional<std::uint64_t> version = cache::VersionNumber(answer.resourceVersion);
  if (!version || answer.name.empty()) return writer.SetUnsure();
  const bool finalized = answer.deletionTimestamp.has_value() && answer.finalizers.empty();
  const bool remembered = writer.caches.state()->Remember(
      {.kind = kind,
       .key = {answer.namespace_, answer.name},
       .answer = &answer,
       .body = body,
       .write = {.version = *version, .uid = answer.uid, .deleted = deleted, .finalized = finalized}});
  // The version is the one of its deletionTimestamp, or of before its end.
  if (!remembered && (deleted || finalized)) writer.SetUnsure();
}

// Sends the request of a subresource, and decodes the answer into `answer`.
Result<void> Receive(const Connection& connection, Result<ApiRequest> request, void* answer, const TypeTable& table) {
  const std::string what = detail::WhatOf(request);
  return detail::DecodeBody(detail::CallForBody(connection, std::move(request)), what, answer, table);
}

// Writes a subresource. Which version that gives to the object is not known.
Result<void> WriteSubresource(const Writer& writer, Result<ApiRequest> request, bool dry_run, void* answer,
                              const TypeTable& table) {
  Result<void> written = Receive(writer.connection, std::move(request), answer, table);
  if (dry_run) return written;
  if (written) {
    writer.SetUnsure();
  } else {
    writer.SetUnsureAfter(written.error());
  }
  return written;
}

// Sends the request, and decodes the answer into `answer`. `log`, which may be null, gets the answer.
Result<void> Write(const Writer& writer, const KindInfo& kind, Result<ApiRequest> request, bool dry_run,
                   const TypeTable& table, void* answer, controller::WriteLog* log) {
  const bool metadata = &table == &PartialObjectMetadata::kTable;
  if (request && metadata) request->accept = client::kAcceptMetadata;
  const std::string what = detail::WhatOf(request);
  const Result<std::string> body = detail::CallForBody(writer.connection, std::move(request));
  if (Result<void> decoded = detail::DecodeBody(body, what, answer, table); !decoded) {
    if (!dry_run) writer.SetUnsureAfter(decoded.error());
    return decoded;
  }
  if (metadata) {
    auto& part = *static_cast<PartialObjectMetadata*>(answer);
    part.apiVersion = GroupVersion{kind.group, kind.version}.str();
    part.kind = kind.kind;
    part.unknown_fields = {};
  }
  if (dry_run) return {};
  const auto& metadata_of = *reinterpret_cast<ObjectMeta*>(static_cast<char*>(answer) + table.metadata_offset);
  Remember(writer, kind, metadata_of, *body, false);
  if (log != nullptr) log->Add(metadata_of);
  return {};
}

// The answer to a delete is a Status with the uid if the object is gone, and the object if it goes later, or for some
// kinds. `known` is an earlier state of the object, or null. If it is one of what was deleted, its version tells when
// the deletion has been seen: when a cache that has passed this version has no such object.
Result<void> SendDelete(const Writer& writer, const KindInfo& kind, const ObjectKey& key, const ObjectMeta* known,
                        const DeleteOptions& options) {
  Result<ApiRequest> request = RawResource(writer.connection, kind, key.namespace_).Delete(key.name, options);
  const Result<std::string> body = detail::CallForBody(writer.connection, std::move(request));
  if (!body) {
    if (!options.dry_run) writer.SetUnsureAfter(body.error());
    return Fail(body.error());
  }
  if (options.dry_run) return {};
  // An answer that cannot be read is no failure of the delete.
  const Unstructured answer = Decode<Unstructured>(*body).value_or(Unstructured());
  if (answer.kind != "Status" && !answer.metadata.name.empty()) {
    Remember(writer, kind, answer.metadata, *body, true);
    return {};
  }
  controller::OwnWrite write{.uid = answer.GetString("details.uid").value_or(String()), .deleted = true};
  if (write.uid.empty() && known != nullptr) write.uid = known->uid;
  if (write.uid.empty()) {
    writer.SetUnsure();
    return {};
  }
  if (known != nullptr && known->uid == write.uid) {
    write.version = cache::VersionNumber(known->resourceVersion).value_or(0);
  }
  if (!writer.caches.state()->Remember({.kind = kind, .key = key, .write = std::move(write)})) writer.SetUnsure();
  return {};
}

}  // namespace

Result<void> CachedClient::CreateAny(const void* object, const TypeTable& table, const CreateOptions& options,
                                     void* answer) const {
  const Result<Target> target = TargetOf(state_->mapper(), "create", object, table);
  if (!target) return Fail(target.error());
  Result<ApiRequest> request =
      RawResource(connection_, *target->kind, "")
          .Create(target->key().namespace_, EncodeAny(object, table), Managed(options, field_manager_));
  return Write({caches_, connection_, log_.get()}, *target->kind, std::move(request), options.dry_run, table, answer,
               log_.get());
}

Result<void> CachedClient::UpdateAny(const void* object, const TypeTable& table, std::string_view subresource,
                                     const UpdateOptions& options, void* answer) const {
  const Result<Target> target = TargetOf(state_->mapper(), "update", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  Result<ApiRequest> request =
      RawResource(connection_, *target->kind, key.namespace_)
          .Update(key.namespace_, key.name, subresource, EncodeAny(object, table), Managed(options, field_manager_));
  return Write({caches_, connection_, log_.get()}, *target->kind, std::move(request), options.dry_run, table, answer,
               target->metadata->resourceVersion.empty() ? nullptr : log_.get());
}

Result<void> CachedClient::PatchAny(const void* object, const TypeTable& table, std::string_view subresource,
                                    const kgen::Patch* patch, const PatchOptions& options, void* answer) const {
  const Result<Target> target = TargetOf(state_->mapper(), "patch", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  Result<ApiRequest> request =
      RawResource(connection_, *target->kind, key.namespace_)
          .Patch(key.name, subresource, patch != nullptr ? *patch : ApplyPatch(EncodeAny(object, table)),
                 Managed(options, field_manager_));
  return Write({caches_, connection_, log_.get()}, *target->kind, std::move(request), options.dry_run, table, answer,
               patch != nullptr || target->metadata->resourceVersion.empty() ? nullptr : log_.get());
}

Result<void> CachedClient::GetSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                             const GetOptions& options, void* answer,
                                             const TypeTable& answer_table) const {
  const Result<Target> target = TargetOf(state_->mapper(), "get", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  return Receive(connection_, RawResource(connection_, *target->kind, key.namespace_).Get(key.name, name, options),
                 answer, answer_table);
}

Result<void> CachedClient::CreateSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                                AnyStruct body, const CreateOptions& options, void* answer,
                                                const TypeTable& answer_table) const {
  const Result<Target> target = TargetOf(state_->mapper(), "create", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  return WriteSubresource({caches_, connection_, log_.get()},
                          RawResource(connection_, *target->kind, key.namespace_)
                              .CreateSubresource(key.namespace_, key.name, name, EncodeAny(body.value, *body.table),
                                                 Managed(options, field_manager_)),
                          options.dry_run, answer, answer_table);
}

Result<void> CachedClient::UpdateSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                                AnyStruct body, const UpdateOptions& options, void* answer,
                                                const TypeTable& answer_table) const {
  const Result<Target> target = TargetOf(state_->mapper(), "update", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  return WriteSubresource(
      {caches_, connection_, log_.get()},
      RawResource(connection_, *target->kind, key.namespace_)
          .Update(key.namespace_, key.name, name, EncodeAny(body.value, *body.table), Managed(options, field_manager_)),
      options.dry_run, answer, answer_table);
}

Result<void> CachedClient::PatchSubresourceAny(const void* object, const TypeTable& table, std::string_view name,
                                               const kgen::Patch& patch, const PatchOptions& options, void* answer,
                                               const TypeTable& answer_table) const {
  const Result<Target> target = TargetOf(state_->mapper(), "patch", object, table);
  if (!target) return Fail(target.error());
  const ObjectKey key = target->key();
  return WriteSubresource({caches_, connection_, log_.get()},
                          RawResource(connection_, *target->kind, key.namespace_)
                              .Patch(key.name, name, patch, Managed(options, field_manager_)),
                          options.dry_run, answer, answer_table);
}

Result<void> CachedClient::DeleteAny(const void* object, const TypeTable& table, const DeleteOptions& options) const {
  const Result<Target> target = TargetOf(state_->mapper(), "delete", object, table);
  if (!target) return Fail(target.error());
  return SendDelete({caches_, connection_, log_.get()}, *target->kind, target->key(), target->metadata, options);
}

Result<void> CachedClient::DeleteKey(const KindInfo& kind, const ObjectKey& key, const DeleteOptions& options) const {
  const AnyRef cached = caches_.state()->Look(kind, key);
  return SendDelete({caches_, connection_, log_.get()}, kind, key, cached.metadata(), options);
}

}  // namespace kgen
