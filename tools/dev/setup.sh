# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The Debian 12 packages that the project is built, tested and checked with, by name. A minimal system (a minbase
# chroot) needs nothing else, not even a compiler or git.

# What programs are built with: `./dev setup --build` installs these alone.
setup_build_packages=(
  # Compilers, build.
  ca-certificates g++ gcc libc6-dev make cmake ninja-build ccache mold pkg-config
  # The runtime.
  libssl-dev libnghttp2-dev libre2-dev libyaml-dev nlohmann-json3-dev libboost1.81-dev
  # The generator: LLVM 22, from bookworm-security. clang-22 contains ClangConfig.cmake; linking statically needs zstd
  # and zlib.
  clang-22 libclang-22-dev llvm-22-dev libzstd-dev zlib1g-dev libcxxopts-dev
  # examples/external_api.
  libcurl4-openssl-dev
)
setup_packages=(
  "${setup_build_packages[@]}"
  # Checkout, tests, fuzzing, benchmarks, lint.
  git libgtest-dev libgmock-dev libbenchmark-dev libsimdjson-dev
  libclang-rt-22-dev lld-22 clang-format-22 clang-tidy-22 python3 valgrind
  # The forward proxy of tests/integration, and the Python client that talks to the in-memory cluster there.
  tinyproxy-bin python3-kubernetes
  # ./dev container and ./dev debian; ./dev abi; ./dev conan.
  buildah mmdebstrap abigail-tools python3-venv
  # The browser in which tests/integration looks at /debug, and ./dev docs searches.
  chromium
  # ./dev docs: the comments of headers through libclang, the pages through Sphinx.
  python3-clang-22 python3-sphinx python3-myst-parser furo
)

# From the package prometheus, which is not installed, because it would start a server and bring eleven others. For
# tests/integration/monitoring.
setup_promtool=build/tools/promtool

# setup_missing PACKAGE...: prints those that are not installed.
setup_missing() {
  local package state
  for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=no
    [ "$state" = installed ] || printf '%s\n' "$package"
  done
}

# setup_is_complete [--build]: whether nothing is left to install.
setup_is_complete() {
  if [ "${1:-}" = --build ]; then
    [ -z "$(setup_missing "${setup_build_packages[@]}")" ]
  else
    [ -z "$(setup_missing "${setup_packages[@]}")" ] && [ -x "$setup_promtool" ]
  fi
}

# setup_check [--build]: installs what is missing, unless the environment says not to.
setup_check() {
  [ -z "${KGEN_NO_SETUP:-}" ] || return 0
  command -v dpkg-query >/dev/null || {
    say "dev: not a Debian system; install the packages of tools/dev/setup.sh by other means"
    return 0
  }
  setup_is_complete "$@" || setup_install "$@"
}

# setup_apt ARGUMENTS...: apt-get, with its output in build/setup.log.
setup_apt() {
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 "$@" >>build/setup.log 2>&1 || {
    tail -n 30 build/setup.log >&2
    die "apt-get $1 failed (see above, and build/setup.log)"
  }
}

# setup_install [--build]: installs what is missing.
setup_install() {
  local packages=("${setup_packages[@]}")
  [ "${1:-}" != --build ] || packages=("${setup_build_packages[@]}")
  command -v apt-get >/dev/null || die "setup needs apt-get (Debian 12); the packages are: ${packages[*]}"
  if setup_is_complete "$@"; then
    say "dev: every package is installed"
    return 0
  fi
  mapfile -t packages < <(setup_missing "${packages[@]}")
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "setup needs root or sudo to install: ${packages[*]}"
  fi
  mkdir -p build
  : >build/setup.log
  setup_apt update
  if ! apt-cache show clang-22 >/dev/null 2>&1; then
    die "apt does not know clang-22; add the suite bookworm-security to the sources in /etc/apt"
  fi
  if [ ${#packages[@]} -gt 0 ]; then
    say "dev: installing ${packages[*]}"
    setup_apt install -y --no-install-recommends "${packages[@]}"
  fi
  [ "${1:-}" = --build ] || [ -x "$setup_promtool" ] || setup_take_promtool
}

setup_take_promtool() {
  local work
  say "dev: taking promtool from the package prometheus"
  work=$(mktemp -d)
  (cd "$work" && apt-get -q -o Acquire::Retries=3 download prometheus) >>build/setup.log 2>&1 &&
    dpkg-deb --fsys-tarfile "$work"/prometheus_*.deb | tar -x -C "$work" ./usr/bin/promtool || {
    rm -rf "$work"
    tail -n 30 build/setup.log >&2
    die "no promtool from the package prometheus (see above, and build/setup.log)"
  }
  mkdir -p "$(dirname "$setup_promtool")"
  mv "$work/usr/bin/promtool" "$setup_promtool"
  rm -rf "$work"
}
