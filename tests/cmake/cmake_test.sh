#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# What kgen_add_api does when CMake configures. Each case is a small project; nothing is built. Writes the cases to the
# file that GTEST_OUTPUT names, in gtest's form, so that they count.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
output=${GTEST_OUTPUT:-xml:/dev/null}
output=${output#xml:}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0 cases=0
: >"$output"
touch "$tree/a.yaml" "$tree/b.yaml" "$tree/a.h" "$tree/b.h"

# configure TEXT: a project with these lines, which has a tool and a runtime.
configure() {
  cat >"$tree/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
add_executable(kgen::kgen IMPORTED GLOBAL)
set_target_properties(kgen::kgen PROPERTIES IMPORTED_LOCATION /bin/true)
add_executable(kgen::kgen_crd IMPORTED GLOBAL)
set_target_properties(kgen::kgen_crd PROPERTIES IMPORTED_LOCATION /bin/true)
add_library(kgen::runtime INTERFACE IMPORTED GLOBAL)
include("$root/cmake/KgenGenerate.cmake")
$1
EOF
  cmake -G Ninja -S "$tree" -B "$tree/build" -DCMAKE_CXX_COMPILER_WORKS=1 2>&1 | tr -s ' \n' ' '
  return "${PIPESTATUS[0]}"
}

# finish NAME PROBLEM: notes the case; an empty PROBLEM is a pass.
finish() {
  local failure=
  cases=$((cases + 1))
  if [ -n "$2" ]; then
    failures=$((failures + 1))
    failure=$'\n<failure/>\n'
    printf 'FAILED %s: %s\n' "$1" "$2"
  fi
  printf '<testcase name="%s" status="run" result="completed" classname="CMake">%s</testcase>\n' "$1" "$failure" >>"$output"
}

# refuses NAME TEXT WORDS: configuring fails, and the message holds the words.
refuses() {
  local said problem=
  if said=$(configure "$2"); then problem="it was configured"; fi
  [[ $said == *"$3"* ]] || problem="expected '$3' in: $said"
  finish "$1" "$problem"
}

# makes NAME TEXT WORDS: configuring succeeds, and the rules of the build hold the words.
makes() {
  local said problem=
  said=$(configure "$2") || problem="it was refused: $said"
  grep -qF -- "$3" "$tree/build/build.ninja" || problem="${problem:-"expected '$3' in build.ninja"}"
  finish "$1" "$problem"
}

makes TwoApisHaveNamespacesOfTheirOwn $'kgen_add_api(a CRDS a.yaml NAMESPACE acme)\nkgen_add_api(b CRDS b.yaml NAMESPACE acme::b)' \
  "--namespace acme::b"
refuses OneNamespaceBelongsToOneApi $'kgen_add_api(a CRDS a.yaml NAMESPACE acme)\nkgen_add_api(b CRDS b.yaml NAMESPACE acme)' \
  "kgen_add_api(b): the namespace 'acme' is already that of a, made in $tree;"
mkdir "$tree/inside"
echo 'kgen_add_api(b CRDS ../b.yaml NAMESPACE acme)' >"$tree/inside/CMakeLists.txt"
refuses OneNamespaceBelongsToOneApiOfAllFolders $'add_subdirectory(inside)\nkgen_add_api(a CRDS a.yaml NAMESPACE acme)' \
  "kgen_add_api(a): the namespace 'acme' is already that of b, made in $tree/inside;"
refuses TheNamespaceOfTheBuiltInApiIsReserved 'kgen_add_api(a CRDS a.yaml NAMESPACE k8s)' \
  "kgen_add_api(a): the namespace k8s is that of the built-in API"
refuses WhatIsBelowTheNamespaceOfTheBuiltInApiIsReserved 'kgen_add_api(a CRDS a.yaml NAMESPACE k8s::shop)' \
  "the namespace k8s is that of the built-in API"
makes ANamespaceMayBeginLikeTheReservedOne 'kgen_add_api(a CRDS a.yaml NAMESPACE k8sx)' "--namespace k8sx"
makes GroupNamesReachTheTool 'kgen_add_api(a CRDS a.yaml NAMESPACE acme GROUP_NAMES full a.example.com=one)' \
  "--group-names full --group-names a.example.com=one"

makes UsedApisReachTheToolWithWhatTheyUse \
  $'kgen_add_api(a CRDS a.yaml NAMESPACE acme GROUP_NAMES full)\nkgen_add_api(b CRDS b.yaml NAMESPACE b USES a)
kgen_add_api(c CRDS b.yaml NAMESPACE c USES b a TYPES x.y:z=own)' \
  "--use acme=$tree/a.yaml --use b=$tree/b.yaml --use-group-names acme=full --type x.y:z=own --depfile"
makes ALibraryOfTheBuiltInApiNamesItsDocuments \
  $'set_property(GLOBAL PROPERTY KGEN_OPENAPI_DIR /documents)\nadd_library(kgen::k8s_core INTERFACE IMPORTED GLOBAL)
set_target_properties(kgen::k8s_core PROPERTIES KGEN_USE "k8s=api__v1.json;k8s=other.json")
kgen_add_api(a CRDS a.yaml NAMESPACE acme USES kgen::k8s_core)' \
  "--use k8s=/documents/api__v1.json --use k8s=/documents/other.json --depfile"
refuses AUsedApiIsATarget 'kgen_add_api(a CRDS a.yaml NAMESPACE acme USES b)' \
  "kgen_add_api(a): USES names b, which is not a target; name one that exists already"
refuses AUsedApiIsAGeneratedApi 'kgen_add_api(a CRDS a.yaml NAMESPACE acme USES kgen::runtime)' \
  "kgen_add_api(a): USES names kgen::runtime, which is not a generated API"

makes AnApiOfHeadersUsesApisOfBothKinds \
  $'kgen_add_api(a CRDS a.yaml NAMESPACE a GROUP_NAMES full)\nkgen_add_api(b HEADERS b.h NAMESPACE b USES a)
kgen_add_api(c HEADERS a.h NAMESPACE c USES b)' \
  "--use a=$tree/a.yaml --use b --use-group-names a=full --depfile"
makes TheOptionsOfHeadersReachTheTool 'kgen_add_api(a HEADERS a.h NAMESPACE acme EMBEDDED_METADATA MAX_DESCRIPTION 0 CONVERSION shop/hooks)' \
  "--embedded-metadata --max-description 0 --conversion shop/hooks --depfile"
makes TheCrdsOfHeadersCanBeInstalled \
  $'kgen_add_api(a HEADERS a.h NAMESPACE acme)
add_custom_target(where ALL COMMAND echo "$<TARGET_PROPERTY:a,KGEN_CRD_DIR>/")' \
  "echo $tree/build/a.kgen/crds/"
refuses OptionsOfHeadersAreNotThoseOfCrds 'kgen_add_api(a CRDS a.yaml NAMESPACE acme MAX_DESCRIPTION 9)' \
  "EMBEDDED_METADATA, MAX_DESCRIPTION and CONVERSION are for an API of HEADERS"
refuses AnApiOfCrdsCannotUseOneOfHeaders \
  $'kgen_add_api(a HEADERS a.h NAMESPACE a)\nkgen_add_api(b CRDS b.yaml NAMESPACE b USES a)' \
  "kgen_add_api(b): USES names an API of headers, 'a', whose types only another API of HEADERS can use"

makes ProjectionsNameTheApisThatHaveTheirKinds \
  $'kgen_add_api(a CRDS a.yaml NAMESPACE acme GROUP_NAMES full)
kgen_add_projections(p NAMESPACE acme::parts FILES b.yaml USES a)' \
  "project --out $tree/build/p.kgen/include --namespace acme::parts --use acme=$tree/a.yaml --use-group-names acme=full"
refuses OneNamespaceHasTheProjectionsOfOneTarget \
  $'kgen_add_api(a CRDS a.yaml NAMESPACE acme)\nkgen_add_projections(p NAMESPACE parts FILES b.yaml USES a)
kgen_add_projections(q NAMESPACE parts FILES b.yaml USES a)' \
  "kgen_add_projections(q): the namespace 'parts' already has the projections of p, made in $tree;"
refuses ProjectionsNeedFilesAndApis 'kgen_add_projections(p NAMESPACE parts FILES b.yaml)' \
  "kgen_add_projections(p): name at least one file after FILES, and after USES the APIs that have the kinds"
refuses ProjectionsSayWhichApiIsMissing 'kgen_add_projections(p NAMESPACE parts FILES b.yaml USES z)' \
  "kgen_add_projections(p): USES names z, which is not a target"
refuses ThereAreNoProjectionsOfHeaders \
  $'kgen_add_api(a HEADERS a.h NAMESPACE a)\nkgen_add_projections(p NAMESPACE parts FILES b.yaml USES a)' \
  "kgen_add_projections(p): USES names an API of headers, 'a'; there are projections of APIs of documents and CRDs only"

printf '%d passed, %d failed, 0 skipped\n' $((cases - failures)) "$failures"
[ "$failures" -eq 0 ]
