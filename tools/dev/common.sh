# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# What every verb of ./dev uses. Runs at the root of the checkout.

jobs=${KGEN_JOBS:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }
die() { say "dev: $*"; exit 1; }

# A part of the project that is not in the tree (yet): say so, and fail.
missing() { die "$1 is not in this checkout, so there is nothing to run: $2"; }

# need_setup: installs packages when one is missing. Every verb that builds calls it first.
need_setup() {
  source tools/dev/setup.sh
  setup_check
}

# configure TREE [ARGUMENTS...]: build/TREE, from the preset of that name.
configure() {
  local tree=$1 log
  shift
  mkdir -p "build/$tree"
  log=build/$tree/configure.log
  cmake --preset "$tree" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake --preset $tree failed (see above)"
  }
}

# build TREE [TARGET...]: everything, or the targets named.
build() {
  local tree=$1
  shift
  cmake --build "build/$tree" --parallel "$jobs" ${1:+--target "$@"} >&2
}

# has_target TREE TARGET: after configure.
# grep reads to the end: with -q it would close the pipe at the first match, and the signal that ninja then gets would
# count as a failure.
has_target() { ninja -C "build/$1" -t targets all 2>/dev/null | grep "^$2: phony\|^bin/$2: " >/dev/null; }

# generate_builtin_api FLAG: generated/ from the API documents; --force writes it, --check compares. Nothing else knows how
# generated/ is made.
generate_builtin_api() {
  local documents=openapi/kubernetes-1.36
  [ -d "$documents" ] || missing "$documents" "the built-in API as facts"
  configure dev
  build dev kgen
  build/dev/bin/kgen generate "$1" --out generated --namespace k8s --split-by-group --header generated/header.txt \
    "$documents"/*.json
}

# The generator for trees that are configured without it (sanitizers): built in the dev tree.
host_tool_arguments() {
  if [ -f generator/CMakeLists.txt ]; then
    configure dev
    build dev kgen
    printf '%s\n' "-DKGEN_EXECUTABLE=$PWD/build/dev/bin/kgen"
  fi
}
