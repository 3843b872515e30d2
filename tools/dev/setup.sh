# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# The Debian 12 packages that the project is built, tested and checked with, by name. A minimal system (a minbase
# chroot) needs nothing else, not even a compiler or git.

setup_packages=(
  # Compilers, build, checkout.
  ca-certificates git g++ gcc libc6-dev make cmake ninja-build ccache mold pkg-config
  # The runtime.
  libssl-dev libnghttp2-dev libyaml-dev nlohmann-json3-dev libboost1.81-dev
  # The generator: LLVM 22, from bookworm-security. clang-22 contains ClangConfig.cmake; linking statically needs zstd
  # and zlib.
  clang-22 libclang-22-dev llvm-22-dev libzstd-dev zlib1g-dev libcxxopts-dev
  # Tests, fuzzing, benchmarks, lint.
  libgtest-dev libgmock-dev libbenchmark-dev libsimdjson-dev
  libclang-rt-22-dev lld-22 clang-format-22 clang-tidy-22 python3 valgrind
  # examples/external_api.
  libcurl4-openssl-dev
  # The forward proxy of tests/integration, and the Python client that talks to the in-memory cluster there.
  tinyproxy-bin python3-kubernetes
  # ./dev container.
  buildah mmdebstrap
  # The browser in which tests/integration looks at /debug.
  chromium
)

# Prints the packages of the list that are not installed.
setup_missing() {
  local package state
  for package in "${setup_packages[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=no
    [ "$state" = installed ] || printf '%s\n' "$package"
  done
}

setup_check() {
  [ -z "${KGEN_NO_SETUP:-}" ] || return 0
  command -v dpkg-query >/dev/null || {
    say "dev: not a Debian system; install the packages of tools/dev/setup.sh by other means"
    return 0
  }
  [ -z "$(setup_missing)" ] || setup_install
}

setup_install() {
  local packages as_root=()
  command -v apt-get >/dev/null || die "setup needs apt-get (Debian 12); the packages are: ${setup_packages[*]}"
  mapfile -t packages < <(setup_missing)
  if [ ${#packages[@]} -eq 0 ]; then
    say "dev: every package is installed"
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "setup needs root or sudo to install: ${packages[*]}"
    as_root=(sudo)
  fi
  say "dev: installing ${packages[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3)
  mkdir -p build
  "${apt[@]}" update >build/setup.log 2>&1 || {
    tail -n 20 build/setup.log >&2
    die "apt-get update failed (see above)"
  }
  if ! apt-cache show clang-22 >/dev/null 2>&1; then
    die "apt does not know clang-22; add the suite bookworm-security to the sources in /etc/apt"
  fi
  "${apt[@]}" install -y --no-install-recommends "${packages[@]}" >>build/setup.log 2>&1 || {
    tail -n 30 build/setup.log >&2
    die "apt-get install failed (see above, and build/setup.log)"
  }
}
