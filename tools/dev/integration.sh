# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Verb integration: builds the judge (a real kube-apiserver with etcd, and kubectl, from Go modules), then runs the
# integration tests beside it.

judge_sources=tests/integration/apiserver
judge_version=v1.36.1

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

# integration_skipped REASON: no judge on this machine. In CI that is a failure.
integration_skipped() {
  say "dev: $1"
  [ "${CI:-}" != true ] || die "in CI the integration tests must run"
  printf 'skipped integration_test: %s\n0 passed, 0 failed, 1 skipped\n' "$1"
}

verb_integration() {
  local folder results=build/dev/integration-results
  [ -f "$judge_sources/go.mod" ] || missing "$judge_sources" "the API server of the integration tests"
  if ! judge_can_build; then
    integration_skipped "the real API server needs Go $(sed -n 's/^go //p' "$judge_sources/go.mod") or newer"
    return
  fi
  case ${1:-} in
    --build-only) judge_build && return ;;
    --serve)
      # For trying things by hand: a server until Ctrl-C.
      folder=$(judge_build) || die "the API server did not build"
      exec "$folder/apiserver"
      ;;
  esac
  [ -f tests/integration/CMakeLists.txt ] || missing tests/integration/CMakeLists.txt "the integration tests"
  need_setup
  folder=$(judge_build) || integration_failed_build
  source tools/dev/test.sh
  configure dev
  has_target dev integration_test || missing "target integration_test" "the integration tests"
  build dev integration_test
  rm -rf "$results"
  mkdir -p "$results"
  local filter=${1:-} status=run
  case $filter in "" | *[*:]*) ;; *) filter="*$filter*" ;; esac
  GTEST_OUTPUT=xml:$PWD/$results/integration_test.xml GTEST_BRIEF=1 GTEST_FILTER=${filter:-*} \
    "$folder/apiserver" -- build/dev/bin/integration_test >&2 || status=fail
  printf '<testcase name="integration_test" status="%s">\n' "$status" >"$results/ctest.junit"
  count_results "$results"
}

integration_failed_build() { die "the API server did not build (see above)"; }
