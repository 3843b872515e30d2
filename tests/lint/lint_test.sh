#!/usr/bin/env bash
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# Shows each lint rule firing on a bad file and silent on a good one. Each case makes a small tree, runs one rule on it
# and looks for the finding. Writes the cases to the file that GTEST_OUTPUT names, in gtest's form, so that they count.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
output=${GTEST_OUTPUT:-xml:/dev/null}
output=${output#xml:}
mark='// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0'
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0 cases=0
: >"$output"

# file PATH TEXT: one file of the bad tree.
file() {
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "$2" >"$tree/$1"
}

rule() {
  # In a subshell: the rules share variables with ./dev.
  (
    jobs=2 KGEN_LINT_ROOT=$tree KGEN_LINT_CACHE=$tree/.cache
    source tools/dev/common.sh
    source tools/dev/lint.sh
    run_rule "$1"
  ) 2>&1
}

# finish NAME PROBLEM: notes the case, empty PROBLEM is a pass, and clears the tree.
finish() {
  local failure=
  cases=$((cases + 1))
  if [ -n "$2" ]; then
    failures=$((failures + 1))
    failure=$'\n<failure/>\n'
    printf 'FAILED %s: %s\n' "$1" "$2"
  fi
  printf '<testcase name="%s" status="run" result="completed" classname="Lint">%s</testcase>\n' "$1" "$failure" >>"$output"
  find "$tree" -mindepth 1 -delete
}

# fires NAME RULE WORDS: the rule must fail, and its findings must hold the words.
fires() {
  local found problem=
  if found=$(rule "$2"); then problem="the rule $2 passed"; fi
  [[ $found == *"$3"* ]] || problem="expected '$3' in: $found"
  finish "$1" "$problem"
}

silent() {
  local found problem=
  found=$(rule "$2") || problem="the rule $2 found: $found"
  finish "$1" "$problem"
}

file .clang-format "$(cat .clang-format)"
file runtime/src/core/a.cc "$mark
int  x;"
fires FormatFindsASpaceTooMany format "runtime/src/core/a.cc:1: 1 places"

file runtime/src/core/a.cc '#include "kgen/cache/snapshot.h"'
fires ArrowsFindALayerThatLooksUp arrows "layer core may not use layer cache"
file runtime/src/client/a.cc '#include "cache/queue.h"'
fires ArrowsFindAPrivateHeaderOfALaterLayer arrows "layer client may not use layer cache"
file runtime/src/cache/a.cc '#include "kgen/testing/cluster.h"'
fires ArrowsFindTheRuntimeUsingItsTestKit arrows "layer cache may not use layer testing"
file runtime/src/cache/a.cc '#include "kgen/validation/validate.h"'
fires ArrowsFindTheRuntimeUsingValidation arrows "only testing may use validation"
file runtime/src/codec/a.cc '#include "llvm/Support/JSON.h"'
fires ArrowsFindLlvmInTheRuntime arrows "only generator/ may use LLVM"
file generated/k8s/core/v1/pod.h '#include "clang/AST/Decl.h"'
fires ArrowsFindClangInGeneratedCode arrows "only generator/ may use LLVM"
file generated/k8s/core/v1/pod.h '#include "codec/decoder.h"'
fires ArrowsFindAPrivateHeaderInGeneratedCode arrows "a private header of the runtime"
file runtime/src/cache/a.cc '#include "k8s/core/v1/pod.h"'
fires ArrowsFindTheRuntimeUsingGeneratedCode arrows "the runtime does not know generated code"
file generator/a.cc '#include "kgen/cache/snapshot.h"'
fires ArrowsFindTheGeneratorUsingTheCache arrows "the generator uses core, codec and validation only"
file runtime/src/testing/a.cc '#include "kgen/cache/factory.h"'
file runtime/src/cache/a.cc '#include "client/watch_stream.h"'
file generator/a.cc '#include "llvm/Support/JSON.h"'
file generator/b.cc '#include "kgen/core/string.h"'
silent ArrowsLetTheRightDirectionPass arrows

file README.md '### Not implemented yet

* No webhooks.'
fires MissingFindsAnItemThatNamesNothing missing "README.md:3: an item without"
file README.md '### Not implemented yet

* No webhooks. <!-- absent: webhook.h -->
* No shards. <!-- absent: Options::shards -->'
file runtime/include/kgen/controller/webhook.h ''
fires MissingFindsAHeaderThatExists missing "README.md:3: webhook.h exists now"
file README.md '### Not implemented yet

* No webhooks, no shards.
  <!-- absent: webhook.h Options::shards -->

## Next'
file runtime/include/kgen/controller/a.h 'struct Options { int shards; };'
fires MissingFindsAMemberThatExists missing "README.md:3: Options::shards exists now"
file README.md '### Not implemented yet

* No shards. <!-- absent: Options::shards -->

## Next

| 7 | Missing: shards. <!-- absent: Options::shards --> |
| 8 | A missing shard. |'
file runtime/include/kgen/controller/a.h '// shards
struct Options { int other; };'
file runtime/include/kgen/testing/cluster.h '// Cluster: it lacks the following.
//
// * No scheduler. <!-- absent: scheduler -->
#define A
// * Not an item.'
file runtime/src/testing/a.cc 'int a;  // no scheduler'
silent MissingLetsTrueItemsPass missing
file tests/contract-coverage.md '| 7 | Missing: shards. |'
fires MissingFindsARowThatNamesNothing missing "contract-coverage.md:1: an item without"
file tests/contract-coverage.md '# Contract

Missing: shards. <!-- absent: Options::shards -->'
file runtime/include/kgen/controller/a.h 'struct Options { int shards; };'
fires MissingFindsASentenceThatIsNoLongerTrue missing "contract-coverage.md:3: Options::shards exists now"
file runtime/include/kgen/testing/cluster.h '// Cluster: it lacks the following.
//
// * No scheduler.
// * No endpoints. <!-- absent: endpoints -->'
fires MissingFindsAnItemOfAHeaderThatNamesNothing missing "cluster.h:3: an item without"
file runtime/include/kgen/testing/cluster.h '// Cluster: it lacks the following.
//
// * No scheduler, no
//   endpoints. <!-- absent: endpoints -->'
file runtime/src/testing/a.cc 'Serve("endpoints");'
fires MissingFindsWhatTheCodeOfTheLayerHas missing "cluster.h:3: endpoints exists now"

file docs/start/first.md '<!-- listing: docs/start/main.cc two -->
```cpp
int b;
```'
file docs/start/main.cc "$mark
int a;
// begin two
  int b;
// end two"
silent PagesLetAListingPassThatIsThePartOfTheFile pages
file docs/start/first.md '<!-- listing: docs/start/main.cc -->
```cpp
int b;
```'
file docs/start/main.cc "$mark
int a;"
fires PagesFindAListingThatIsNotTheFile pages "docs/start/first.md:3: is not what the sources say"
file docs/start/first.md '<!-- listing: docs/start/none.cc -->'
fires PagesFindAListingOfNoFile pages "no such file: docs/start/none.cc"
file docs/guides/first.md '```cpp
int b;
```'
fires PagesFindAProgramThatNothingCompiles pages "docs/guides/first.md:1: a program that nothing compiles"
file docs/operate/first.md '```
web: the port 80 is taken by a
```
<!-- says: the port | is free -->'
file runtime/src/a.cc 'auto x = "the "
         "port" + port + " is taken";'
fires PagesFindATextThatTheBlockLacks pages "the block above does not say 'is free'"
file docs/operate/first.md '```
web: the door is taken
```
<!-- says: the door | is taken -->'
file runtime/src/a.cc 'auto x = "the port" + port + " is taken";'
fires PagesFindATextThatNoSourceHas pages "docs/operate/first.md:4: no source says 'the door'"
file docs/migrate/other.md '| theirs | kgen |
|---|---|
| `New` | `Manager::New`, `Manager::Begin` |'
file runtime/include/kgen/controller/manager.h 'struct Manager { static Manager New(); };'
fires PagesFindANameThatKgenDoesNotHave pages "docs/migrate/other.md:3: nothing in kgen is called Begin"

order='| layer | rooms |
|---|---|
| cache | `store`, `queue`, (informers, factory) |
| generator | (files), `model`, `emit/plan` |'
file ARCHITECTURE.md "$order"
file runtime/src/cache/store/a.h '#include "cache/queue/b.h"'
file runtime/src/cache/queue/b.h ''
fires RoomsFindAnIncludeAgainstTheOrder rooms "room store may not use room queue"
file ARCHITECTURE.md "$order"
file runtime/src/cache/queue/a.h '#include "cache/c.h"'
file runtime/src/cache/c.h ''
fires RoomsFindTheSourcesThatConnectThem rooms "room queue may not use room cache"
file ARCHITECTURE.md "$order"
file runtime/src/cache/store/a.cc '#include "kgen/cache/b.h"'
file runtime/include/kgen/cache/b.h ''
file runtime/src/cache/queue/b.cc ''
fires RoomsFindAnIncludeOfAPublicHeader rooms "kgen/cache/b.h: room store may not use room queue"
file ARCHITECTURE.md "$order"
file runtime/src/cache/store/a.cc '#include "kgen/cache/shared_informer.h"'
file runtime/include/kgen/cache/shared_informer.h ''
fires RoomsFindAnIncludeOfAPublicHeaderWithoutASource rooms "room store may not use room cache"
file ARCHITECTURE.md "$order"
file runtime/include/kgen/cache/unknown.h ''
fires RoomsFindAPublicHeaderWithoutARoom rooms "add it to ROOM_OF_HEADER"
file ARCHITECTURE.md "$order"
file generator/emit/output/a.cc ''
fires RoomsFindAFolderThatTheTableLacks rooms "add it to the table of ARCHITECTURE.md"
for i in $(seq 41); do file "generator/emit/$i.cc" ''; done
fires RoomsFindAFolderOfTooManyFiles rooms "41 C++ files in one folder"
file ARCHITECTURE.md "$order"
file runtime/src/cache/store/a.h ''
file runtime/src/cache/queue/b.h '#include "cache/store/a.h"'
file runtime/src/cache/c.h '#include "cache/queue/b.h"'
file runtime/include/kgen/cache/shared_informer.h '#include "kgen/core/result.h"'
file generator/model/a.h '#include "generator/disk.h"'
file generator/disk.h ''
silent RoomsLetArrowsInOneDirectionPass rooms

file runtime/src/cache/store/a.h ''
file runtime/src/cache/store/a.cc '#include "cache/store/b.h"'
file runtime/src/cache/store/b.h '#include "cache/store/a.h"'
fires CirclesFindAHeaderAndASourceThatUseEachOther circles "runtime/src/cache/store/a -> runtime/src/cache/store/b"
file generator/model/a.h '#include "generator/model/b.h"'
file generator/model/b.h '#include "generator/model/c.h"'
file generator/model/c.cc '#include "generator/model/a.h"'
file generator/model/c.h ''
fires CirclesFindAWayThroughThreeFiles circles "makes a circle of files"
file tools/lint/allowed.txt 'circles runtime/src/cache/store/b.h cache/store/a.h a reason'
file runtime/src/cache/store/a.h ''
file runtime/src/cache/store/a.cc '#include "cache/store/b.h"'
file runtime/src/cache/store/b.h '#include "cache/store/a.h"'
file runtime/src/cache/store/c.h '#include "cache/store/b.h"'
silent CirclesLetAnAllowedOnePass circles

for name in boost/asio.hpp openssl/ssl.h nghttp2/nghttp2.h re2/re2.h yaml.h llvm/ADT/StringRef.h nlohmann/json.hpp; do
  file runtime/include/kgen/client/a.h "#include <$name>"
  fires "PublicFinds_${name//[^a-z0-9]/_}" public "$name: "
done
file runtime/include/kgen/cache/a.h '#include <gmock/gmock.h>'
fires PublicFindsGmockOutsideTheTestKit public "gmock/gmock.h: "
file runtime/include/kgen/testing/a.h '#include <gmock/gmock.h>'
silent PublicLetsTheTestKitHaveGmock public
file runtime/include/kgen/core/a.h '#include "core/private.h"'
fires PublicFindsAPrivateHeader public "by their full path"
file generated/k8s/a.h '#include "kgen/core/no_such.h"'
fires PublicFindsAHeaderThatIsNotThere public "no such public header"
file runtime/include/kgen/core/a.h '#define KGEN_TRY(x) x'
fires PublicFindsAMacro public "KGEN_TRY: public headers define no macro"

file runtime/include/kgen/core/a.h ''
file runtime/include/kgen/README.md '| `core/b.h` | letters |'
fires GuideFindsAHeaderThatItDoesNotName guide "does not name core/a.h"
file runtime/include/kgen/core/a.h ''
file runtime/include/kgen/README.md '| `core/a.h`, `core/b.h` | letters |'
fires GuideFindsANameWithoutAHeader guide "core/b.h: no such public header"
file runtime/include/kgen/core/a.h ''
file runtime/include/kgen/README.md '| `core/a.h` | letters |'
silent GuideLetsACompleteListPass guide

file generated/k8s/informers.h '#include "kgen/cache/informer.h"'
file runtime/include/kgen/cache/informer.h '#include <mutex>'
fires ReachFollowsIncludesToASlowHeader reach "runtime/include/kgen/cache/informer.h:1: <mutex>"

while read -r name code; do
  file runtime/src/cache/a.cc "$code"
  fires "BlockingFindsA$name" blocking "runtime/src/cache/a.cc:1: "
done <<'EOF'
ConditionVariable std::condition_variable_any ready_;
Future std::future<int> answer;
Promise std::promise<void> done;
Sleep std::this_thread::sleep_for(1s);
SleepOfC ::sleep(1);
Thread std::jthread worker([] {});
Semaphore std::counting_semaphore<1> gate(0);
Mutex std::shared_mutex mutex_;
StopTokenLoop while (!stop.stop_requested()) {
EOF
file runtime/src/cache/a.cc '// std::condition_variable would be wrong here
const char* kText = "sleep_for(1s)"; std::thread::id owner; clock.sleep(x);'
silent BlockingReadsNeitherCommentsNorText blocking
file tools/lint/allowed.txt 'blocking runtime/src/core/execution/waiter.cc std::promise not what is used there'
file runtime/src/core/execution/waiter.cc 'std::condition_variable ready_;'
fires BlockingAllowsOneWordNotTheFile blocking "condition_variable"
file tools/lint/allowed.txt 'blocking runtime/src/core/execution/waiter.cc condition_variable the waiter itself'
file runtime/src/core/execution/waiter.cc 'std::condition_variable ready_;'
silent BlockingKnowsTheAllowedFiles blocking

file runtime/src/cache/a.cc 'auto now = std::chrono::steady_clock::now();'
fires ClockFindsAReadOfTheClock clock "steady_clock::now: read the kgen::Clock"
file runtime/src/cache/a.cc 'std::random_device seed;'
fires ClockFindsChance clock "std::random_device"

file runtime/src/cache/a.cc 'timer_ = executor_->clock()->After(1s, kind, [self] { self->Post(); });'
fires TimersFindACallOfTheClock timers "clock()->After(: set the timer with core/post_timer.h"
file runtime/src/cache/a.cc 'timer_ = detail::PostAfter(*executor_, strand_, 1s, kind, [self] { self->Go(); });'
silent TimersLetTheReservedOnesPass timers

file runtime/src/core/a.cc "$(seq 801)"
fires LengthFindsALongFile length "801 lines; at most 800"
file runtime/src/core/a.cc "$(seq 800)"
silent LengthLetsEightHundredLinesPass length

file runtime/src/core/a.cc 'int x;'
fires CopyrightFindsAFileWithoutIt copyright "runtime/src/core/a.cc:1: the first line should be"

file docs/a.md "see /wor""k/main/docs"
fires WorkplaceFindsAPathOfAMachine workplace "docs/a.md:1: "

file templates/README.md 'The variables: `name`.'
file templates/type.mustache '{{name}} {{#fields}}x{{/fields}}'
fires TemplatesFindsAVariableNobodyListed templates "fields: not listed"

while read -r name comment; do
  file runtime/include/kgen/core/a.h "// Text. $comment"
  fires "IdsFind$name" ids "runtime/include/kgen/core/a.h:1: "
done <<'EOF'
ADecision [D9]
AnItem [COD-11]
AnItemOfANamedContract [INF RW-02]
SeveralItems [CLI TRN-10, TRN-11; D16]
AWholeSection [INF FA]
AnItemWithoutBrackets Held by GEN OUT-01.
ADecisionInParentheses unchanged (D6).
EOF
file runtime/include/kgen/core/a.h '// See [RFC 9110], UTF-8 and SHA-256; int cells[X1 + 1]; values_[index].'
silent IdsReadOtherBracketsAsText ids
file tests/a_test.cc 'TEST_P(InformerTest, TellsTheInitialState_CT_06_Q5) {'
fires IdsFindAnItemInTheNameOfATest ids "TellsTheInitialState_CT_06_Q5: the name of a test is a sentence"
file tests/a_test.cc $'// Contract: informer CT-06; invariant Q5.\nTEST_P(InformerTest, DeliversTheInitialState) {'
silent IdsLetTheCommentAboveATestNameItems ids
file tools/lint/allowed.txt 'ids runtime/src/core/a.cc - written by hand elsewhere'
file runtime/src/core/a.cc '// Text. [D9]'
silent IdsKnowTheAllowedFiles ids

# coverage_document ROWS: a document with one table.
coverage_document() {
  file tests/contract-coverage.md "## Informer

| item | meaning | tests |
|---|---|---|
$1"
}

coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: informer CT-06.\nTEST(A, DoesIt) {'
silent ContractsLetAnUpToDateTablePass contracts
coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: informer CT-06.\nTEST(A, DoesSomethingElse) {'
fires ContractsFindATableThatIsOutOfDate contracts "run ./dev contracts"
coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'TEST(A, DoesIt) {'
fires ContractsFindAnItemThatLostItsTest contracts "tests/contract-coverage.md:5: no test names CT-06"
coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: informer CT-06\nTEST(A, DoesIt) {'
fires ContractsFindACommentOfAnotherForm contracts "tests/a_test.cc:1: a contract comment is one line"
coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: informer CT06.\nTEST(A, DoesIt) {'
fires ContractsFindAnItemOfAnotherForm contracts "tests/a_test.cc:1: 'informer CT06'"
coverage_document '| CT-06 | The store decides. | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: client TRN-10; informer CT-06.\nTEST(A, DoesIt) {'
fires ContractsFindAContractWithoutATable contracts "no heading '## client'"
coverage_document '| CT-06 |  | `A.DoesIt` |'
file tests/a_test.cc $'// Contract: informer CT-06.\nTEST(A, DoesIt) {'
fires ContractsFindAnItemWithoutAMeaning contracts "tests/contract-coverage.md:5: an item without a meaning"
coverage_document $'| CT-06 | The store decides. | `A.DoesIt` |\n\nSee also `A.DidIt`.'
file tests/a_test.cc $'// Contract: informer CT-06.\nTEST(A, DoesIt) {'
fires ContractsFindATestThatDoesNotExist contracts "tests/contract-coverage.md:7: there is no test A.DidIt"

file runtime/include/kgen/core/a.h 'inline std::string text;'
fires HeadersFindsAMissingInclude headers "does not compile alone with g++"
file runtime/include/kgen/core/a.h 'inline int twice;'
fires HeadersFindsAMissingGuard headers "does not compile alone"
file runtime/include/kgen/core/a.h $'#ifndef A_H_\n#define A_H_\nstruct A { int a; int b; };\ninline bool operator==(A x, A y) { return x.a == y.a; }\n#endif'
silent HeadersLetAGoodHeaderPass headers

# api_document FIELD: the API of the tree, one kind whose spec has that field.
api_document() {
  file openapi/orders.yaml "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: orders.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Order, plural: orders}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {$1: {type: string}}}}}"
}

# api_tree FIELD: a tree whose last commit has the field `size`, and whose document has FIELD instead.
api_tree() {
  api_document size
  git -C "$tree" init -q
  git -C "$tree" add openapi
  git -C "$tree" -c user.name=a -c user.email=a@example.com commit -qm 'Add orders'
  api_document "$1"
}
export KGEN_LINT_BASE=HEAD
if [ -x "${KGEN_EXECUTABLE:-}" ]; then
  api_tree weight
  fires ApiFindsABreakThatIsNotListed api "list this break since HEAD: shop.example.com/v1 Order.size: the field is gone"
  api_tree weight
  file openapi/breaks.txt $'# why\nshop.example.com/v1 Order.size: the field is gone
shop.example.com/v1 Order.size: the member size is gone'
  silent ApiLetsAListedBreakPass api
  api_tree size
  silent ApiLetsTheSameDocumentPass api
  api_tree size
  git -C "$tree" tag v0.1.0
  api_document weight
  git -C "$tree" -c user.name=a -c user.email=a@example.com commit -qam 'Weigh orders'
  fires ApiComparesWithTheLastRelease api "list this break since v0.1.0: "
  api_tree size
  file openapi/orders.yaml 'openapi: 3'
  fires ApiFindsADocumentThatCannotBeCompared api "kgen diff cannot compare it with HEAD"
fi
unset KGEN_LINT_BASE

# alone_tree FOLDER INCLUDE: a tree whose last commit has a header that includes <string> for a source in FOLDER, and
# whose header includes INCLUDE instead.
alone_tree() {
  file "$1/a.h" '#include <string>'
  file "$1/a.cc" $'#include "a.h"\nstd::string text;'
  file build/dev/compile_commands.json \
    '[{"directory": "'"$tree"'", "command": "c++ -std=c++23 -I. -c '"$1"'/a.cc", "file": "'"$1"'/a.cc"}]'
  git -C "$tree" init -q
  git -C "$tree" add "$1"
  git -C "$tree" -c user.name=a -c user.email=a@example.com commit -qm 'Add a'
  file "$1/a.h" "#include <$2>"
}
export KGEN_LINT_BASE=HEAD
alone_tree generator cstddef
fires AloneFindsASourceWhoseHeaderHasLostAnInclude alone "generator/a.cc:1: does not compile alone; it lacks an include"
alone_tree runtime/src/core cstddef
fires AloneFindsASourceOfTheRuntime alone "runtime/src/core/a.cc:1: does not compile alone; it lacks an include"
alone_tree generator cstddef
file generator/a.cc $'#include "a.h"\nstd::size_t size;'
silent AloneLetsASourcePassThatIncludesWhatItUses alone
unset KGEN_LINT_BASE

# described_tree TEXT LISTED: an API of one type, its descriptions, and the allowed numbers.
described_tree() {
  file openapi/kubernetes-1/a.json '{"components": {"schemas": {
    "io.k8s.api.apps.v1.Order": {"properties": {"kind": {}, "metadata": {}, "spec": {}, "$ref": {}}},
    "io.k8s.api.apps.v1.OrderList": {"properties": {"kind": {}, "metadata": {}, "items": {}}}}}}'
  file openapi/kubernetes-1/descriptions/apps.v1.yaml "$1"
  file openapi/undescribed.txt "$2"
}
order=$'Order:\n  text: An order.\n  members:\n    "$ref": {text: A.}'
described_tree "$order" 'apps.v1 1'
silent DescribedLetsTheListedNumberPass described
described_tree "$order"$'\n    spec:\n      text: A.' '# none'
silent DescribedWantsNothingThatFollowsARule described
described_tree 'Order:' 'apps.v1 1'
fires DescribedFindsWhatHasNoDescription described 'openapi/undescribed.txt:1: apps.v1: 3 types and members have no description, 1 may'
described_tree "$order" 'apps.v1 2'
fires DescribedWantsTheNumberToFall described "only 1 have no description now: sed -i 's/^apps.v1 .*/apps.v1 1/' openapi/undescribed.txt"
described_tree "$order" $'apps.v1 1\nbatch.v1 1'
fires DescribedFindsALineWithoutADocument described 'openapi/undescribed.txt:2: batch.v1: no document has this group version'
described_tree "$order"$'\n    spec:\n      text: A. B needs C.' 'apps.v1 0'
silent DescribedLetsTwoSentencesPass described
described_tree "$order"$'\n    spec:\n      text: A. B needs C. It is D.' 'apps.v1 0'
fires DescribedFindsThreeSentences described 'descriptions/apps.v1.yaml:6: 3 sentences; a description has at most two'
described_tree "$order"$'\n    spec:\n      text: A.' '# none'
file openapi/kubernetes-1/descriptions/batch.v1.yaml $'Job:\n  text: A.\nCronJob:\n  text: A.'
fires DescribedFindsATextThatShouldBeShared described 'the description occurs three times; write it once, in shared.yaml'
generated=$'// Code generated by kgen.\n// An order.\nstruct Order {\n  // The price.\n  kgen::Optional<Price> price = kgen::kAbsent;'
file generated/k8s/types.h "$generated"$'\n  kgen::UnknownFields unknown_fields{};\n  static const kgen::TypeTable kTable;'
silent DescribedLetsACommentedStructPass described
file generated/k8s/types.h "$generated"$'\n  kgen::List<kgen::String> names{};'
fires DescribedFindsAMemberWithoutAComment described 'generated/k8s/types.h:6: names has no comment'
file generated/k8s/types.h $'// Code generated by kgen.\n\nstruct Order {'
fires DescribedFindsAStructWithoutAComment described 'generated/k8s/types.h:3: Order has no comment'
file generated/k8s/types.h "$generated"$'\n  // The names that the... Default: `[]`.\n  kgen::List<kgen::String> names{};'
fires DescribedFindsACommentThatIsCut described 'generated/k8s/types.h:6: the comment is cut'

file runtime/src/core/a.cc $'// Returns the name, which differs from that\n// of the caller.\nint x;'
fires EnglishFindsThatOfAcrossTwoLines english 'runtime/src/core/a.cc:1: that of: say the noun again'
file runtime/src/core/a.cc 'int x;  // those of the caller'
fires EnglishFindsThoseOfBehindCode english 'runtime/src/core/a.cc:1: those of: say the noun again'
file runtime/src/core/a.cc $'int x;\n// The same for y.\nint y;'
fires EnglishFindsACommentThatLeansOnItsNeighbour english 'runtime/src/core/a.cc:2: The same: a comment is a sentence of its own'
file openapi/kubernetes-1/descriptions/apps.v1.yaml $'A:\n  text: The name, or that of the pod.'
fires EnglishReadsDescriptions english 'descriptions/apps.v1.yaml:2: that of'
file docs/a.md $'A page that\nof course says everything.'
fires EnglishReadsPages english 'docs/a.md:1: that of'
file runtime/src/core/a.cc $'// Returns the name, like the caller\'s.\n// The same name may come twice. https://that.of/it\nconst char* x = "// that of";'
silent EnglishLetsSentencesPass english

# tidy_tree HEADER_TEXT: a tree whose one source includes that header.
tidy_tree() {
  file .clang-tidy "$(cat .clang-tidy)"
  file build/dev/compile_commands.json \
    '[{"directory": "'"$tree"'", "command": "c++ -std=c++23 -c runtime/src/core/a.cc", "file": "runtime/src/core/a.cc"}]'
  file runtime/src/core/a.h "$1"
  file runtime/src/core/a.cc '#include "a.h"'
}
tidy_tree 'struct not_our_case {};'
fires TidyFindsAFaultInAHeaderToo tidy-all "runtime/src/core/a.h:1:8: error: invalid case style for struct 'not_our_case'"
tidy_tree 'struct OurCase {};'
silent TidyLetsAGoodFilePass tidy-all

printf '%d passed, %d failed, 0 skipped\n' $((cases - failures)) "$failures"
[ "$failures" -eq 0 ]
