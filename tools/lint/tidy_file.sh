#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# tidy_file.sh ROOT FILE: runs clang-tidy on one source; exit code 1 and its messages if it finds something. The flags
# come from KGEN_LINT_CACHE/compile_commands.json, or from ROOT/build/dev. KGEN_LINT_CACHE has a file for each content
# that passed: of the checks, the source and all project headers that it includes.
set -euo pipefail
root=$1 file=$2
mkdir -p "$KGEN_LINT_CACHE/tidy"
database=build/dev
[ ! -e "$KGEN_LINT_CACHE/compile_commands.json" ] || database=$(cd "$KGEN_LINT_CACHE" && pwd)
cache=$(cd "$KGEN_LINT_CACHE/tidy" && pwd)
cd "$root"
reached=$(g++ -std=c++23 -MM -MG -I runtime/include -I runtime/src -I generated -I . "$file" 2>/dev/null || true)
key=$({
  clang-tidy-22 --version
  clang-tidy-22 -p "$database" --dump-config "$file"
  cat "$file" $(tr -d '\\\n' <<<"${reached#*:}") 2>/dev/null || true
} | sha256sum | cut -c1-32)
[ ! -e "$cache/$key" ] || exit 0
words=$(clang-tidy-22 --quiet -p "$database" --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*' "$file" \
  2>/dev/null) || {
  words=${words:-$file:1: clang-tidy failed without a message}
  printf '%s\n' "${words//"$PWD/"/}"
  exit 1
}
: >"$cache/$key"
