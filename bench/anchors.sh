#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# bench/anchors.sh KGEN CRD...: how many objects of real CRDs are which built-in type, and why others that come close are
# not. Each file is a run of its own.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kgen=$1
shift
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
for file in "$@"; do
  "$kgen" generate --dry-run --verbose --out /nowhere --namespace measured --group-names full \
    --use "k8s=$root/openapi/kubernetes-1.36" "$file" 2>&1 | grep -E '\[(built-in|own)-type\]$' >>"$notes" || true
done
echo "objects of a built-in type:"
sed -n 's/.* note: .* is \(.*\), without .*\[built-in-type\]/\1/p' "$notes" | sed 's/.*:://' | sort | uniq -c | sort -rn
echo "objects that come close to one:"
sed -n 's/.* has a type of its own: it is \(no [A-Za-z]*\), because .*/\1/p' "$notes" | sort | uniq -c | sort -rn
