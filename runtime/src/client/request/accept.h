// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What requests ask for: ApiRequest::accept.
#ifndef KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_
#define KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_

#include <string_view>

namespace kgen::client {

// Servers that cannot make PartialObjectMetadata send whole objects. A watch takes the form of its objects.
inline constexpr char kAcceptMetadata[] =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr char kAcceptMetadataList[] =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

// Protobuf, for kinds whose tables have wire fields. Servers without it, and answers that have none, come as JSON; the
// content type of the answer says so. The objects of a watch have the form and the encoding of the response.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";
inline constexpr char kAcceptProtobuf[] = "application/vnd.kubernetes.protobuf,application/json";
inline constexpr char kAcceptProtobufMetadata[] =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr char kAcceptProtobufMetadataList[] =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

// Returns whether a content type is protobuf, of an object or of a stream.
inline bool IsProtobuf(std::string_view content_type) noexcept { return content_type.starts_with(kProtobufType); }

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_
