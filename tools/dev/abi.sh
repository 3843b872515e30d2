# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command abi: what abidw of libabigail says about the shared libraries, compared with the release that has the same
# soname. abi/SONAME.abi.xz describes the first release with that soname, and only the types of public headers.

# abi_write LIBRARY FILE: writes the description of a shared library, which has debug information.
abi_write() {
  abidw --headers-dir runtime/include --headers-dir generated --drop-private-types --no-show-locs --no-corpus-path \
    --no-comp-dir-path --type-id-style hash --out-file "$2" "$1"
}

# abi_build FOLDER: builds the libraries from this checkout, into the folder.
abi_build() {
  cmake -G Ninja -S . -B "$1" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g -DNDEBUG" \
    -DKGEN_BUILD_SHARED=ON -DKGEN_BUILD_TOOL=OFF -DKGEN_BUILD_TESTS=OFF -DKGEN_BUILD_EXAMPLES=OFF \
    -DKGEN_INSTALL=OFF -DKGEN_JOIN_SOURCES=ON >&2 &&
    cmake --build "$1" --parallel "$jobs" --target kgen_shared_kgen kgen_shared_kgen_validation kgen_shared_kgen_k8s >&2
}

verb_abi() {
  local write='' folder=build/abi library name passed=0 failed=0
  [ "${1:-}" != --write ] || { write=1 && shift; }
  need_setup
  if [ -n "${1:-}" ]; then folder=$1; else abi_build "$folder"; fi
  for library in "$folder"/libkgen*.so.*; do
    [ ! -L "$library" ] || name=$(basename "$library")
    [ -L "$library" ] || continue
    abi_write "$library" "$folder/$name.abi"
    if [ -n "$write" ]; then
      mkdir -p abi
      xz -9e --stdout "$folder/$name.abi" >"abi/$name.abi.xz"
      say "dev: abi/$name.abi.xz is $(stat -c %s "abi/$name.abi.xz") bytes"
    elif [ ! -f "abi/$name.abi.xz" ]; then
      failed=$((failed + 1))
      printf 'FAILED  %s: abi/ has no release of it; write one with --write\n' "$name"
    elif xz -dc "abi/$name.abi.xz" >"$folder/$name.released.abi" &&
      abidiff --no-added-syms --drop-private-types "$folder/$name.released.abi" "$folder/$name.abi" >"$folder/$name.diff"; then
      passed=$((passed + 1))
      printf 'ok      %s\n' "$name"
    else
      failed=$((failed + 1))
      head -n 60 "$folder/$name.diff"
      printf 'FAILED  %s: programs that were built with the release must be built again; see %s\n' "$name" "$folder/$name.diff"
    fi
  done
  [ -n "$write" ] || printf '%d passed, %d failed, 0 skipped\n' $passed $failed
  [ $failed -eq 0 ] && [ "$write$passed" != 0 ]
}
