# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command debian: makes the Debian packages from the source archive, and uses them as a user would. Everything happens in
# roots that mmdebstrap makes of a mirror, so what is installed here cannot help. Needs root.

debian_root=build/debian

# debian_suites SUITE: the sources of packages. LLVM 22 comes from the suite for security.
debian_suites() {
  local mirror=${KGEN_DEBIAN_MIRROR:-http://deb.debian.org}
  printf 'deb %s main\n' "$mirror/debian $1" "$mirror/debian $1-updates" "$mirror/debian-security $1-security"
}

# debian_base SUITE FOLDER [PACKAGE...]: makes a minimal system with the packages, once. Without usr-is-merged, the minbase
# of bookworm installs the whole of Perl.
debian_base() {
  local suite=$1 folder=$2 sources options=()
  shift 2
  [ ! -e "$folder" ] || return 0
  say "dev: making $folder (some minutes, once)"
  [ "$suite" != bookworm ] ||
    options=(--include=usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr)
  mapfile -t sources < <(debian_suites "$suite")
  mkdir -p "$(dirname "$folder")"
  mmdebstrap --variant=minbase --mode=root --include="$(IFS=, && printf '%s' "ca-certificates${*:+,$*}")" "${options[@]}" \
    --aptopt='Acquire::Retries "3"' "$suite" "$folder.part" "${sources[@]}" >"$folder.log" 2>&1 || {
    rm -rf "$folder.part"
    tail -n 20 "$folder.log" >&2
    die "mmdebstrap made no $suite (see above, and $folder.log); it needs root and a mirror of Debian"
  }
  mv "$folder.part" "$folder"
}

# debian_in ROOT COMMANDS: runs commands of the shell in the root, with /proc, /dev and the compiler's cache, and the
# folder that KGEN_ROOT_BIND=FOLDER:PLACE names. The mounts end with the commands.
debian_in() {
  local root=$1 cache=${CCACHE_DIR:-$HOME/.cache/ccache} bind=${KGEN_ROOT_BIND:-}
  mkdir -p "$root/ccache" "$cache"
  # shellcheck disable=SC2016
  unshare --mount sh -ec '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount --bind "$3" "$1/ccache"
    [ -z "$4" ] || mount --bind "${4%%:*}" "$1${4#*:}"
    exec chroot "$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 CCACHE_DIR=/ccache \
      CCACHE_COMPILERCHECK=content DEBIAN_FRONTEND=noninteractive sh -ec "$2"' sh "$root" "$2" "$cache" "$bind"
}

# debian_build SUITE: the packages in build/debian/SUITE/packages, built in a root with nothing but what debian/control
# asks for (and ccache), and checked by lintian. Every warning of lintian is a failure.
debian_build() {
  local suite=$1 root=$debian_root/$1/root archive name log=$debian_root/$1/build.log
  debian_base "$suite" "$root" build-essential debhelper ccache lintian
  archive=$(archive_make "$debian_root/$suite")
  name=$(basename "$archive" .tar.gz)
  rm -rf "$root/build" "$debian_root/$suite/packages"
  mkdir -p "$root/build" "$debian_root/$suite/packages"
  tar -xzf "$archive" -C "$root/build"
  # What Debian calls the upstream source has no debian/ of its own.
  gzip -dc "$archive" | tar --delete -f - "$name/debian" | gzip -9n >"$root/build/kgen_${name#kgen-}.orig.tar.gz"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  say "dev: building the packages of $suite (most of an hour without the compiler's cache; $log)"
  debian_in "$root" "apt-get -q update
    apt-get -q -y -o Acquire::Retries=3 build-dep '/build/$name'
    cd '/build/$name'
    dpkg-buildpackage -us -uc -j$jobs
    lintian --fail-on error,warning --info --tag-display-limit 0 ../kgen_*.changes" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    return 1
  }
  cp "$root"/build/*.deb "$root"/build/*.dsc "$root"/build/*.changes "$debian_root/$suite/packages"
}

# debian_use SUITE: installs the packages in a copy of a bare root, and runs debian/tests there.
debian_use() {
  local suite=$1 base=$debian_root/$1/bare root=$debian_root/$1/used log=$debian_root/$1/use.log
  debian_base "$suite" "$base" g++ cmake ninja-build
  rm -rf "$root"
  cp -a "$base" "$root"
  mkdir "$root/packages"
  cp "$debian_root/$suite/packages"/*.deb "$root/packages"
  cp -R debian/tests tests/package/user "$root/packages"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  # First what a program needs to run, and no more: the shared library alone.
  debian_in "$root" "apt-get -q update
    apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends /packages/libkgen0.2_*.deb
    apt-get -q -y -o Acquire::Retries=3 install --no-install-recommends /packages/libkgen-dev_*.deb /packages/kgen_*.deb
    cd /packages
    AUTOPKGTEST_TMP=/packages/work sh tests/installed /packages/user" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    return 1
  }
  rm -rf "$root"
}

debian_case() {
  local name=$1
  shift
  if "$@"; then
    debian_passed=$((debian_passed + 1))
    printf 'ok      %s\n' "$name"
  else
    debian_failed=$((debian_failed + 1))
    printf 'FAILED  %s\n' "$name"
  fi
}

verb_debian() {
  local suite debian_passed=0 debian_failed=0
  [ "$(id -u)" -eq 0 ] || die "debian needs root, for mmdebstrap, chroot and mount"
  need_setup
  source tools/dev/archive.sh
  [ $# -gt 0 ] || set -- bookworm trixie
  for suite in "$@"; do
    [[ $suite =~ ^(bookworm|trixie)$ ]] || die "usage: ./dev debian [bookworm] [trixie]"
    debian_case "$suite: the packages are built, and lintian has nothing to say" debian_build "$suite"
    debian_case "$suite: programs build and run against the installed packages" debian_use "$suite"
  done
  printf '%d passed, %d failed, 0 skipped\n' $debian_passed $debian_failed
  [ $debian_failed -eq 0 ]
}
