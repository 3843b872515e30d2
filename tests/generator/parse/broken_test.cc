// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Broken inputs as users have them: each ends in an error with file, line, cause and a way out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "tests/generator/load.h"

namespace kgen::generator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// Lists of aliases of lists of aliases: nine to the power of `levels` values.
std::string AliasBomb(int levels) {
  std::string out = "a0: &a0 [" + Repeated("x,", 9) + "]\n";
  for (int i = 1; i < levels; ++i) {
    const std::string before = "*a" + std::to_string(i - 1) + " ,", name = "a" + std::to_string(i);
    out.append(name).append(": &").append(name).append(" [").append(Repeated(before, 9)).append("]\n");
  }
  return out;
}

std::string Crd(const std::string& spec) {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
         "metadata: {name: orders.x.com}\nspec: " +
         spec + "\n";
}

struct Case {
  const char* name;
  std::string text, position, message, hint;
};

const Case kCases[] = {
    {"cut off", "kind: CustomResourceDefinition\nspec: {a: [1,", "3:1", "did not find", "correct the text"},
    {"an open quote", "description: \"foo\nkind: x\n", "3:1", "that begins at 1:14", "correct the text"},
    {"a tab", "spec:\n\tgroup: x\n", "2:1", "cannot start any token", "indent with spaces"},
    {"wrong indentation", "a:\n    b: 1\n  c: 2\n", "3:3", "begins at 1:1", "correct the text"},
    {"a colon in text", "description: foo: bar\n", "1:17", "mapping values are not allowed", "correct the text"},
    {"an unknown alias", "apiVersion: *v\n", "1:13", "alias *v has no anchor", "correct the text"},
    {"a cyclic alias", "a: &a [*a]\n", "1:8", "refers to a value that contains it", "correct the text"},
    {"an alias bomb", AliasBomb(12), "6:", "aliases expand to more than 100000", "write fewer aliases of aliases"},
    {"a wrong merge key", "<<: 5\n", "1:5", "a merge key (<<) takes a map", "correct the text"},
    {"a key twice", "kind: a\nb: 1\nkind: b\n", "3:1", "duplicate key \"kind\", first at 1:1", "remove one of the two"},
    {"a byte order mark", "\xEF\xBB\xBFkind: [\n", "2:1", "did not find expected node content", "correct the text"},
    {"UTF-16",
     std::string("\xFF\xFE"
                 "a\0:\0",
                 6),
     "1:1", "the text is UTF-16 or UTF-32", "save the file as UTF-8"},
    {"UTF-32",
     std::string("\xFF\xFE\0\0"
                 "a\0\0\0",
                 8),
     "1:1", "the text is UTF-16 or UTF-32", "save the file as UTF-8"},
    {"Latin-1", "a: b\nc: \xE9\n", "2:4", "invalid UTF-8 at byte 8", "save the file as UTF-8"},
    {"CRLF", "a: 1\r\nb: [\r\n", "3:1", "did not find expected node content", "correct the text"},
    {"a control character",
     "kind: \"a\x01"
     "b\"\n",
     "1:9", "a control character", "correct the text"},
    {"infinity", "a: .inf\n", "1:4", ".inf has no equivalent in JSON", "quote it"},
    {"a directive", "%YAML 3.0\n---\na: 1\n", "1:1", "incompatible YAML document", "correct the text"},
    {"a Helm template", "{{- if .Values.crds }}\n" + Crd("{}") + "{{- end }}\n", "1:2", "the source of a template",
     "helm template"},
    {"a template in a value", Crd("{group: {{ .Values.group }}}"), "4:", "the source of a template", "helm template"},
    {"conflict marks", "<<<<<<< HEAD\n" + Crd("{}") + "=======\n>>>>>>> x\n", "", "", "resolve the conflict"},
    {"JSON with a comment", "{\n // comment\n \"kind\": \"CustomResourceDefinition\" }\n", "3:8",
     "did not find expected", "remove the comments"},
    {"cut JSON", "{\"kind\": \"CustomResourceDefinition\", \"spec\": {", "1:47", "found the end of the text",
     "correct the text"},
    {"deep lists", "a: " + Repeated("[", 2000) + Repeated("]", 2000), "1:", "nested deeper than 512", "nest less"},
    {"deep JSON", Repeated("{\"a\":", 2000) + "1" + Repeated("}", 2000), "1:", "nested deeper than 512", "nest less"},
    {"a scalar", "hello\n", "1:1", "found a string \"hello\"", "write a value of the kind"},
    {"a list", "- a\n- b\n", "1:1", "found a list", "write a value of the kind"},
    {"a web page", "<!DOCTYPE html>\n<html></html>\n", "1:1", "found a string \"<!DOCTYPE",
     "write a value of the kind"},
    {"no object", "a: &x 1\nb: &x 2\nc: *x\n", "1:1", "this is neither an object", "pass only CRDs"},
    {"a List with a number", "apiVersion: v1\nkind: List\nitems:\n- 5\n", "4:3", "found an integer \"5\"",
     "write a value of the kind"},
    {"a list of CRDs that is a map",
     "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems: {}\n", "3:8", "expected a list",
     "write a list"},
    {"a version that nobody has", "apiVersion: apiextensions.k8s.io/v2\nkind: CustomResourceDefinition\nspec: {}\n",
     "1:1", "unknown version of CustomResourceDefinition", "kgen reads v1 and v1beta1"},
    {"no spec", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", "1:1", "\"spec\" is missing",
     "kubectl explain crd"},
    {"a list as spec", Crd("[]"), "4:7", "expected a map, found a list", "write a map"},
    {"no versions", Crd("{group: x.com, scope: Namespaced, names: {kind: Order, plural: orders}, versions: []}"),
     "4:", "the CRD has no versions", "at least one version"},
    {"null as version",
     Crd("{group: x.com, scope: Namespaced, names: {kind: Order, plural: orders}, versions: [null]}"),
     "4:", "expected a map, found null", "write a map"},
    {"a number as group", Crd("{group: 5, scope: Namespaced, names: {kind: Order, plural: orders}, versions: []}"),
     "4:", "expected a string", "quotes"},
    {"a path as plural",
     Crd("{group: x.com, scope: Namespaced, names: {kind: Order, plural: ../x}, versions: [{name: v1}]}"),
     "4:", "\"../x\" is not a valid name here", "at most 63"},
    {"an unknown scope", Crd("{group: x.com, scope: Global, names: {kind: Order, plural: orders}, versions: []}"),
     "4:", "unknown scope \"Global\"", "write Namespaced or Cluster"},
    {"OpenAPI 1.2", R"({"swagger": "1.2", "paths": {}})", "1:13", "OpenAPI \"1.2\" is not supported", "pass OpenAPI"},
    {"OpenAPI 4", R"({"openapi": "4.0.0", "paths": {}})", "1:13", "OpenAPI \"4.0.0\" is not supported", "pass OpenAPI"},
};

class Broken : public ::testing::TestWithParam<Case> {};

TEST_P(Broken, EndsInAnErrorWithFileLineCauseAndWayOut) {
  const Case& c = GetParam();
  const test::Loaded loaded = test::Load({c.text});
  ASSERT_TRUE(loaded.diagnostics.has_errors());
  const std::string said = loaded.diagnostics.Render();
  EXPECT_THAT(said, StartsWith("input.yaml:" + c.position));
  EXPECT_THAT(said, HasSubstr(": error: "));
  EXPECT_THAT(said, HasSubstr(c.message));
  const std::size_t hint = said.find("\n    hint: ");
  ASSERT_NE(hint, std::string::npos) << said;
  EXPECT_THAT(said.substr(hint), HasSubstr(c.hint));
}

INSTANTIATE_TEST_SUITE_P(Inputs, Broken, ::testing::ValuesIn(kCases), [](const auto& info) {
  std::string name;
  for (char c : std::string(info.param.name)) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace kgen::generator
