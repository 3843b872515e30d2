// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/keyed_hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstddef>

#include "net/openssl_use.h"

namespace kgen::net {
namespace {

constexpr std::size_t kKeyBytes = 32;

}  // namespace

KeyedHash::KeyedHash() {
  const OpenSslUse use;
  unsigned char key[kKeyBytes];
  if (use && RAND_bytes(key, sizeof(key)) == 1) key_.assign(reinterpret_cast<const char*>(key), sizeof(key));
}

std::string KeyedHash::Of(std::string_view text) const {
  const OpenSslUse use;
  if (!use || key_.empty()) return {};
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const unsigned char* made = HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
                                   reinterpret_cast<const unsigned char*>(text.data()), text.size(), out, &size);
  return made != nullptr ? std::string(reinterpret_cast<const char*>(out), size) : std::string();
}

}  // namespace kgen::net
