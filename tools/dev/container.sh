# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command container: builds the two images of examples/container/Containerfile and tests them. No image is pulled: the
# base of the shared one is a Debian that mmdebstrap makes, and the stage that compiles is replaced by programs that are
# compiled here, with the same command.

container_root=build/container
container_file=examples/container/Containerfile

# container_tree NAME ARGUMENTS...: configures build/container-NAME as the dev tree, without what only tests need.
container_tree() {
  local tree=build/container-$1
  shift
  cmake --preset dev -B "$tree" -DKGEN_BUILD_TESTS=OFF -DKGEN_BUILD_BENCH=OFF -DKGEN_INSTALL=OFF "$@" \
    >"$tree.log" 2>&1 || {
    cat "$tree.log" >&2
    die "$tree cannot be configured (see above)"
  }
}

# container_programs PROGRAM TREE: builds build/container/programs/{static,shared} without debug information. The shared
# one comes from the tree, and the static one from a tree with the same flags, so that ccache has most of its objects.
container_programs() {
  local program=$1 tree=$2
  has_target "$tree" "$program" || die "no such program: $program; use one of those in examples/"
  build "$tree" "$program" kgen kgen-crd
  container_tree static -DKGEN_BUILD_TOOL=OFF -DKGEN_EXECUTABLE="$PWD/build/$tree/bin/kgen" \
    -DKGEN_CRD_EXECUTABLE="$PWD/build/$tree/bin/kgen-crd" \
    -DCMAKE_PROJECT_INCLUDE="$PWD/examples/container/static.cmake"
  build container-static "$program"
  mkdir -p "$container_root/programs"
  strip -o "$container_root/programs/shared" "build/$tree/bin/$program"
  strip -o "$container_root/programs/static" "build/container-static/bin/$program"
  cp /etc/ssl/certs/ca-certificates.crt "$container_root/programs/"
}

# container_buildah COMMAND...: buildah as root in a system without a container runtime, with images in build/.
container_buildah() {
  local command=$1
  shift
  buildah --root "$PWD/$container_root/store" --runroot "$PWD/$container_root/run" --storage-driver vfs "$command" "$@"
}

# container_base: makes the image localhost/debian:12 once. Remove build/container/ for one with newer packages.
container_base() {
  local base=$container_root/debian.tar container
  container_buildah inspect --type image localhost/debian:12 >/dev/null 2>&1 && return
  say "dev: making a Debian 12 (some minutes, once)"
  # As debian:12-slim, without documentation and translations. Without usr-is-merged, minbase installs the whole of Perl.
  mmdebstrap --variant=minbase --mode=root --include=usr-is-merged --aptopt='Acquire::Retries "3"' \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$base" >"$container_root/debian.log" 2>&1 || {
    tail -n 20 "$container_root/debian.log" >&2
    die "mmdebstrap made no Debian (see above); it needs root and a mirror of Debian"
  }
  container=$(container_buildah from scratch)
  container_buildah add --quiet "$container" "$base" / >/dev/null
  container_buildah commit --quiet --rm "$container" localhost/debian:12 >/dev/null
  rm "$base"
}

# container_image VARIANT: builds the image of that name.
container_image() {
  container_buildah build --isolation chroot --quiet --target "$1" --tag "localhost/$1" --file "$container_file" \
    --build-arg RUN_IMAGE=localhost/debian:12 --pull-never --build-context "build=$PWD/$container_root" \
    "$container_root/programs" >"$container_root/$1.log" 2>&1 || {
    tail -n 20 "$container_root/$1.log" >&2
    die "buildah did not build the image '$1' (see above)"
  }
}

# container_test VARIANT ARGUMENTS...: runs the image's program, as the user of the image on a file system that cannot be
# written to, against the in-memory cluster.
container_test() {
  local variant=$1 container status=run config=.OCIv1.Config results=$PWD/$container_root/results
  shift
  container=$(container_buildah from --pull-never "localhost/$variant")
  KGEN_TEST_IMAGE=$(container_buildah mount "$container")
  KGEN_TEST_IMAGE_USER=$(container_buildah inspect --format "{{$config.User}}" "$container")
  KGEN_TEST_IMAGE_ENTRYPOINT=$(container_buildah inspect --format "{{index $config.Entrypoint 0}}" "$container")
  KGEN_TEST_IMAGE_ARGUMENTS=$*
  export "${!KGEN_TEST_IMAGE@}"
  GTEST_BRIEF=1 GTEST_OUTPUT=xml:$results/$variant.xml build/dev/bin/container_test >&2 || status=fail
  printf '<testcase name="%s" status="%s">\n' "$variant" "$status" >>"$results/ctest.junit"
  container_buildah rm "$container" >/dev/null
}

verb_container() {
  local build_only= variant results=$container_root/results
  [ "${1:-}" != --build-only ] || { build_only=1 && shift; }
  local program=${1:-order_controller}
  [ $# -eq 0 ] || shift
  if [ -n "$build_only" ]; then
    need_setup --build
    mkdir -p build
    container_tree shared
    container_programs "$program" container-shared
    return
  fi
  need_setup
  configure dev
  container_programs "$program" dev
  [ "$(id -u)" -eq 0 ] || die "container needs root, for mmdebstrap, chroot and mount"
  has_target dev container_test || missing "target container_test" "the test of the images"
  build dev container_test
  container_base
  rm -rf "$results"
  mkdir -p "$results"
  : >"$results/ctest.junit"
  for variant in static shared; do
    container_image "$variant"
    container_test "$variant" "$@"
    printf '%s %s\n' "$variant" "$(container_buildah images --format '{{.Size}}' "localhost/$variant")"
  done
  # What earlier runs have left.
  container_buildah rm --all >/dev/null
  container_buildah rmi --prune >/dev/null
  source tools/dev/test.sh
  count_results "$results"
}
