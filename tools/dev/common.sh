# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Functions that every command of ./dev uses. They run at the root of the checkout.

jobs=${KGEN_JOBS:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }
die() { say "dev: $*"; exit 1; }

# missing PATH WHAT: fails because PATH is not in this checkout.
missing() { die "$1 is not in this checkout; it is needed for $2"; }

# need_setup [--build]: installs packages that are missing. Every command that builds calls it first.
need_setup() {
  source tools/dev/setup.sh
  setup_check "$@"
}

# configure TREE [ARGUMENTS...]: configures build/TREE with the preset of that name.
configure() {
  local tree=$1 log
  shift
  mkdir -p "build/$tree"
  log=build/$tree/configure.log
  # Another command may be using the tree.
  flock "build/$tree/lock" cmake --preset "$tree" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake --preset $tree failed (see above)"
  }
}

# build TREE [TARGET...]: builds everything, or the given targets.
build() {
  local tree=$1
  shift
  flock "build/$tree/lock" cmake --build "build/$tree" --parallel "$jobs" ${1:+--target "$@"} >&2
}

# has_target TREE TARGET: succeeds if the configured tree has the target.
# grep must read to the end: with -q it would close the pipe at the first match, and ninja would fail with SIGPIPE.
has_target() { ninja -C "build/$1" -t targets all 2>/dev/null | grep "^$2: phony\|^bin/$2: " >/dev/null; }

# project_version: as CMakeLists.txt has it.
project_version() { sed -n 's/^project(kgen VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt; }

# generate_builtin_api FLAG: generates generated/ and the types of the runtime itself from the API documents. --force
# writes them, --check compares them. This is the only place that knows how to do that.
generate_builtin_api() {
  local documents=openapi/kubernetes-1.36 status=0
  [ -d "$documents" ] || missing "$documents" "the types of the built-in API"
  configure dev
  build dev kgen
  build/dev/bin/kgen generate "$1" --out runtime --runtime runtime/wire_types.txt --header generated/header.txt \
    --descriptions "$documents/descriptions" "$documents"/protobuf.yaml "$documents"/*.json || status=$?
  build/dev/bin/kgen generate "$1" --out generated --namespace k8s --split-by-group --header generated/header.txt \
    --descriptions "$documents/descriptions" "$documents"/protobuf.yaml "$documents"/*.json || status=$?
  return $status
}

# diff_builtin_api REVISION [ROOT]: compares openapi/ of the revision with the checkout ROOT, and prints what `kgen
# diff` says. Its exit code is what `kgen diff` returns.
diff_builtin_api() {
  local root=${2:-.} old status=0
  [ -n "${KGEN_EXECUTABLE:-}" ] || { configure dev && build dev kgen; }
  old=$(mktemp -d)
  git -C "$root" archive "$1" openapi | tar -x -C "$old"
  "${KGEN_EXECUTABLE:-build/dev/bin/kgen}" diff "$old/openapi" "$root/openapi" || status=$?
  rm -rf "$old"
  return $status
}

# Builds the generator in the dev tree, for trees that are configured without it (sanitizers), and prints the option.
host_tool_arguments() {
  if [ -f generator/CMakeLists.txt ]; then
    configure dev
    build dev kgen
    printf '%s\n' "-DKGEN_EXECUTABLE=$PWD/build/dev/bin/kgen"
  fi
}
