#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# tidy_file.sh DATABASE FILE: clang-tidy on one source; exit code 1 and its words when it finds something.
# KGEN_LINT_CACHE holds a file for each content (of the source and all project headers that it reaches) that has passed.
set -euo pipefail
database=$1 file=$2
reached=$(g++ -std=c++23 -MM -MG -I runtime/include -I runtime/src -I generated -I . "$file" 2>/dev/null || true)
key=$({ clang-tidy-22 --version; cat .clang-tidy "$file" $(tr -d '\\\n' <<<"${reached#*:}") 2>/dev/null || true; } |
  sha256sum | cut -c1-32)
passed=$KGEN_LINT_CACHE/tidy/$key
[ ! -e "$passed" ] || exit 0
words=$(clang-tidy-22 --quiet -p "$database" --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*' "$file" \
  2>/dev/null) || {
  printf '%s\n' "${words//"$PWD/"/}"
  exit 1
}
: >"$passed"
