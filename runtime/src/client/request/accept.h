// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// What requests ask for that want the metadata of objects alone: ApiRequest::accept.
#ifndef KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_
#define KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_

namespace kgen::client {

// Servers that cannot make PartialObjectMetadata send whole objects. A watch takes the form of its objects.
inline constexpr char kAcceptMetadata[] =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr char kAcceptMetadataList[] =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_REQUEST_ACCEPT_H_
