# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command archive: the source archive of the last commit, and its SBOM. The same commit gives the same bytes everywhere.

# archive_make FOLDER [ROOT]: writes kgen-VERSION.tar.gz and its SBOM into the folder, from the last commit of the
# checkout ROOT, and prints the path of the archive. The times in it are the commit's. `tar.umask` and gzip's -n keep
# settings and the time of the machine out.
archive_make() {
  local folder=$1 root=${2:-.} name
  name=kgen-$(project_version)
  mkdir -p "$folder"
  git -C "$root" -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$folder/$name.tar.gz"
  python3 tools/sbom.py --archive "$folder/$name.tar.gz" --time "$(git -C "$root" log -1 --format=%ct)" \
    >"$folder/$name.spdx.json"
  printf '%s\n' "$folder/$name.tar.gz"
}

# archive_fetch ARCHIVE FOLDER [TARGET...]: configures the project of a user that fetches the archive, and builds the
# targets (default: all) and runs its test.
archive_fetch() {
  local archive=$1 folder=$2 hash
  shift 2
  hash=$(sha256sum "$archive")
  cmake -G Ninja -S tests/package/user -B "$folder" -DCMAKE_BUILD_TYPE=Release -DKGEN_JOIN_SOURCES=ON \
    -DKGEN_ARCHIVE="$PWD/$archive" -DKGEN_ARCHIVE_HASH="${hash%% *}" \
    -DKGEN_EXECUTABLE="$PWD/build/dev/bin/kgen" -DKGEN_CRD_EXECUTABLE="$PWD/build/dev/bin/kgen-crd" &&
    cmake --build "$folder" --parallel "$jobs" ${1:+--target "$@"}
}

verb_archive() {
  local archive changed
  changed=$(git status --porcelain | wc -l)
  [ "$changed" -eq 0 ] || say "dev: the archive has the last commit, without $changed changed files of the checkout"
  archive=$(archive_make build/archive)
  printf '%s\n' "$archive" "${archive%.tar.gz}.spdx.json"
  [ "${1:-}" = --try ] || return 0
  need_setup
  configure dev
  build dev kgen
  rm -rf build/archive/fetched
  archive_fetch "$archive" build/archive/fetched >&2
  (cd build/archive/fetched && ./user_test)
}
