# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command package: tests the build of a user's project. Installs the dev tree, builds examples/ against the installed
# package and, a second time, with kgen as a subdirectory; and checks that kgen_add_api runs kgen or kgen-crd if, and
# only if, an input has changed.

# package_build FOLDER SOURCE [ARGUMENTS...]: configures and builds quietly, and prints the log on failure. Uses the
# compiler and the flags of the dev tree, and folders as deep as that tree, so that ccache already has the compiled
# runtime.
package_build() {
  local folder=$1 source=$2
  local launcher="$(command -v cmake);-E;env;CCACHE_BASEDIR=$PWD;CCACHE_NOHASHDIR=1;ccache"
  shift 2
  {
    cmake -G Ninja -S "$source" -B "$folder" -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      -DKGEN_JOIN_SOURCES=ON -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold \
      -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@" &&
      cmake --build "$folder" --parallel "$jobs"
  } >"$folder.log" 2>&1 || {
    tail -n 60 "$folder.log" >&2
    return 1
  }
}

# package_case NAME COMMAND...: runs one counted case.
package_case() {
  local name=$1
  shift
  if "$@"; then
    package_passed=$((package_passed + 1))
    printf 'ok      %s\n' "$name"
  else
    package_failed=$((package_failed + 1))
    printf 'FAILED  %s\n' "$name"
  fi
}

package_installed() {
  cmake --install build/dev --prefix "$PWD/$package_root/prefix" >"$package_root/install.log" 2>&1 || {
    tail -n 20 "$package_root/install.log" >&2
    return 1
  }
  cp -R examples "$package_root/examples"  # to be changed below
  # Not optimized, because the compiler cache has nothing of this build, and the programs are hardly run.
  package_build "$package_root/installed" "$package_root/examples" -DCMAKE_PREFIX_PATH="$PWD/$package_root/prefix" \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0
}

# The projects that docs/start lets readers copy.
package_start() {
  local project
  for project in watcher website; do
    cp -R "docs/start/programs/$project" "$package_root/$project"
    package_build "$package_root/$project-build" "$package_root/$project" \
      -DCMAKE_PREFIX_PATH="$PWD/$package_root/prefix" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 || return 1
  done
  ctest --test-dir "$package_root/website-build" --no-tests=error >"$package_root/website.log" 2>&1
}

# Uses the tools of the dev tree, so that LLVM is not linked a second time.
package_subdirectory() {
  package_build "$package_root-subdirectory" tests/package -DKGEN_WERROR=ON -DKGEN_BUILD_TOOL=OFF \
    -DKGEN_EXECUTABLE="$PWD/build/dev/bin/kgen" -DKGEN_CRD_EXECUTABLE="$PWD/build/dev/bin/kgen-crd"
}

package_example_test() { ctest --test-dir "$package_root/installed" --no-tests=error >"$package_root/ctest.log" 2>&1; }

package_nothing_to_do() { ninja -C "$package_root/installed" -n | grep 'no work to do' >/dev/null; }

# A touched input runs the generator once; its output has not changed, so nothing is compiled.
package_touched() {
  local steps
  touch "$package_root/examples/crds/orders.yaml"
  steps=$(ninja -C "$package_root/installed" -v) || return 1
  grep -q 'kgen generate' <<<"$steps" && ! grep -q ' -c ' <<<"$steps" && package_nothing_to_do
}

# A new field moves others, so everything that uses the type must be recompiled in the same run.
package_changed() {
  local crd=$package_root/examples/crds/orders.yaml steps
  sed -i 's/^\( *\)photo:$/\1ribbon:\n\1  type: string\n&/' "$crd"
  cmp -s "$crd" examples/crds/orders.yaml && return 1
  steps=$(ninja -C "$package_root/installed" -v) || return 1
  grep -q ' -c .*03_custom_resource.cc' <<<"$steps" && package_nothing_to_do
}

# examples/ leaves cpp_first and external_api out where there is no kgen-crd, and external_api where there is no libcurl,
# so their CRDs show that they were built.
package_cpp_first() {
  package_built cpp_first/store_api.kgen/crds/shop.example.com_orders.yaml order_controller &&
    package_built external_api/market_api.kgen/crds/rates.example.com_exchangerates.yaml rate_controller
}

