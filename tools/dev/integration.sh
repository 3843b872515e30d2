# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Verb integration: builds the judge (a real kube-apiserver with etcd, and kubectl, from Go modules), then runs the
# integration tests beside it, and those of the in-memory cluster with clients in other languages.

judge_sources=tests/integration/apiserver
judge_version=v1.36.1
controller_sources=tests/integration/controller

# judge_folder: where the built judge is kept; a new folder whenever its sources change.
judge_folder() {
  local hash
  hash=$(cat "$judge_sources"/go.mod "$judge_sources"/go.sum "$judge_sources"/*.go tools/dev/integration.sh | sha256sum)
  printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kgen/judge-${hash:0:16}"
}

# judge_can_build: is there a Go that the module accepts?
judge_can_build() {
  command -v go >/dev/null || return 1
  (cd "$judge_sources" && GOFLAGS=-mod=mod GOTOOLCHAIN=local go list -m >/dev/null 2>&1)
}

# judge_build: prints the folder with apiserver and kubectl.
judge_build() {
  local folder version=k8s.io/component-base/version work
  folder=$(judge_folder)
  if [ ! -x "$folder/apiserver" ] || [ ! -x "$folder/kubectl" ]; then
    mkdir -p "$(dirname "$folder")"
    work=$(mktemp -d "$folder.XXXXXX")
    say "dev: building the API server and kubectl $judge_version (some minutes, once)"
    (cd "$judge_sources" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -p "$jobs" -trimpath -buildvcs=false \
      -ldflags "-s -w -X $version.gitVersion=$judge_version -X $version.gitMajor=1 -X $version.gitMinor=36" \
      -o "$work/" . k8s.io/kubernetes/cmd/kubectl) >&2 || {
      rm -rf "$work"
      return 1
    }
    mv "$work/judge" "$work/apiserver"
    # Two builds at once: the first one to finish stays.
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
  fi
  printf '%s\n' "$folder"
}

# controller_build: prints the path of the controller that runs against the in-memory cluster.
controller_build() {
  local program=$PWD/build/controller
  mkdir -p build
  say "dev: building the controller of the in-memory cluster's tests"
  (cd "$controller_sources" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -p "$jobs" -trimpath -buildvcs=false \
    -ldflags "-s -w" -o "$program" .) >&2 || return 1
  printf '%s\n' "$program"
}

# integration_skipped REASON: no judge on this machine. In CI that is a failure.
integration_skipped() {
  say "dev: $1"
  [ "${CI:-}" != true ] || die "in CI the integration tests must run"
  printf 'skipped integration_test: %s\n0 passed, 0 failed, 1 skipped\n' "$1"
}

verb_integration() {
  local folder controller results=build/dev/integration-results
  [ -f "$judge_sources/go.mod" ] || missing "$judge_sources" "the API server of the integration tests"
  if ! judge_can_build; then
    integration_skipped "the real API server needs Go $(sed -n 's/^go //p' "$judge_sources/go.mod") or newer"
    return
  fi
  case ${1:-} in
    --build-only) judge_build && controller_build && return ;;
    --serve)
      # For trying things by hand: a server until Ctrl-C.
      folder=$(judge_build) || die "the API server did not build"
      exec "$folder/apiserver"
      ;;
  esac
  [ -f tests/integration/CMakeLists.txt ] || missing tests/integration/CMakeLists.txt "the integration tests"
  need_setup
  folder=$(judge_build) || integration_failed_build
  controller=$(controller_build) || die "the controller did not build (see above)"
  source tools/dev/test.sh
  configure dev
  has_target dev integration_test || missing "target integration_test" "the integration tests"
  build dev integration_test memory_cluster_test
  rm -rf "$results"
  mkdir -p "$results"
  local filter=${1:-}
  case $filter in "" | *[*:]*) ;; *) filter="*$filter*" ;; esac
  export GTEST_BRIEF=1 GTEST_FILTER=${filter:-*}
  integration_run integration_test "$folder/apiserver" -- build/dev/bin/integration_test
  integration_run memory_cluster_test env KGEN_TEST_KUBECTL="$folder/kubectl" KGEN_TEST_CONTROLLER="$controller" \
    build/dev/bin/memory_cluster_test
  count_results "$results"
}

# integration_run NAME COMMAND...: runs one binary of tests and notes its results.
integration_run() {
  local name=$1 results=$PWD/build/dev/integration-results status=run
  shift
  GTEST_OUTPUT=xml:$results/$name.xml "$@" >&2 || status=fail
  printf '<testcase name="%s" status="%s">\n' "$name" "$status" >>"$results/ctest.junit"
}

integration_failed_build() { die "the API server did not build (see above)"; }
