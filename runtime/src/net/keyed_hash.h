// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// KeyedHash: a name for a secret, under which a cache can find it again without keeping it.
#ifndef KGEN_SRC_NET_KEYED_HASH_H_
#define KGEN_SRC_NET_KEYED_HASH_H_

#include <string>
#include <string_view>

namespace kgen::net {

// HMAC-SHA256 with a random key that no other object has. Immutable. Thread safety: all members from any thread.
class KeyedHash {
 public:
  KeyedHash();
  // 32 bytes, or "" if OpenSSL has no random numbers or has shut down: then nothing must be kept.
  std::string Of(std::string_view text) const;

 private:
  std::string key_;
};

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_KEYED_HASH_H_
