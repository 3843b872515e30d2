# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command platforms: the runtime and its tests with other compilers, standard libraries and distributions, each in a root
# of that distribution. docs/platforms.md says what was tried when. Needs root, and many minutes for each.

# The tests of a platform, unless --tests names others. The first ones need nothing that is compiled with another
# standard library; RE2, and so kgen::validation and kgen::testing, are.
platforms_own_tests=(core_test core_execution_test codec_test)
platforms_all_tests=("${platforms_own_tests[@]}" validation_test net_test client_test)

# name, suite, compiler, its packages, and the standard library or processor, or that GoogleTest, which Debian compiles
# with a newer GCC, must be compiled as well. Without the last column: libstdc++, this machine.
platforms_rows() {
  cat <<'END_OF_ROWS'
bookworm-gcc-12 bookworm g++-12 g++-12
bookworm-clang-19 bookworm clang++-19 clang-19
bookworm-clang-22 bookworm clang++-22 clang-22
bookworm-clang-19-libc++ bookworm clang++-19 clang-19,libc++-19-dev,libc++abi-19-dev libc++
bookworm-clang-22-libc++ bookworm clang++-22 clang-22,libc++-22-dev,libc++abi-22-dev libc++
bookworm-arm64 bookworm aarch64-linux-gnu-g++ g++-aarch64-linux-gnu,qemu-user arm64
trixie-gcc-12 trixie g++-12 g++-12 gtest
trixie-gcc-13 trixie g++-13 g++-13 gtest
trixie-gcc-14 trixie g++-14 g++-14
trixie-clang-19 trixie clang++-19 clang-19
trixie-clang-22 trixie clang++-22 clang-22
trixie-clang-19-libc++ trixie clang++-19 clang-19,libc++-19-dev,libc++abi-19-dev libc++
trixie-clang-22-libc++ trixie clang++-22 clang-22,libc++-22-dev,libc++abi-22-dev libc++
trixie-arm64 trixie aarch64-linux-gnu-g++ g++-aarch64-linux-gnu,qemu-user arm64
END_OF_ROWS
}

# What the runtime and its tests need, for the processor of the program.
platforms_libraries=(libssl-dev libnghttp2-dev libyaml-dev libre2-dev libgtest-dev libgmock-dev)

# platforms_boost SUITE: Boost is headers alone, so the package for this machine will do for any.
platforms_boost() { if [ "$1" = bookworm ]; then echo libboost1.81-dev; else echo libboost-dev; fi; }

