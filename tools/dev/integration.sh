# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command integration: builds a real kube-apiserver with etcd, and kubectl, from Go modules. Then runs the integration
# tests against it, and the tests of the in-memory cluster with clients in other languages.

apiserver_sources=tests/integration/apiserver
apiserver_version=v1.36.1
controller_sources=tests/integration/controller
comparison_sources=tests/integration/comparison
controller_gen_sources=tests/integration/controller_gen
protobuf_sources=tests/integration/protobuf
kustomize_sources=tests/integration/kustomize

# apiserver_folder: prints the folder of the built API server, which depends on its sources and on how it is built.
apiserver_folder() {
  local hash
  hash=$({
    cat "$apiserver_sources"/go.mod "$apiserver_sources"/go.sum "$apiserver_sources"/*.go
    printf '%s\n' "$apiserver_version"
    declare -f apiserver_build
  } | sha256sum)
  printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/kgen/apiserver-${hash:0:16}"
}

# apiserver_can_build: whether there is a Go that the module accepts.
apiserver_can_build() {
  command -v go >/dev/null || return 1
  (cd "$apiserver_sources" && GOFLAGS=-mod=mod GOTOOLCHAIN=local go list -m >/dev/null 2>&1)
}

# apiserver_build: builds apiserver and kubectl unless they exist, and prints their folder.
apiserver_build() {
  local folder version=k8s.io/component-base/version work
  folder=$(apiserver_folder)
  if [ ! -x "$folder/apiserver" ] || [ ! -x "$folder/kubectl" ]; then
    mkdir -p "$(dirname "$folder")"
    work=$(mktemp -d "$folder.XXXXXX")
    say "dev: building the API server and kubectl $apiserver_version (some minutes, once)"
    (cd "$apiserver_sources" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -p "$jobs" -trimpath -buildvcs=false \
      -ldflags "-s -w -X $version.gitVersion=$apiserver_version -X $version.gitMajor=1 -X $version.gitMinor=36" \
      -o "$work/" . k8s.io/kubernetes/cmd/kubectl) >&2 || {
      rm -rf "$work"
      return 1
    }
    # If two builds run at once, the first one to finish stays.
    mv -T "$work" "$folder" 2>/dev/null || rm -rf "$work"
  fi
  printf '%s\n' "$folder"
}

# go_build FOLDER OUTPUT PACKAGE...: builds Go programs of the module in FOLDER.
go_build() {
  local folder=$1 output=$PWD/$2
  shift 2
  say "dev: building $* of $folder"
  mkdir -p "$(dirname "$output")"
  (cd "$folder" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -p "$jobs" -trimpath -buildvcs=false -ldflags "-s -w" \
    -o "$output" "$@") >&2
}

# controllers_build: builds the controller that runs against the in-memory cluster, upstream's sample-controller, and
# the programs of docs/comparison.md.
controllers_build() {
  go_build "$controller_sources" build/controller . &&
    go_build "$comparison_sources" build/comparison/ k8s.io/sample-controller ./client_go ./controller_runtime ./cronjob
}

# controller_gen_run: builds controller-gen, makes CRDs and webhook configurations of the APIs in Go, and everything that
# the CronJob of docs/comparison.md needs.
controller_gen_run() {
  local output=$PWD/build/controller_gen program
  go_build "$controller_gen_sources" build/controller_gen/ sigs.k8s.io/controller-tools/cmd/controller-gen &&
    rm -rf "$output/crds" "$output/webhooks" &&
    (cd "$controller_gen_sources" && GOTOOLCHAIN=local "$output/controller-gen" crd:allowDangerousTypes=true \
      paths=./... "output:crd:dir=$output/crds") >&2 || return
  for program in cronjob arguments leader_worker_set; do
    (cd "$controller_gen_sources" && GOTOOLCHAIN=local "$output/controller-gen" webhook \
      "paths=./webhooks/$program/..." "output:webhook:dir=$output/webhooks/$program") >&2 || return
  done
  comparison_generate "$output/controller-gen"
}

# comparison_generate CONTROLLER_GEN: makes the deep copies and the manifests of the CronJob in Go.
comparison_generate() {
  local output=$PWD/build/comparison/generated version
  rm -rf "$output"
  (
    cd "$comparison_sources" || return
    export GOTOOLCHAIN=local
    for version in v1 v2; do
      "$1" object:headerFile=/dev/stdin "paths=./cronjob/api/$version" "output:dir=$output/$version" \
        <<<"// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0" || return
    done
    "$1" crd:generateEmbeddedObjectMeta=true,maxDescLen=0 rbac:roleName=cronjob-operator webhook paths=./cronjob/... "output:dir=$output"
  ) >&2
}

# protobuf_build: builds the programs that write objects and facts of the Go types of Kubernetes.
protobuf_build() { go_build "$protobuf_sources" build/protobuf/ ./objects ./facts; }

# kustomize_build: builds kustomize, which renders the folders deploy/ of the examples.
kustomize_build() { go_build "$kustomize_sources" build/kustomize/ sigs.k8s.io/kustomize/kustomize/v5; }

# integration_skipped REASON: the API server cannot be built on this machine. In CI that is a failure.
integration_skipped() {
  say "dev: $1"
  [ "${CI:-}" != true ] || die "in CI the integration tests must run"
  printf 'skipped integration_test: %s\n0 passed, 0 failed, 1 skipped\n' "$1"
}

verb_integration() {
  local folder results=build/dev/integration-results
  [ -f "$apiserver_sources/go.mod" ] || missing "$apiserver_sources" "the API server of the integration tests"
  if ! apiserver_can_build; then
    integration_skipped "the real API server needs Go $(sed -n 's/^go //p' "$apiserver_sources/go.mod") or newer"
    return
  fi
  case ${1:-} in
    --build-only)
      apiserver_build && controllers_build && controller_gen_run && protobuf_build && kustomize_build
      return
      ;;
    --serve)
      # For experiments: serves until Ctrl-C.
      folder=$(apiserver_build) || die "the API server did not build"
      exec "$folder/apiserver"
      ;;
  esac
  [ -f tests/integration/CMakeLists.txt ] || missing tests/integration/CMakeLists.txt "the integration tests"
  need_setup
  folder=$(apiserver_build) || integration_failed_build
  controllers_build || die "the controllers did not build (see above)"
  controller_gen_run || die "controller-gen did not run (see above)"
  protobuf_build || die "the programs for protobuf did not build (see above)"
  kustomize_build || die "kustomize did not build (see above)"
  source tools/dev/test.sh
  configure dev
  has_target dev integration_test || missing "target integration_test" "the integration tests"
  # The name of a binary, with or without _test, or a filter as for ./dev test.
  local binary binaries="integration_test cpp_first_test controller_gen_test sample_controller_test operator_test webhooks_test schema_validation_test deploy_test memory_cluster_test protobuf_test" filter=${1:-} command
  # sharded_managers_test checks times, so it needs a machine of its own, and runs only when it is named.
  case " $binaries sharded_managers_test " in *" ${filter%_test}_test "*) binaries=${filter%_test}_test filter= ;; esac
  case $filter in "" | *[*:]*) ;; *) filter="*$filter*" ;; esac
  # shellcheck disable=SC2086
  build dev $binaries
  rm -rf "$results"
  mkdir -p "$results"
  : >"$results/ctest.junit"
  export GTEST_BRIEF=1 GTEST_FILTER=${filter:-*}
  for binary in $binaries; do
    [ -n "$("build/dev/bin/$binary" --gtest_list_tests)" ] || continue
    case $binary in
      integration_test | cpp_first_test | schema_validation_test | sharded_managers_test) command=("$folder/apiserver" --) ;;
      webhooks_test) command=(env KGEN_TEST_COMPARISON="$PWD/build/comparison" "$folder/apiserver" --) ;;
      operator_test) command=("$folder/apiserver" --audit --) ;;
      controller_gen_test) command=(env KGEN_TEST_CONTROLLER_GEN="$PWD/build/controller_gen/crds") ;;
      sample_controller_test)
        command=(env KGEN_TEST_COMPARISON="$PWD/build/comparison" "$folder/apiserver" --audit --)
        ;;
      deploy_test) command=(env KGEN_TEST_KUSTOMIZE="$PWD/build/kustomize/kustomize") ;;
      memory_cluster_test)
        command=(env KGEN_TEST_KUBECTL="$folder/kubectl" KGEN_TEST_CONTROLLER="$PWD/build/controller")
        ;;
      protobuf_test)
        command=(env KGEN_TEST_PROTOBUF="$PWD/build/protobuf"
          KGEN_TEST_PROTOBUF_DATA="$(cd "$protobuf_sources" && go list -m -f '{{.Dir}}' k8s.io/api)/testdata/HEAD")
        ;;
    esac
    integration_run "$binary" "${command[@]}" "build/dev/bin/$binary"
  done
  count_results "$results"
}

# integration_run NAME COMMAND...: runs one test binary and records its results.
integration_run() {
  local name=$1 results=$PWD/build/dev/integration-results status=run
  shift
  GTEST_OUTPUT=xml:$results/$name.xml "$@" >&2 || status=fail
  printf '<testcase name="%s" status="%s">\n' "$name" "$status" >>"$results/ctest.junit"
}

integration_failed_build() { die "the API server did not build (see above)"; }
