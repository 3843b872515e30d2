# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Command walk: walks the path of docs/start in a bare Debian, with the commands that stand on the pages, and says how
# long each step takes. Needs root and a mirror.

# walk_block PAGE N: the Nth block of shell commands of a page of docs/start.
walk_block() {
  awk -v want="$2" '/^```sh$/ { inside = ++n == want; next } /^```/ { inside = 0 } inside' "docs/start/$1.md"
}

# walk_step WHAT COMMANDS: runs the commands in the home folder of the root.
walk_step() {
  local begun=$SECONDS
  if debian_in "$walk_root" "cd; $2" >>"$walk_log" 2>&1; then
    walk_passed=$((walk_passed + 1))
    printf 'ok      %4d s  %s\n' $((SECONDS - begun)) "$1"
  else
    printf 'FAILED  %4d s  %s\n' $((SECONDS - begun)) "$1"
    tail -n 20 "$walk_log" >&2
    die "the path ends here; $walk_log has the output of all steps"
  fi
}

verb_walk() {
  local suite=${1:-bookworm} walk_root walk_log walk_passed=0
  [[ $suite =~ ^(bookworm|trixie)$ ]] || die "usage: ./dev walk [bookworm|trixie]"
  [ "$(id -u)" -eq 0 ] || die "walk needs root, for mmdebstrap, chroot and mount"
  need_setup
  source tools/dev/debian.sh
  source tools/dev/archive.sh
  walk_root=build/walk/$suite walk_log=$PWD/build/walk/$suite.log
  debian_base "$suite" "build/walk/$suite-bare"
  rm -rf "$walk_root"
  cp -a "build/walk/$suite-bare" "$walk_root"
  cp /etc/resolv.conf "$walk_root/etc/resolv.conf"
  mkdir "$walk_root/root/kgen"
  tar -xzf "$(archive_make build/walk)" -C "$walk_root/root/kgen" --strip-components=1
  # What the reader copies from the pages.
  cp -R docs/start/programs/watcher docs/start/programs/website "$walk_root/root"
  : >"$walk_log"

  say "dev: docs/start/ten-minutes.md"
  walk_step "packages" "$(walk_block ten-minutes 1)"
  walk_step "kgen is built and installed" "$(walk_block ten-minutes 2)"
  walk_step "the program is built" "$(walk_block ten-minutes 3)"
  walk_step "it watches the pods of the server in memory" "
    $(walk_block ten-minutes 5) & server=\$!
    until [ -s kubeconfig ]; do sleep 0.1; done
    $(walk_block ten-minutes 6 | sed 's/ watcher/ timeout 10 watcher/') >printed || [ \$? -eq 124 ]
    kill \$server
    cat printed
    grep 'pods; watching' printed"

  say "dev: docs/start/controller.md"
  walk_step "LLVM, and the generator is built" "$(walk_block controller 1)"
  walk_step "the controller is built" "$(walk_block controller 2)"
  walk_step "its test passes" "$(walk_block controller 5)"
  walk_step "it installs its kind in the server in memory, and works" "
    rm -f kubeconfig
    watcher/build/local_cluster kubeconfig & server=\$!
    until [ -s kubeconfig ]; do sleep 0.1; done
    KUBECONFIG=kubeconfig timeout 10 website/build/website_controller --install || [ \$? -eq 124 ]
    kill \$server"
  walk_step "it prints its role, and kgen-crd its writes" "PATH=\$HOME/kgen-install/bin:\$PATH; $(walk_block controller 6)"
  printf '%d passed, 0 failed, 0 skipped\n' $walk_passed
}