# platforms_script NAME SUITE COMPILER PACKAGES VARIANT TEST...: the commands that run in the root.
platforms_script() {
  local name=$1 suite=$2 compiler=$3 packages=${4//,/ } variant=$5 install
  shift 5
  install="apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends"
  local arguments=(-DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/g++/gcc}")
  [[ $compiler != clang* ]] || arguments[1]=-DCMAKE_C_COMPILER="${compiler/clang++/clang}"
  echo "apt-get -q update"
  echo "$install cmake ninja-build pkgconf ccache nlohmann-json3-dev $(platforms_boost "$suite") $packages"
  case $variant in
    arm64)
      echo "dpkg --add-architecture arm64; apt-get -q update"
      echo "$install ${platforms_libraries[*]/%/:arm64}"
      echo "export PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig"
      # Boost's files for CMake are in the folder of this machine's libraries, where a cross build does not look.
      arguments+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
        "-DBoost_DIR=\$(echo /usr/lib/x86_64-linux-gnu/cmake/Boost-*)"
        -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/qemu-aarch64)
      ;;
    gtest | libc++)
      # GoogleTest is compiled with the compiler and the standard library of the tests. libc++ is linked statically,
      # because Debian has one version alone of the shared one.
      # An older GCC links with its own libstdc++, which lacks names that Debian's libraries take from the newer one.
      local stdlib='' link=-Wl,--allow-shlib-undefined last=''
      [ "$variant" != libc++ ] || stdlib=-stdlib=libc++ link="-stdlib=libc++ -static-libstdc++" last=-lc++abi
      # Before version 20, std::stop_token is in the experimental part of libc++.
      [ "$compiler $variant" != 'clang++-19 libc++' ] || stdlib+=' -fexperimental-library'
      echo "$install g++ ${platforms_libraries[*]} googletest"
      echo "cmake -G Ninja -S /usr/src/googletest -B /gtest-build/$name -DCMAKE_INSTALL_PREFIX=/gtest/$name \
        -DCMAKE_CXX_COMPILER=$compiler -DCMAKE_C_COMPILER=${arguments[1]#*=} '-DCMAKE_CXX_FLAGS=$stdlib'"
      echo "cmake --build /gtest-build/$name --target install"
      arguments+=("'-DCMAKE_CXX_FLAGS=$stdlib'" "'-DCMAKE_EXE_LINKER_FLAGS=$link'"
        "-DCMAKE_CXX_STANDARD_LIBRARIES=$last" "-DCMAKE_PREFIX_PATH=/gtest/$name")
      ;;
    *) echo "$install ${platforms_libraries[*]}" ;;
  esac
  echo "cmake -G Ninja -S /source -B /source/build/platforms/$name ${arguments[*]} -DCMAKE_BUILD_TYPE=Release \
    -DKGEN_BUILD_TOOL=OFF -DKGEN_BUILD_EXAMPLES=OFF -DKGEN_INSTALL=OFF -DKGEN_JOIN_SOURCES=ON"
  echo "cd /source/build/platforms/$name"
  echo "ninja -j$jobs $* kgen_controller kgen_k8s_groups"
  echo "rm -rf test-results; mkdir test-results"
  echo "ctest --output-on-failure --no-tests=error -R '^($(IFS='|' && echo "$*"))$' --output-junit test-results/ctest.junit || true"
}

# platforms_run ROW TESTS: builds and tests one platform; its log is build/platforms/NAME.log.
platforms_run() {
  local name suite compiler packages variant root log tests
  read -r name suite compiler packages variant <<<"$1"
  log=build/platforms/$name.log
  root=build/platforms/$suite-root
  debian_base "$suite" "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
  mkdir -p "$root/source" "build/platforms/$name"
  read -ra tests <<<"${2:-}"
  if [ ${#tests[@]} -eq 0 ]; then
    tests=("${platforms_all_tests[@]}")
    [ "$variant" != libc++ ] || tests=("${platforms_own_tests[@]}")
  fi
  platforms_script "$name" "$suite" "$compiler" "$packages" "$variant" "${tests[@]}" >"build/platforms/$name.sh"
  KGEN_ROOT_BIND=$PWD:/source debian_in "$root" ". /source/build/platforms/$name.sh" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    return 1
  }
  count_results "build/platforms/$name/test-results"
}

verb_platforms() {
  local name row count tests='' passed=0 failed=0
  [ "${1:-}" != --tests ] || { tests=${2//,/ } && shift 2; }
  if [ $# -eq 0 ]; then
    platforms_rows | cut -d' ' -f1
    return
  fi
  [ "$(id -u)" -eq 0 ] || die "platforms needs root, for mmdebstrap, chroot and mount"
  need_setup
  source tools/dev/debian.sh
  source tools/dev/test.sh
  # shellcheck disable=SC2046
  [ "$1" != all ] || set -- $(platforms_rows | cut -d' ' -f1)
  mkdir -p build/platforms
  for name in "$@"; do
    row=$(platforms_rows | grep "^$name ") || die "no such platform: $name; ./dev platforms lists them"
    say "dev: $name"
    if count=$(platforms_run "$row" "$tests"); then
      passed=$((passed + 1))
      printf 'ok      %s: %s\n' "$name" "${count##*$'\n'}"
    else
      failed=$((failed + 1))
      printf 'FAILED  %s: %s\n' "$name" "${count##*$'\n'}"
    fi
  done
  printf '%d passed, %d failed, 0 skipped\n' $passed $failed
  [ $failed -eq 0 ]
}
