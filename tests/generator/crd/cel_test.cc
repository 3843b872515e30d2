// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/cel.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "generator/crd/document_schema.h"
#include "kgen/codec/yaml.h"
#include "tests/generator/crd/headers.h"

namespace kgen::generator::crd {
namespace {

// The object of a kind.
Tree Kind() {
  const auto parsed = yaml::Parse(R"({type: object, properties: {
      metadata: {type: object},
      spec: {type: object, properties: {
        item: {type: string}, a-b: {type: string}, namespace: {type: string}, count: {type: integer},
        lines: {type: array, items: {type: object, properties: {name: {type: string}, weight: {type: integer}}}},
        labels: {type: object, additionalProperties: {type: string}},
        parts: {type: object, additionalProperties: {type: object, properties: {size: {type: integer}}}},
        any: {type: object, x-kubernetes-preserve-unknown-fields: true},
        port: {x-kubernetes-int-or-string: true}}}}})");
  return CopyNode(parsed->documents()[0]);
}

std::string Fault(const std::string& rule) { return FaultOfCel(rule, Kind(), true); }

TEST(Rules, OfRealProjectsAreTaken) {
  for (const char* rule : {
           "self == oldSelf",
           "!has(oldSelf.spec) || has(self.spec)",
           "has(self.spec.item) ? self.spec.item.size() > 0 && self.spec.item != 'a\\n\"' : true",
           "self.spec.lines.all(x, x.weight > 0 && x.name.matches(r'^[a-z]\\d$'))",
           "self.spec.lines.exists_one(l, l.name == 'a')",
           "self.spec.lines.filter(l, l.weight == 1).all(l, l.name != '')",
           "self.spec.lines.map(l, l.name).join(',') in ['a', \"b\"]",
           "self.spec.lines.all(i, l, i == 0 || l.weight > 1)",
           "self.spec.labels.all(k, k.startsWith('a') && self.spec.labels[k] != '')",
           "self.spec.parts['a'].size == 1 && self.spec.lines[0].name == 'b'",
           "self.spec.a__dash__b == self.spec.__namespace__",
           "self.metadata.name.size() <= 63 && self.kind == 'Order'",
           "self.spec.?item.orValue('') == '' && optional.of(1).hasValue()",
           "self.spec.any.what.ever == 1",
           "type(self.spec.port) == int ? int(self.spec.port) < 65536 : string(self.spec.port) != ''",
           "quantity('1Gi').isGreaterThan(quantity('1')) && url(self.spec.item).getHost() != ''",
           "!format.dns1123Label().validate(self.spec.item).hasValue()",
           "sets.contains(['a'], ['b']) && ip.isCanonical('::1') && isIP('::1') && math.greatest(1, 2) == 2",
           "{'a': 1, 'b': 2u}.size() == 2 && [1, 2,].sum() == 3 && -1.5e-3 < .5 && 0xFFu > 1u",
           "duration('1h') > duration('1m') && timestamp(self.spec.item) < timestamp('2024-01-01T00:00:00Z')",
           "self.spec.item == \"\"\"a\nb\"\"\"  // a text of two lines\n",
       })
    EXPECT_EQ(Fault(rule), "") << rule;
}

TEST(Rules, ThatAServerCannotCompileSayWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "it ends where a value is missing"},
      {"self.spec.item ==", "it ends where a value is missing"},
      {"self.spec.item = 'a'", "there is no operator before \"= 'a'\""},
      {"(self.spec.count > 1", "it ends where \")\" is missing"},
      {"self.spec.lines[0", "it ends where \"]\" is missing"},
      {"self.spec.count > 1 ? true", "it ends where \":\" is missing"},
      {"self.spec.item == 'a", "a text does not end"},
      {"self.spec.item.matches('^\\d$')", "the escape \\d, which CEL does not know"},
      {"self.spec.itme == 'a'", "there is no member \"itme\", did you mean item?"},
      {"has(self.status)", "there is no member \"status\""},
      {"self.spec.a-b == ''", "there is no member \"a\""},
      {"self.spec.namespace == ''", "there is no member \"namespace\", did you mean __namespace__?"},
      {"self.spec.lines.all(x, x.wieght > 0)", "there is no member \"wieght\", did you mean weight?"},
      {"self.spec.lines.all(x, y.weight > 0)", "there is no variable \"y\""},
      {"self.spec.lines.all(x.weight > 0)", "all() needs a variable, as in all(x, x > 0)"},
      {"self.spec.lines[0].nam == ''", "there is no member \"nam\", did you mean name?"},
      {"self.spec.item.length() > 0", "there is no function \"length\""},
      {"self.spec.item.startWith('a')", "there is no function \"startWith\", did you mean startsWith?"},
      {"len(self.spec.item) > 0", "there is no function \"len\""},
      {"sel.spec.count > 1", "there is no variable \"sel\", did you mean self?"},
      {"self.metadata.labels['a'] == ''", "a rule sees only name and generateName of metadata"},
      {"has(self)", "has() needs a member"},
      {"for(self)", "\"for\" is a word of CEL"},
      {"12abc > 1", "\"12abc\" is no number"},
      {"self.", "a name is missing behind a dot"},
      {"self.spec.item.size", "there is no member \"size\""},
  };
  for (const auto& [rule, fault] : cases) EXPECT_TRUE(Has(Fault(rule), fault)) << rule;
  EXPECT_TRUE(Has(Fault(std::string(200, '(')), "more than 100 levels"));
}

TEST(FieldPaths, NameAMember) {
  EXPECT_EQ(FaultOfFieldPath(".spec.item", Kind()), "");
  EXPECT_EQ(FaultOfFieldPath(".spec.labels['a.b']", Kind()), "");
  EXPECT_EQ(FaultOfFieldPath(".spec['a-b']", Kind()), "");
  EXPECT_TRUE(Has(FaultOfFieldPath(".spec.itme", Kind()), "there is no \"itme\""));
  EXPECT_TRUE(Has(FaultOfFieldPath("spec.item", Kind()), "it is written as in .spec.item"));
  EXPECT_TRUE(Has(FaultOfFieldPath(".spec['a", Kind()), "does not end"));
}

TEST(Rules, AreCheckedWhereTheyStand) {
  const Type text{.kind = TypeKind::kString};
  Headers headers;
  headers.Add("Spec", {"+kgen:XValidation:rule=\"has(self.itme)\""}, {headers.Of("item", text)});
  headers.Crd({headers.Of("spec", Object("Spec")),
               headers.Of("names", List(text), {"+kgen:items:XValidation:rule=\"self.startWith('a')\""}),
               headers.Of("other", text, {"+kgen:XValidation:rule=\"self != ''\",messageExpression=\"'a' +\""})},
              {"+kgen:XValidation:rule=\"has(self.spec.item)\",fieldPath=.spec.itme",
               "+kgen:XValidation:rule=\"self.metadata.name != ''\""});
  EXPECT_TRUE(Has(headers.Said(), "+kgen:XValidation: rule: there is no member \"itme\", did you mean item?"));
  EXPECT_TRUE(Has(headers.Said(), "+kgen:items:XValidation: rule: there is no function \"startWith\""));
  EXPECT_TRUE(Has(headers.Said(), "+kgen:XValidation: messageExpression: it ends where a value is missing"));
  EXPECT_TRUE(Has(headers.Said(), "+kgen:XValidation: fieldPath: it names no member: there is no \"itme\""));
  EXPECT_EQ(headers.Said().find("self.metadata"), std::string::npos);
}

}  // namespace
}  // namespace kgen::generator::crd
