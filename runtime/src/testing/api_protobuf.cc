// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Protobuf at the doors: bodies become JSON as they come in, and replies become protobuf as they go out. Inside, the
// server has JSON.
#include "codec/list_splitter.h"
#include "codec/protobuf_encoder.h"
#include "codec/protobuf_envelope.h"
#include "kgen/codec/decode.h"
#include "kgen/core/object_key.h"
#include "kgen/core/scale.h"
#include "kgen/core/unstructured.h"
#include "testing/api_server.h"

namespace kgen::testing {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::uint32_t kMetadata = 1, kItems = 2;  // of lists

// Returns the message of the JSON of a struct.
Result<std::string> MessageOf(std::string_view json, const TypeTable& table) {
  const Result<AnyRef> object = ObjectDecoder(table, {.strings = false, .subtrees = false}).Decode(json);
  if (!object) return Fail(object.error());
  return codec::EncodeProtobuf(object->object(), table);
}

Result<std::string> ListMessageOf(std::string_view json, const TypeTable& table) {
  std::string items;
  ListSplitter splitter([&](std::string_view item) -> Result<void> {
    const Result<std::string> message = MessageOf(item, table);
    if (!message) return Fail(message.error());
    codec::AppendField(kItems, *message, items);
    return {};
  });
  if (Result<void> fed = splitter.Feed(json); !fed) return Fail(fed.error());
  const Result<meta::v1::ListMeta> metadata = splitter.Finish();
  if (!metadata) return Fail(metadata.error());
  const Result<std::string> inner = codec::EncodeProtobuf(&*metadata, meta::v1::ListMeta::kTable);
  if (!inner) return inner;
  std::string message;
  codec::AppendField(kMetadata, *inner, message);
  return message + items;
}

// Returns the JSON of an object or a list with its envelope, in protobuf.
Result<std::string> ToProtobuf(std::string_view json, const TypeTable& table) {
  const Identity identity = PeekIdentity(json);
  const Result<std::string> message = identity.kind == "Status"         ? MessageOf(json, meta::v1::Status::kTable)
                                      : identity.kind.ends_with("List") ? ListMessageOf(json, table)
                                                                        : MessageOf(json, table);
  if (!message) return message;
  return codec::EnvelopeOf(identity.api_version, identity.kind, *message);
}

}  // namespace

const TypeTable* ApiServer::TableOf(std::string_view group, std::string_view version, std::string_view kind) const {
  for (const TypeTable* table : options_.kinds) {
    const KindInfo& info = *table->kind;
    const bool same = info.group == group && info.version == version && info.kind == kind;
    if (same) return table->wire != nullptr ? table : nullptr;
  }
  return nullptr;
}

const TypeTable* ApiServer::TableOfAnswer(const ApiCall& call) const {
  return call.metadata_form.empty() ? TableOf(call) : &PartialObjectMetadata::kTable;
}

const TypeTable* ApiServer::TableOf(const ApiCall& call) const {
  if (call.resource == nullptr) return nullptr;
  return TableOf(call.resource->info.group, call.version, call.resource->info.kind);
}

const TypeTable* ApiServer::TableOfBody(const ApiCall& call) const {
  if (call.verb == "delete" || call.verb == "deletecollection") return &meta::v1::DeleteOptions::kTable;
  if (call.subresource == "scale") return &autoscaling::v1::Scale::kTable;
  const auto other = call.resource->subresources.find(call.subresource);
  if (other == call.resource->subresources.end()) return TableOf(call);
  return TableOf(other->second.group, other->second.version, other->second.kind);
}

// What protobuf cannot express goes out as JSON, which a client must be able to read: it asked for both.
void ApiServer::SendProtobuf(const ApiCall& call, Reply& reply) const {
  const TypeTable* const table = TableOfAnswer(call);
  if (!call.protobuf || table == nullptr) return;
  if (reply.watch) {
    reply.headers[0].value = std::string(kProtobuf) + ";stream=watch";
    return;
  }
  Result<std::string> body = ToProtobuf(reply.body, *table);
  if (!body) return;
  reply.body = *std::move(body);
  reply.headers[0].value = kProtobuf;
}

// Replaces a body in protobuf by its JSON. Patches have no protobuf, so they keep their body, which is refused later.
ApiResult<void> ApiServer::ReceiveProtobuf(ApiCall& call) const {
  if (call.content_type != kProtobuf || call.body.empty() || call.verb == "patch") return {};
  const Result<codec::Envelope> envelope = codec::ReadEnvelope(call.body);
  if (!envelope) return Refuse(BadRequest("the body is not protobuf: " + envelope.error().message()));
  const std::string given = std::string(envelope->api_version) + " " + std::string(envelope->kind);
  const TypeTable* const table = TableOfBody(call);
  if (table == nullptr) {
    return Refuse(UnsupportedMediaType(
        "the body of the request is in " + std::string(kProtobuf) + ", but there is no " + "table for a " + given +
        " of this path: ClusterOptions::kinds names the kinds " + "that have one (k8s::Kinds())"));
  }
  // DeleteOptions belong to the version of every group.
  const bool options = table == &meta::v1::DeleteOptions::kTable;
  const std::string expected =
      options ? std::string(envelope->api_version) + " DeleteOptions"
              : GroupVersion{table->kind->group, table->kind->version}.str() + " " + std::string(table->kind->kind);
  if (given != expected) return Refuse(BadRequest("the body is a " + given + ", but must be a " + expected));
  const Result<AnyRef> object = ObjectDecoder(*table).Decode(envelope->raw, {.encoding = Encoding::kProtobuf});
  if (!object) return Refuse(BadRequest("the " + given + " in the body: " + object.error().message()));
  call.body = Encode(*object);
  call.content_type = "application/json";
  return {};
}

// Appends an event as a frame. An object that protobuf cannot express has a field that no client knows, as the objects
// of a newer server do.
void ApiServer::SendFrame(WatchStream& watch, std::string_view type, std::string_view object) {
  constexpr std::uint32_t kUnheardOf = 60'000;
  Result<std::string> envelope = ToProtobuf(object, *watch.protobuf);
  if (!envelope) {
    const Identity identity = PeekIdentity(object);
    std::string message;
    codec::AppendField(kUnheardOf, object, message);
    envelope = codec::EnvelopeOf(identity.api_version, identity.kind, message);
  }
  std::string raw, frame;
  codec::AppendField(1, *envelope, raw);
  codec::AppendField(1, type, frame);
  codec::AppendField(2, raw, frame);
  for (int shift = 24; shift >= 0; shift -= 8) watch.pending += static_cast<char>(frame.size() >> shift);
  watch.pending += frame;
}

}  // namespace kgen::testing
