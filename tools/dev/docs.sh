# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command docs: the documentation as a site (docs/decisions/0033-documentation-site.md).

docs_site=build/docs-site
docs_input=build/docs-input
# Debian's own Python, since the packages of setup belong to it and not to another one in PATH.
docs_python=/usr/bin/python3

# The steps. Each prints its findings and returns 1 if there are any.
docs_pages() { "$docs_python" tools/docs/stage.py . "$docs_input"; }

docs_build() {
  rm -rf "$docs_site"
  "$docs_python" -m sphinx -q -W --keep-going -j "$jobs" -d build/docs-cache -c tools/docs "$docs_input" "$docs_site" 2>&1
}

docs_links() {
  "$docs_python" tools/docs/link.py finish "$docs_site" "$docs_input/names.json" &&
    "$docs_python" tools/docs/link.py check "$docs_site"
}

# Searches in a browser that has no network, in the files as they are.
docs_search() {
  "$docs_python" tools/docs/search.py "$docs_site" 'ResourceClient=api/kgen/client/resource_client.html' \
    'WaitForCacheSync=api/kgen/cache/factory.html' 'acknowledgement=docs/decisions/0029-shards.html'
}

# Pictures of the site, to look at, and what is wrong with the pages in them.
docs_screenshots() { "$docs_python" tools/docs/screenshots.py "$docs_site" build/docs-screenshots; }

verb_docs() {
  local step passed=0 failed=0 findings start steps=(pages build links)
  case ${1:-} in
    "") ;;
    --check) steps+=(search) ;;
    --screenshots) steps+=(screenshots) ;;
    *) die "usage: ./dev docs [--check|--screenshots]" ;;
  esac
  need_setup
  for step in "${steps[@]}"; do
    start=$EPOCHREALTIME
    if findings=$("docs_$step"); then
      passed=$((passed + 1))
      printf 'ok      %-10s %6d ms\n' "$step" $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))
    else
      failed=$((failed + 1))
      printf 'FAILED  %-10s\n%s\n' "$step" "$findings"
    fi
  done
  [ ! -f "$docs_site/index.html" ] || say "dev: the site is $docs_site/index.html"
  printf '%d passed, %d failed, 0 skipped\n' $passed $failed
  [ $failed -eq 0 ]
}
