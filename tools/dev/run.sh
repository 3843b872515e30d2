# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Commands that run one program: contracts, pages, and, after building it, demo, regenerate, fuzz, simulate, bench.

# build_program TREE TARGET WHAT: builds the target; fails if the tree does not have it.
build_program() {
  need_setup
  configure "$1"
  has_target "$1" "$2" || missing "target $2" "$3"
  build "$1" "$2"
}

verb_contracts() {
  python3 tools/contract_table.py
  git status --short tests/contract-coverage.md
}

verb_pages() {
  python3 tools/pages.py
  git status --short docs README.md
}

verb_demo() {
  build_program dev kgen_demo "the demonstration"
  build/dev/bin/kgen_demo "$@"
}

verb_regenerate() {
  need_setup
  generate_builtin_api --force  # nothing in it is edited by hand, and git has the old state
  git status --short generated runtime
  say "since the last commit:"
  diff_builtin_api HEAD || true
}

fuzz_targets() {
  cat tests/fuzz/CMakeLists.txt 2>/dev/null | sed -n 's/^ *kgen_add_fuzzer(\([a-z0-9_]*\).*/\1/p'
}

verb_fuzz() {
  local target=${1:-} seconds=${2:-} host targets
  targets=$(fuzz_targets)
  if [ -z "$target" ]; then
    [ -n "$targets" ] || missing "tests/fuzz/CMakeLists.txt" "fuzz targets"
    printf '%s\n' "$targets"
    return
  fi
  [[ $seconds =~ ^[0-9]+$ ]] || die "usage: ./dev fuzz TARGET|all SECONDS"
  if [ "$target" != all ]; then
    grep -x "$target" <<<"$targets" >/dev/null || die "no such fuzz target: $target; ./dev fuzz lists them"
    targets=$target
  fi
  need_setup
  host=$(host_tool_arguments)
  configure address ${host:+"$host"}
  # shellcheck disable=SC2086
  build address $(printf 'fuzz_%s ' $targets)
  export -f fuzz_run say die
  # One core for each target. If one of them fails, xargs fails after the others have ended.
  xargs -P "$jobs" -I '{}' bash -euo pipefail -c 'fuzz_run "$1" "$2"' fuzz '{}' "$seconds" <<<"$targets"
}

# fuzz_run TARGET SECONDS: runs a target that is built. The fuzzer writes new inputs to the first folder; the committed
# corpus is only read.
fuzz_run() {
  local target=$1 seconds=$2 work=build/fuzz/$1
  mkdir -p "$work/corpus" "$work/findings"
  local arguments=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1
    -artifact_prefix="$work/findings/" "$work/corpus")
  [ -d "tests/fuzz/corpus/$target" ] && arguments+=("tests/fuzz/corpus/$target")
  [ -f "tests/fuzz/$target.dict" ] && arguments+=(-dict="tests/fuzz/$target.dict")
  ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-22 "build/address/bin/fuzz_$target" "${arguments[@]}" \
    >"$work/log" 2>&1 || {
    tail -n 60 "$work/log" >&2
    die "fuzz_$target found something after at most $seconds s; the input is in $work/findings/"
  }
  awk '/^stat::number_of_executed_units|^stat::peak_rss_mb/ { print "'"$target"':", $1, $2 }' "$work/log"
}

verb_simulate() {
  build_program dev kgen_simulate "the simulation"
  build/dev/bin/kgen_simulate "$@"
}

# bench_beside_go NAME TARGET WHAT: builds what a comparison with a Go library needs, a real API server among it. Sets
# `server` and `program`, the server's and the Go program's paths.
bench_beside_go() {
  source tools/dev/integration.sh
  apiserver_can_build || die "the real API server needs Go $(sed -n 's/^go //p' "$apiserver_sources/go.mod") or newer"
  server=$(apiserver_build)/apiserver || die "the API server did not build"
  program=$PWD/build/$1
  (cd "bench/peers/$1" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -trimpath -buildvcs=false -o "$program" .)
  build_program dev "$2" "$3"
}

