#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# header_alone.sh ROOT HEADER: compiles one public header alone and twice, with GCC and Clang; exit code 1 and the
# compiler's messages if it does not. KGEN_LINT_CACHE has a file for each content that passed.
set -euo pipefail
root=$1 header=$2
include=${header#runtime/include/}
flags=(-std=c++23 -fsyntax-only -Wall -Wextra -Werror -I runtime/include -x c++)
compilers=(g++ clang++-22)
cd "$root"
unit=$(printf '#include "%s"\n#include "%s"\n' "$include" "$include")

# The key: the flags and every file of this tree that the header reaches. No key when one is missing: then compile.
key=
if reached=$(g++ "${flags[@]}" -MM - <<<"$unit" 2>/dev/null); then
  files=$(tr -d '\\\n' <<<"${reached#*:}")
  key=$({ printf '%s\n' "${flags[*]}" "${compilers[*]}" "$header"; cat $files; } | sha256sum | cut -c1-32)
fi
cd "$OLDPWD"
passed=$KGEN_LINT_CACHE/headers/$key
[ -n "$key" ] && [ -e "$passed" ] && exit 0
cd "$root"
for compiler in "${compilers[@]}"; do
  if ! words=$("$compiler" "${flags[@]}" - <<<"$unit" 2>&1); then
    printf '%s:1: does not compile alone with %s\n%s\n' "$header" "$compiler" "$(head -n 12 <<<"$words")"
    exit 1
  fi
done
cd "$OLDPWD"
[ -z "$key" ] || : >"$passed"
