# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command conan: builds and tests the recipe in packaging/conan/, with Debian's libraries instead of other recipes. Conan
# itself comes from PyPI, with the hashes of packaging/conan/requirements.txt, into build/conan/.

# The flags of the dev tree, so that ccache already has the compiled runtime.
conan_flags='{
  "CMAKE_CXX_FLAGS": {"value": "", "cache": True, "type": "STRING"},
  "CMAKE_CXX_FLAGS_RELEASE": {"value": "-O2 -g1", "cache": True, "type": "STRING"},
  "KGEN_WERROR": {"value": "ON", "cache": True, "type": "BOOL"}}'

verb_conan() {
  local home=$PWD/build/conan recipe=packaging/conan
  need_setup
  [ -x "$home/venv/bin/conan" ] || {
    python3 -m venv "$home/venv" || die "python3 has no venv; install python3-venv"
    "$home/venv/bin/pip" install -q --require-hashes --only-binary :all: -r "$recipe/requirements.txt" >&2
  }
  export CONAN_HOME=$home/home
  mkdir -p "$CONAN_HOME"
  # Conan builds the test in its own folder.
  rm -rf "$home/test_package"
  cp -R "$recipe/test_package" "$home/test_package"
  "$home/venv/bin/conan" remote disable '*' >&2
  "$home/venv/bin/conan" create "$recipe" --test-folder "$home/test_package" --profile:all "$recipe/debian.profile" \
    -c:a tools.cmake.cmaketoolchain:generator=Ninja -c:a tools.build:jobs="$jobs" --options 'kgen/*:fPIC=False' \
    -c:a "tools.cmake.cmaketoolchain:extra_variables=$(tr -d '\n' <<<"$conan_flags")" "$@" >&2 ||
    die "conan create failed (see above)"
  printf '1 passed, 0 failed, 0 skipped\n'
}
