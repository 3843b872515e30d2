// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Private: text of a peer in messages of kgen.
#ifndef KGEN_SRC_NET_PRINTABLE_H_
#define KGEN_SRC_NET_PRINTABLE_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace kgen::net {

// The first `most` bytes of the text, followed by "..." if there are more, with '?' in place of every byte that is not
// a printable character of ASCII.
inline std::string Printable(std::string_view text, std::size_t most = 200) {
  std::string out(text.substr(0, most));
  std::ranges::replace_if(out, [](unsigned char c) { return c < 0x20 || c > 0x7E; }, '?');
  if (text.size() > most) out += "...";
  return out;
}

}  // namespace kgen::net

#endif  // KGEN_SRC_NET_PRINTABLE_H_
