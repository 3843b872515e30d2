# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Commands lint and format. Each rule is a function here or a rule of tools/lint/text_rules.py, and checks the tree
# whose root is $lint_root, so that tests/lint/ can point it at a bad one. A rule prints its findings and returns 1.

lint_root=${KGEN_LINT_ROOT:-.}
lint_cache=${KGEN_LINT_CACHE:-build/lint}
lint_rules=(format arrows rooms circles public guide reach blocking clock timers length copyright workplace templates ids missing described english contracts pages generated api headers alone tidy)
lint_rules_on_request=(tidy-all)
lint_clang_format=${CLANG_FORMAT:-clang-format-22}

# Prints the C++ files that are written by hand.
lint_sources() {
  (cd "$lint_root" && { git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path './build/*' -not -path './.git/*' | sed 's|^\./||'; }) |
    grep -E '\.(h|cc)$' | grep -Ev '^(generated|tests/golden)/' | sort -u |
    while read -r file; do [ -f "$lint_root/$file" ] && printf '%s\n' "$file"; done
}

lint_format() {
  local findings
  findings=$(cd "$lint_root" && lint_root=. lint_sources |
    xargs -r -P "$jobs" -n 16 "$lint_clang_format" --dry-run -Werror 2>&1 | grep -E '^[^ ].*error:' | cut -d: -f1 | sort | uniq -c)
  if [ -n "$findings" ]; then
    awk '{ print $2 ":1: " $1 " places are not formatted; run ./dev format" }' <<<"$findings"
    return 1
  fi
  if command -v gofmt >/dev/null; then
    findings=$(cd "$lint_root" && find tests bench -name '*.go' 2>/dev/null | xargs -r gofmt -l)
    [ -z "$findings" ] || { printf '%s:1: not formatted; run gofmt -w\n' $findings; return 1; }
  fi
}

# Checks that tests/contract-coverage.md is up to date with the contract comments in tests/.
lint_contracts() { python3 tools/contract_table.py --check "$lint_root"; }

# Checks that docs/ has the listings, tables, messages and names that the sources have.
lint_pages() { python3 tools/pages.py --check "$lint_root"; }

# Checks that generated/ and the generated types of the runtime are up to date with openapi/ and the generator.
lint_generated() { generate_builtin_api --check 2>&1; }

# Checks that openapi/ breaks nothing since the last release (before the first one, since lint_base), except what openapi/breaks.txt
# lists.
lint_api() {
  local base found status=0
  base=$(git -C "$lint_root" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) ||
    base=$(cd "$lint_root" && lint_base)
  git -C "$lint_root" cat-file -e "${base:-none}:openapi" 2>/dev/null || return 0  # nothing to compare with
  found=$(diff_builtin_api "$base" "$lint_root" 2>&1) || status=$?
  [ $status -ne 0 ] || return 0
  [ $status -eq 1 ] || { printf 'openapi:1: kgen diff cannot compare it with %s: %s\n' "$base" "$found"; return 1; }
  found=$(awk '/^[^ ]/ { breaks = /^(breaks|the server now refuses) / } breaks && /^  / { print substr($0, 3) }' <<<"$found" | sort -u |
    grep -vxFf <(grep -v '^#' "$lint_root/openapi/breaks.txt" 2>/dev/null)) || return 0
  sed "s|^|openapi/breaks.txt:1: does not list this break since $base: |" <<<"$found"
  return 1
}

# Checks that each public header compiles alone, and twice in one file, with both compilers. Results are cached by the
# content of the header and of the project's headers that it includes.
lint_headers() {
  local header status=0
  mkdir -p "$lint_cache/headers"
  (cd "$lint_root" && find runtime/include -name '*.h' 2>/dev/null | sort) |
    KGEN_LINT_CACHE=$lint_cache xargs -r -P "$jobs" -I{} bash tools/lint/header_alone.sh "$lint_root" {} || status=1
  return $status
}

# Prints the commit to compare with: $KGEN_LINT_BASE, or the merge base with origin/main or, if that is HEAD itself (a
# fresh clone), the commit before it. Prints nothing if there is none; then everything is new.
lint_base() {
  local base=${KGEN_LINT_BASE:-}
  [ -n "$base" ] || base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-parse --quiet --verify HEAD~1 || true)
  fi
  printf '%s\n' "$base"
}