# package_built CRD PROGRAM: whether both builds of examples/ have that CRD and the program beside it, which lies in the
# folder of its target or of all programs.
package_built() {
  local folder examples program
  for examples in "$package_root/installed" "$package_root-subdirectory/examples"; do
    folder=$examples/${1%%/*}
    program=$(find "$folder" "$folder/../../bin" -name "$2" -type f 2>/dev/null | head -n 1)
    [ -f "$examples/$1" ] && [ -x "$program" ] || {
      say "dev: no $2 in $folder"
      return 1
    }
  done
}

# A touched API header runs kgen-crd once. Its output has not changed, so only what includes the header is compiled: the
# tables and the controller, but neither main.cc nor the manifests.
package_touched_header() {
  local steps
  touch "$package_root/examples/cpp_first/api/shop_v1.h"
  steps=$(ninja -C "$package_root/installed" -v) || return 1
  [ "$(grep -c 'kgen-crd --out' <<<"$steps")" -eq 1 ] && grep -q ' -c .*cpp_first/controller.cc' <<<"$steps" &&
    [ "$(grep -c ' -c ' <<<"$steps")" -eq 2 ] && package_nothing_to_do
}

# A new member: the CRD has it, and what uses the types is compiled in the same run.
package_changed_header() {
  local header=$package_root/examples/cpp_first/api/shop_v1.h steps
  sed -i 's/^  kgen::Time deliverAfter{};$/&\n  kgen::String ribbon{};/' "$header"
  cmp -s "$header" examples/cpp_first/api/shop_v1.h && return 1
  steps=$(ninja -C "$package_root/installed" -v) || return 1
  grep -q ' -c .*cpp_first/controller.cc' <<<"$steps" && grep -q ' -c .*store_manifests.cc' <<<"$steps" &&
    grep -q ribbon: "$package_root/installed/cpp_first/store_api.kgen/crds/shop.example.com_orders.yaml" &&
    package_nothing_to_do
}

# The project of a user whose custom resource has a pod template.
package_uses() {
  mkdir -p "$package_root/uses-source"
  cp tests/compile/rollouts.yaml "$package_root/uses-source"
  cat >"$package_root/uses-source/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(uses CXX)
find_package(kgen REQUIRED)
kgen_add_api(delivery_api CRDS rollouts.yaml NAMESPACE delivery USES kgen::kubernetes)
kgen_add_api(single_api CRDS rollouts.yaml NAMESPACE single USES kgen::k8s_apps)
add_executable(uses main.cc)
target_link_libraries(uses PRIVATE delivery_api single_api)
END
  cat >"$package_root/uses-source/main.cc" <<'END'
#include <delivery/delivery/v1/types.h>
#include <k8s/apps/v1/types.h>
#include <single/delivery/v1/types.h>

int main() {
  delivery::delivery::v1::Rollout rollout;
  rollout.spec->template_->spec->restartPolicy = "Always";
  k8s::apps::v1::Deployment deployment;
  single::delivery::v1::Rollout single;
  single.spec->template_ = rollout.spec->template_;
  deployment.spec->template_ = single.spec->template_;
  return deployment.spec->template_->spec->restartPolicy == "Always" ? 0 : 1;
}
END
  package_build "$package_root/uses" "$package_root/uses-source" -DCMAKE_PREFIX_PATH="$PWD/$package_root/prefix" &&
    "$package_root/uses/uses"
}

# A program without shared libraries, for an image that has none; and one with shared C and C++ libraries alone.
package_static() {
  mkdir -p "$package_root/static-source"
  cat >"$package_root/static-source/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(static CXX)
find_package(kgen REQUIRED)
add_executable(static main.cc)
target_link_libraries(static PRIVATE kgen::k8s_core kgen::testing)
END
  cat >"$package_root/static-source/main.cc" <<'END'
#include <k8s/clientset.h>
#include <k8s/core/v1/types.h>
#include <kgen/testing/cluster.h>

#include <string>

// TLS, HTTP/2, JSON and YAML: the server's kubeconfig, and a request over a real connection.
int main() {
  kgen::testing::Cluster cluster({.simulated = false});
  const std::string kubeconfig = kgen::Must(cluster.Serve());
  const k8s::Clientset clientset(cluster.Connection());
  return clientset.CoreV1().Namespaces().Get("default").has_value() && !kubeconfig.empty() ? 0 : 1;
}
END
  package_build "$package_root/static" "$package_root/static-source" -DCMAKE_PREFIX_PATH="$PWD/$package_root/prefix" \
    "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold -static" && "$package_root/static/static" &&
    ! readelf -d "$package_root/static/static" | grep -q NEEDED || return 1
  package_build "$package_root/static-libraries" "$package_root/static-source" \
    -DCMAKE_PREFIX_PATH="$PWD/$package_root/prefix" -Dkgen_USE_STATIC_LIBS=ON &&
    "$package_root/static-libraries/static" &&
    ! readelf -d "$package_root/static-libraries/static" | grep NEEDED | grep -E 'ssl|crypto|re2|yaml|nghttp2'
}

# package_pkg_config [-static]: the program of package_static, without CMake.
package_pkg_config() {
  local program=$package_root/pkg-config${1:-} flags
  flags=$(PKG_CONFIG_PATH=$(find "$PWD/$package_root/prefix" -name pkgconfig -type d) pkg-config ${1:+-"$1"} \
    --cflags --libs kgen-testing kgen-k8s) || return 1
  # shellcheck disable=SC2086
  g++ -std=c++23 -fuse-ld=mold ${1:-} -o "$program" "$package_root/static-source/main.cc" $flags \
    >"$program.log" 2>&1 || {
    tail -n 20 "$program.log" >&2
    return 1
  }
  "$program"
}

# What is installed says which version it is, and a project that wants another 0.x refuses it. The other files that have
# the version agree.
package_versions() {
  local prefix=$package_root/prefix version tool
  version=$(project_version)
  head -n 1 debian/changelog | grep -qF "kgen ($version-" || return 1
  grep -qx "Package: libkgen${version%.*}" debian/control && [ -f "debian/libkgen${version%.*}.install" ] || return 1
  grep -m 1 '^## [0-9]' CHANGELOG.md | grep -qF "## $version" || return 1
  for tool in "$prefix"/bin/*; do
    [ "$("$tool" --version)" = "$(basename "$tool") $version" ] || return 1
  done
  for version in "${version%.*}" 0.1 "0.$(($(cut -d. -f2 <<<"$version") + 1))"; do
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(versions CXX)' "find_package(kgen $version REQUIRED)" \
      >"$package_root/CMakeLists.txt"
    cmake -G Ninja -S "$package_root" -B "$package_root/versions-$version" -DCMAKE_PREFIX_PATH="$PWD/$prefix" \
      >"$package_root/versions-$version.log" 2>&1 || printf '%s\n' "$version"
  done >"$package_root/refused"
  [ "$(wc -l <"$package_root/refused")" -eq 2 ]
}

# One commit gives the same bytes in another clone, at another time and with other settings of the user.
package_archive() {
  local first second clone=$package_root/clone
  git clone -q . "$clone"
  first=$(archive_make "$package_root/archive") || return 1
  second=$(cd "$package_root" && umask 077 && TZ=Pacific/Auckland archive_again) || return 1
  cmp "$first" "$second" && cmp "${first%.tar.gz}.spdx.json" "${second%.tar.gz}.spdx.json" &&
    python3 tools/sbom.py --check "${first%.tar.gz}.spdx.json" || return 1
  sed 's/"SPDXRef-Package-re2"/"SPDXRef-Package-none"/' "${first%.tar.gz}.spdx.json" >"$package_root/wrong.json"
  sed -i '0,/SPDXRef-Package-none/s//SPDXRef-Package-other/' "$package_root/wrong.json"
  ! python3 tools/sbom.py --check "$package_root/wrong.json" 2>/dev/null
}

# archive_again: the archive of the clone, from the clone.
archive_again() {
  (cd clone && git config tar.umask 0077 && archive_make "$PWD/../archive-again")
}

# The archive is a whole project, of which one library is compiled here. ./dev archive --try builds a program with it.
package_fetch() {
  local archive
  archive=$(find "$package_root/archive" -name '*.tar.gz')
  archive_fetch "$archive" "$package_root/fetched" kgen_json >"$package_root/fetched.log" 2>&1 || {
    tail -n 20 "$package_root/fetched.log" >&2
    return 1
  }
}

verb_package() {
  package_root=build/package package_passed=0 package_failed=0
  source tools/dev/archive.sh
  [ -f examples/CMakeLists.txt ] || missing examples "the examples"
  need_setup
  rm -rf "$package_root" "$package_root-subdirectory"
  mkdir -p "$package_root"
  configure dev
  build dev
  package_case "examples build against the installed package" package_installed
  package_case "the examples' own test passes" package_example_test
  package_case "a second build has nothing to do" package_nothing_to_do
  package_case "a touched CRD is generated again, and nothing compiled" package_touched
  package_case "a changed CRD: what uses it is compiled in the same run" package_changed
  package_case "an API uses the types of the installed built-in API" package_uses
  package_case "a program links statically" package_static
  package_case "a program links with pkg-config" package_pkg_config
  package_case "a program links statically with pkg-config" package_pkg_config -static
  package_case "everything that is installed says its version" package_versions
  package_case "two clones make the same source archive and SBOM" package_archive
  package_case "a project fetches the source archive" package_fetch
  package_case "examples build with kgen as a subdirectory" package_subdirectory
  if has_target dev kgen_crd; then
    package_case "the examples with an API in C++ are built in both ways" package_cpp_first
    package_case "the projects of docs/start build against the installed package, and their test passes" package_start
    package_case "a touched API header is read again, and only what includes it compiled" package_touched_header
    package_case "a changed API header: the CRD and what uses the types are made in the same run" package_changed_header
  fi
  printf '%d passed, %d failed, 0 skipped\n' $package_passed $package_failed
  [ $package_failed -eq 0 ]
}