# The Go program, which also contains client-go's informers, runs the rounds.
bench_recovery() {
  local server program
  bench_beside_go recovery kgen_recovery "the informers of the rounds"
  "$server" --audit -- "$program" rounds --kgen "$PWD/build/dev/bin/kgen_recovery" "$@"
}

# The Go program, which also contains controller-runtime's controller, measures both.
bench_reconcile() {
  local server program
  bench_beside_go reconcile kgen_reconcile "the controller to measure"
  "$server" -- "$program" compare --kgen "$PWD/build/dev/bin/kgen_reconcile" "$@"
}

# The replicas follow a real API server.
bench_shards() {
  local server
  source tools/dev/integration.sh
  apiserver_can_build || die "the real API server needs Go $(sed -n 's/^go //p' "$apiserver_sources/go.mod") or newer"
  server=$(apiserver_build)/apiserver || die "the API server did not build"
  build_program dev kgen_shards "the replicas to measure"
  "$server" -- build/dev/bin/kgen_shards "$@"
}

# The Go program is the load: what an API server sends.
bench_webhooks() {
  local sources=bench/peers/webhooks work=$PWD/build/webhooks
  (cd "$sources" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -trimpath -buildvcs=false -o "$work/" ./...) ||
    die "the Go programs in $sources did not build (see above); they need Go $(sed -n 's/^go //p' "$sources/go.mod") or newer"
  build_program dev kgen_webhooks "kgen's webhooks"
  "$work/load" "$@" kgen="$PWD/build/dev/bin/kgen_webhooks" controller-runtime="$work/controller_runtime"
}

# The programs of all three libraries follow the same server, which replays reference pods. The controllers follow a
# real API server.
bench_peers() {
  local sources=bench/peers/informers work=$PWD/build/informers versions server program
  need_setup
  mkdir -p "$work"
  (cd "$sources" && CGO_ENABLED=0 GOTOOLCHAIN=local go build -trimpath -buildvcs=false -o "$work/" ./...) ||
    die "the Go programs in $sources did not build (see above); they need Go $(sed -n 's/^go //p' "$sources/go.mod") or newer"
  command -v cargo >/dev/null || die "cargo is missing, which builds the program for kube-rs; install Rust 1.90 or newer"
  (cd "$sources/kube_rs" && cargo build --quiet --release --locked --target-dir "$work/kube_rs") ||
    die "the Rust program in $sources/kube_rs did not build (see above)"
  build_program dev kgen_peer "kgen's pod informer"
  build_program dev kgen_peer_kinds "kgen's informers of many kinds"
  bench_beside_go reconcile kgen_reconcile "the controller to measure"
  versions="kgen $(git describe --always --dirty --exclude '*'), $(g++ --version | head -n 1), -O2"
  versions+=";kube $(sed -n '/^name = "kube"/{n;s/^version = "\(.*\)"/\1/p}' "$sources/kube_rs/Cargo.lock"), $(rustc --version)"
  versions+=";controller-runtime $(sed -n 's/.*controller-runtime //p' bench/peers/reconcile/go.mod)"
  "$work/compare" --docs=docs --folder="$work" --mixed="$sources/mixed.txt" --server="$work/server" \
    --kgen=build/dev/bin/kgen_peer --kinds=build/dev/bin/kgen_peer_kinds --client-go="$work/client_go" \
    --kube-rs="$work/kube_rs/release/kube_rs_informers" --versions="$versions" \
    --reconcile="$server -- $program compare --kgen $PWD/build/dev/bin/kgen_reconcile" "$@"
}

verb_bench() {
  if [ "${1:-}" = budget ]; then
    shift
    build_program dev kgen_budget "the budgets"
    build/dev/bin/kgen_budget "$@"
  elif [[ ${1:-} = recovery || ${1:-} = reconcile || ${1:-} = webhooks || ${1:-} = peers || ${1:-} = shards ]]; then
    "bench_$1" "${@:2}"
  else
    build_program dev kgen_bench "the benchmarks"
    build/dev/bin/kgen_bench "$@"
  fi
}
