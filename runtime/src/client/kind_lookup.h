// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Which resource serves a kind: asks the server for the resources of a group version, and remembers the answer.
#ifndef KGEN_SRC_CLIENT_KIND_LOOKUP_H_
#define KGEN_SRC_CLIENT_KIND_LOOKUP_H_

#include <deque>
#include <string>
#include <string_view>

#include "kgen/client/connection.h"
#include "kgen/core/clock.h"
#include "kgen/core/object_key.h"
#include "kgen/core/result.h"
#include "kgen/core/type_table.h"

namespace kgen::client {

// Thread safety: one thread at a time.
class KindLookup {
 public:
  // `timeout`: of each request.
  KindLookup(Connection connection, Nanos timeout) : connection_(std::move(connection)), timeout_(timeout) {}

  // The names and the scope of a kind, valid as long as this. A kind that is missing is asked for again by the next
  // call. Blocks. Errors: kNotFound (no such group version, no such kind in it), kDecode, those of Connection::Call().
  Result<const KindInfo*> Find(const GroupVersionKind& kind);

 private:
  struct Known {
    GroupVersionKind kind;
    std::string resource;
    KindInfo info{};  // refers to the strings above
  };

  const KindInfo* FindKnown(const GroupVersionKind& kind) const noexcept;
  Result<void> Load(const GroupVersionKind& kind);

  Connection connection_;
  Nanos timeout_;
  std::deque<Known> known_;  // entries never move
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_KIND_LOOKUP_H_
