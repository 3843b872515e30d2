# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Commands test, sanitize and golden: build the tests, run them with ctest, and count the cases.

# run_tests TREE [FILTER] [CTEST ARGUMENTS...]: the last line is `N passed, N failed, N skipped`, and the exit code
# agrees with it. It is a failure if no case ran.
run_tests() {
  local tree=$1 filter=${2:-} results=build/$1/test-results
  shift $(($# > 1 ? 2 : 1))
  rm -rf "$results"
  mkdir -p "$results"
  case $filter in
    "") ;;
    *[*:]*) export GTEST_FILTER=$filter ;;
    *) export GTEST_FILTER="*$filter*" ;;
  esac
  export GTEST_COLOR=no GTEST_BRIEF=1
  # The count below reports failures, so ctest's exit code is ignored.
  ctest --test-dir "build/$tree" -j "$jobs" --output-on-failure --no-tests=ignore "$@" \
    --output-junit test-results/ctest.junit >&2 || true
  count_results "$results"
}

# count_results DIR: reads ctest's list of what it ran and the XML file of each test binary. A binary without a file
# crashed, was not built, or was stopped, and counts as one failed case.
count_results() {
  local dir=$1
  sed -n 's/.*<testcase name="\([^"]*\)".* status="\([^"]*\)".*/\1 \2/p' "$dir/ctest.junit" >"$dir/ran.txt"
  awk -v dir="$dir" '
    function attribute(line, name) {
      if (!match(line, " " name "=\"[^\"]*\"")) return ""
      return substr(line, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    }
    function close_case() {
      if (current == "") return
      if (bad) { failed++; print "FAILED  " current } else if (skip) { skipped++; print "skipped " current reason } else passed++
      current = ""
    }
    {
      test = $1; file = dir "/" test ".xml"; cases = 0; before = failed + 0; current = ""
      while ((getline line < file) > 0) {
        if (line ~ /<testcase /) {
          close_case(); cases++; bad = 0; reason = ""
          current = attribute(line, "classname") "." attribute(line, "name")
          skip = attribute(line, "status") == "notrun" || attribute(line, "result") == "skipped"
          if (attribute(line, "status") == "notrun") reason = ": disabled"
        } else if (line ~ /<failure/) bad = 1
        else if (line ~ /<skipped message=/) { reason = ": " attribute(line, "message"); sub(/^: [^ ]*&#x0A;/, ": ", reason) }
      }
      close(file); close_case()
      if ($2 == "fail" && failed == before) { failed++; print "FAILED  " test " (ended without writing its results)" }
      if ($2 != "fail" && $2 != "run") { failed++; print "FAILED  " test " (" $2 ")" }
    }
    END {
      if (passed + failed == 0) print "no test ran"
      printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
      exit !(failed == 0 && passed > 0)
    }' "$dir/ran.txt"
}

# all_test_targets TREE: the names of the test binaries that ctest runs.
all_test_targets() { ctest --test-dir "build/$1" -N -L gtest | sed -n 's/^ *Test *#[0-9]*: \([^.]*\).*/\1/p' | sort -u; }

# test_targets TREE FILTER: the test binaries that have tests matching FILTER.
test_targets() { python3 tools/dev/test_targets.py "build/$1" "$2" | grep -Fx "$(all_test_targets "$1")" || true; }

# With a filter, builds and runs only the binaries with matching tests, or all of them if no source has such a test.
verb_test() {
  local filter=${1:-} targets=
  need_setup
  configure dev
  [ -z "$filter" ] || targets=$(test_targets dev "$filter")
  # shellcheck disable=SC2086
  build dev $targets
  [ "$targets" != "$filter" ] || filter=  # the name of a binary: all of its tests
  run_tests dev "$filter" ${1:+-L gtest} ${targets:+-R "^(${targets//$'\n'/|})(\\.[0-9]+)?\$"}
}

# What a sanitizer does not run: programs that the compiler refuses, and at least half of the seeds of the tests that
# take longest.
sanitize_without='-RefusedTest.*:Seeds/RotationTest.*/1:Seeds/TroubleTest.*/1:Seeds/CertificatesPropertyTest.*/1'
sanitize_without+=':Seeds/ClustersPropertyTest.*/1?:Seeds/ControllerPropertyTest.*/1??'
sanitize_without+=':Seeds/NamespacesPropertyTest.*/5?:Seeds/NamespacesPropertyTest.*/6?:Seeds/NamespacesPropertyTest.*/7?'
sanitize_without+=':Seeds/NamespacesPropertyTest.*/8?:Seeds/NamespacesPropertyTest.*/9?'
sanitize_without+=':Seeds/ShardedManagerTest.*/1:Seeds/ShardedManagerTest.*/2:Seeds/InformersOfBothVersionsTest.*/1?'
sanitize_without+=':Weights/DividePropertyTest.MovesHardlyAnything*/Random'

verb_sanitize() {
  local tree=${1:-} host
  case $tree in address | thread) ;; *) die "usage: ./dev sanitize address|thread [FILTER]" ;; esac
  need_setup
  host=$(host_tool_arguments)
  configure "$tree" ${host:+"$host"}
  # shellcheck disable=SC2046
  build "$tree" $(all_test_targets "$tree")
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=0:second_deadlock_stack=1}
  export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-22
  run_tests "$tree" "${2:-$sanitize_without}" -L gtest
}

verb_golden() {
  [ -f tests/golden/CMakeLists.txt ] || missing "tests/golden" "the generator's golden files"
  need_setup
  configure dev
  has_target dev golden_test || missing "target golden_test" "the generator's golden files"
  build dev golden_test
  KGEN_UPDATE_GOLDEN=1 build/dev/bin/golden_test
  git status --short tests/golden
}
