// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "cache/reflector/object_intake.h"

#include <exception>
#include <utility>

#include "codec/peek_metadata.h"
#include "core/metadata_table.h"
#include "core/observers/notify_observer.h"
#include "kgen/codec/encode.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/value.h"

namespace kgen::cache {
namespace {

bool SameIdentity(const meta::v1::ObjectMeta& a, const meta::v1::ObjectMeta& b) {
  return a.name == b.name && a.namespace_ == b.namespace_ && a.resourceVersion == b.resourceVersion && a.uid == b.uid;
}

// Returns the transformed object with the identity that it was received with. A transform must not change the key, the
// version or the UID, since the cache depends on them.
AnyRef WithIdentity(AnyRef changed, const meta::v1::ObjectMeta& received) {
  if (SameIdentity(*changed.metadata(), received)) return changed;
  const TypeTable& table = changed.table();
  detail::ObjectBlock* block = detail::NewObjectBlock(table);
  detail::CopyStruct(block->object(), changed.object(), table);
  auto* meta = reinterpret_cast<meta::v1::ObjectMeta*>(static_cast<char*>(block->object()) + table.metadata_offset);
  meta->name = received.name;
  meta->namespace_ = received.namespace_;
  meta->resourceVersion = received.resourceVersion;
  meta->uid = received.uid;
  return AnyRef::Adopt(block);
}

bool IsForeign(const Identity& identity, const TypeTable& table) {
  const bool part = detail::IsMetadataOnly(table) && identity.kind == "PartialObjectMetadata";
  return table.kind != nullptr && !identity.kind.empty() && identity.kind != table.kind->kind && !part;
}

// A name without its namespace is not a key: it identifies another object, or none. Using it as one would make the real
// object look missing from a list, and so deleted.
ObjectKey KeyOf(const Identity& identity, const TypeTable& table) {
  const bool namespaced = table.kind != nullptr && table.kind->scope == Scope::kNamespaced;
  if (namespaced && identity.namespace_.empty()) return {};
  return {identity.namespace_, identity.name};
}

}  // namespace

ObjectIntake::ObjectIntake(const TypeTable& table, std::string informer, Shared<Observer> observer,
                           DecodeOptions decode, TransformFunction transform,
                           std::function<AnyRef(const ObjectKey&)> stored)
    : table_(table),
      informer_(std::move(informer)),
      observer_(std::move(observer)),
      decode_(decode),
      decoder_(table, {true, true}),
      transform_(std::move(transform)),
      stored_(std::move(stored)) {
  decode_.mismatches = &mismatches_;
}

// A transform is called for each list, and drops the object that it is given.
Received ObjectIntake::Take(std::string_view json, Origin origin, Encoding encoding) {
  if (shard_ && shard_->LeavesOut(json, encoding)) return LeaveOut(json, origin, encoding);
  mismatches_.clear();
  decode_.encoding = encoding;
  const bool first = origin == Origin::kFirstList && !transform_;
  AnyRef before = first ? AnyRef() : Stored(json, encoding);
  if (origin == Origin::kLaterList && !transform_ && decoder_.IsUnchanged(json, decode_, before)) {
    const meta::v1::ObjectMeta& meta = *before.metadata();
    ObjectKey key{meta.namespace_, meta.name};
    std::string version = meta.resourceVersion.str();
    return {.key = std::move(key), .object = std::move(before), .version = std::move(version), .unchanged = true};
  }
  Result<AnyRef> object = first ? decoder_.DecodeAdded(json, decode_) : decoder_.Decode(json, decode_, before);
  if (!object) return Refuse(json, object.error());
  const meta::v1::ObjectMeta* meta = object->metadata();
  if (meta == nullptr || meta->name.empty()) return Refuse(json, Error(Code::kDecode, "the object has no name"));
  if (shard_ && !shard_->Holds(*meta)) return LeaveOut(json, origin, encoding);  // it has no namespace, or no UID

  Received received{{meta->namespace_, meta->name}, {}, meta->resourceVersion.str()};
  if (!mismatches_.empty()) ReportMismatches(received.key);
  Result<AnyRef> transformed = Transform(*std::move(object));
  if (transformed) {
    received.object = *std::move(transformed);
  } else {
    NotifyObserver(observer_,
                   [&](Observer& o) { o.OnObjectRefused({informer_, &received.key, &transformed.error()}); });
  }
  return received;
}

Received ObjectIntake::LeaveOut(std::string_view bytes, Origin origin, Encoding encoding) const {
  Received received{.left_out = true};
  if (origin == Origin::kWatch) {
    (void)codec::PeekMetadata(bytes, codec::MetadataText::kResourceVersion, received.version, encoding);
  }
  return received;
}

// Returns the state that this one is about to replace, or a slightly older one, because what waits in the queue is not
// stored yet.
AnyRef ObjectIntake::Stored(std::string_view json, Encoding encoding) const {
  if (!stored_) return {};
  ObjectKey key;
  const bool namespaced = table_.kind != nullptr && table_.kind->scope == Scope::kNamespaced;
  return PeekKey(json, namespaced, key, encoding) ? stored_(key) : AnyRef();
}

Received ObjectIntake::Refuse(std::string_view json, const Error& error) {
  if (decode_.encoding != Encoding::kJson) return {.json_needed = error};
  const Identity identity = PeekIdentity(json);
  Received received{KeyOf(identity, table_), {}, identity.resource_version, IsForeign(identity, table_)};
  NotifyObserver(observer_, [&](Observer& o) { o.OnObjectRefused({informer_, &received.key, &error}); });
  return received;
}

Result<AnyRef> ObjectIntake::TakeSaved(std::string_view bytes, Encoding encoding) {
  mismatches_.clear();
  decode_.encoding = encoding;
  Result<AnyRef> object = decoder_.DecodeAdded(bytes, decode_);
  if (!object) {
    const bool json = encoding == Encoding::kJson;
    const Identity identity = json ? PeekIdentity(bytes) : PeekProtobufIdentity(bytes);
    return Fail(object.error().With("object " + ObjectKey(identity.namespace_, identity.name).str()));
  }
  const meta::v1::ObjectMeta* meta = object->metadata();
  if (meta == nullptr || meta->name.empty()) return Fail(Code::kDecode, "a saved object has no name");
  if (!mismatches_.empty()) ReportMismatches({meta->namespace_, meta->name});
  return object;
}

void ObjectIntake::Report(std::string_view json, const Error& error) {
  const Identity identity = PeekIdentity(json);
  const ObjectKey key{identity.namespace_, identity.name};
  NotifyObserver(observer_, [&](Observer& o) { o.OnObjectRefused({informer_, &key, &error}); });
}

Result<AnyRef> ObjectIntake::Transform(AnyRef object) {
  if (!transform_) return object;
  std::string what;
  try {
    Result<AnyRef> changed = transform_(object);
    if (!changed) return Fail(changed.error().With("transform"));
    if (!*changed || &changed->table() != &table_)
      return Fail(Code::kUserCode, "transform: the result is not an object of the same type");
    return Share(WithIdentity(*std::move(changed), *object.metadata()), object);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "an exception that is not a std::exception";
  }
  return Fail(Code::kUserCode, "transform: " + what);
}

AnyRef ObjectIntake::Share(const AnyRef& changed, const AnyRef& received) {
  if (changed == received || detail::EqualStruct(changed.object(), received.object(), table_)) return received;
  DecodeOptions options = decode_;
  options.encoding = Encoding::kJson;
  options.mismatches = nullptr;  // they were reported when the object was received
  Result<AnyRef> shared = decoder_.Decode(Encode(changed), options);
  // A transform may set values that do not survive decoding. In that case the object is kept as it is, unshared.
  const bool same = shared && detail::EqualStruct(shared->object(), changed.object(), table_);
  return same ? *std::move(shared) : changed;
}

void ObjectIntake::ReportMismatches(const ObjectKey& key) {
  for (const FieldMismatch& mismatch : mismatches_) {
    NotifyObserver(observer_,
                   [&](Observer& o) { o.OnFieldRefused({informer_, &key, mismatch.path, mismatch.message}); });
  }
}

}  // namespace kgen::cache