# Checks that no source lacks an include because a header that it reaches has lost one: the trees compile few alone.
lint_alone() {
  local base files database=$lint_root/build/dev/compile_commands.json
  base=$(cd "$lint_root" && lint_base)
  mapfile -t files < <(python3 tools/lint/alone.py list "$lint_root" "${base:-HEAD}")
  [ ${#files[@]} -gt 0 ] || return 0
  if [ "$lint_root" = . ]; then
    lint_compile "${files[@]}" || { echo 'the sources do not compile; run ./dev test'; return 1; }
    database=$lint_cache/compile_commands.json
  fi
  KGEN_JOBS=$jobs python3 tools/lint/alone.py compile "$lint_root" "$database" "${files[@]}"
}

# Runs clang-tidy on the sources that changed since lint_base.
lint_tidy() {
  local base
  base=$(lint_base)
  { git diff --name-only --diff-filter=d "${base:-$(git hash-object -t tree /dev/null)}"
    git ls-files -o --exclude-standard; } | lint_tidy_sources
}

# Runs clang-tidy on every source. Takes minutes the first time.
lint_tidy-all() { lint_sources | lint_tidy_sources; }

# Runs clang-tidy on the sources among the files on standard input. They are compiled first, since some include
# generated headers. A source that the dev tree does not build (a fuzz target) is checked with the flags of the nearest
# source.
lint_tidy_sources() {
  local files
  mapfile -t files < <(grep -E '\.cc$' | grep -Ev '^(generated|tests/golden)/' | sort -u)
  [ ${#files[@]} -gt 0 ] || return 0
  mkdir -p "$lint_cache/tidy"
  [ "$lint_root" != . ] || lint_compile "${files[@]}" || { echo 'the sources do not compile; run ./dev test'; return 1; }
  printf '%s\n' "${files[@]}" |
    KGEN_LINT_CACHE=$lint_cache xargs -P "$jobs" -n 1 bash tools/lint/tidy_file.sh "$lint_root"
}

# lint_compile SOURCE...: compiles the given sources that are part of the dev tree, and writes the database for
# clang-tidy.
lint_compile() {
  local database=$lint_cache/compile_commands.json objects
  [ -f build/dev/compile_commands.json ] || configure dev
  python3 tools/dev/compile_commands.py build/dev >"$database"
  mapfile -t objects < <(printf '%s\n' "$@" | python3 -c '
import json, os, re, sys
files = {os.path.abspath(line.strip()) for line in sys.stdin}
commands = [entry["command"] for entry in json.load(open(sys.argv[1])) if entry["file"] in files]
for output in sorted({re.search(r" -o (\S+)", command)[1] for command in commands}):
    print(output)' "$database")
  [ ${#objects[@]} -eq 0 ] || build dev "${objects[@]}"
}

# run_rule RULE: prints the findings to standard output.
run_rule() {
  case $1 in
    format | headers | contracts | pages | generated | api | alone | tidy | tidy-all) "lint_$1" ;;
    *) python3 tools/lint/text_rules.py "$1" "$lint_root" ;;
  esac
}

verb_lint() {
  local rule passed=0 failed=0 findings start
  need_setup
  for rule in "${@:-${lint_rules[@]}}"; do
    [[ " ${lint_rules[*]} ${lint_rules_on_request[*]} " == *" $rule "* ]] ||
      die "no such rule: $rule; the rules are: ${lint_rules[*]} ${lint_rules_on_request[*]}"
    start=$EPOCHREALTIME
    if findings=$(run_rule "$rule"); then
      passed=$((passed + 1))
      printf 'ok      %-10s %5d ms\n' "$rule" $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
    else
      failed=$((failed + 1))
      printf 'FAILED  %-10s\n%s\n' "$rule" "$findings"
    fi
  done
  printf '%d passed, %d failed, 0 skipped\n' $passed $failed
  [ $failed -eq 0 ]
}

verb_format() {
  need_setup
  lint_sources | xargs -r -P "$jobs" -n 16 "$lint_clang_format" -i
  if command -v gofmt >/dev/null; then find tests bench -name '*.go' -print0 | xargs -r0 gofmt -w; fi
}
