// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// kgen-crd --webhooks and --conversion.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/generator/crd/program/crd_fixture.h"

namespace kgen::generator::crd {
namespace {

// A marker up to its name.
const std::string kWebhook =
    "// +kubebuilder:webhook:path=/validate,mutating=false,failurePolicy=fail,sideEffects=None,groups=apps,"
    "resources=deployments,verbs=create,versions=v1,admissionReviewVersions=v1,name=";
const std::string kNames = "// +kgen:webhookconfiguration:mutating=false,name=shop\n";

// Two versions of one kind, of which v1 has a member more, and v2 this comment.
std::string TwoVersions(const std::string& comment) {
  const std::string kind =
      "struct Order { kgen::meta::v1::ObjectMeta metadata{}; kgen::Optional<OrderSpec> spec = kgen::kAbsent; "
      "KGEN_OBJECT(Order) };\n";
  return "struct OrderSpec { kgen::String item{}; kgen::String hue{}; KGEN_OBJECT(OrderSpec) };\n"
         "// +kgen:resource:group=shop.example.com,version=v1\n" +
         kind + "}\nnamespace acme::shop::v2 {\n" + kSpec +
         "// +kgen:resource:group=shop.example.com,version=v2\n// +kgen:storage\n" + comment + kind;
}

TEST_F(KgenCrd, PrintsTheWebhooksOfHeadersAndSources) {
  const std::string header = Light(kNames + kWebhook + "b.example.com\nvoid Run();\n" + kSpec + kKind);
  const std::string source = Write("controller.cc", "int Run() {\n  " + kWebhook + "a.example.com\n  return 1;\n}\n");
  const Outcome outcome = RunAlone({"--webhooks", "shop/hooks", "--webhook-selector", "app=shop", "--source", source,
                                    "--crds", Path("crds"), header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.starts_with(
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: shop\n"))
      << outcome.out;
  EXPECT_LT(outcome.out.find("name: a.example.com"), outcome.out.find("name: b.example.com"));
  EXPECT_TRUE(Has(outcome.out, "      name: hooks\n      namespace: shop\n      path: /validate\n"));
  EXPECT_TRUE(Has(outcome.out, "---\napiVersion: v1\nkind: Service\n"));
  EXPECT_TRUE(outcome.out.ends_with("  selector:\n    app: shop\n")) << outcome.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "crds")) << "nothing is written";
  EXPECT_EQ(RunAlone({header, "--crds", Path("crds")}).err, "") << "without the option, nothing is said of webhooks";
}

TEST_F(KgenCrd, PrintsRolesAndWebhooksAsOneStream) {
  const std::string header =
      Light(kNames + kWebhook + "b.example.com\n// +kgen:rbac:groups=core,resources=pods,verbs=get\n" + kSpec + kKind);
  const std::string roles = RunAlone({"--rbac", "shop", header}).out;
  const std::string webhooks = RunAlone({"--webhooks", "shop/hooks", header}).out;
  EXPECT_EQ(RunAlone({"--rbac", "shop", "--webhooks", "shop/hooks", header}).out, roles + "---\n" + webhooks);
}

// A program may check kinds of Kubernetes only.
TEST_F(KgenCrd, PrintsWebhooksOfAHeaderWithoutAKind) {
  const std::string header = Write("hooks.h", kNames + kWebhook + "a.example.com\nvoid Run();\n");
  const Outcome outcome = RunAlone({"--webhooks", "shop/hooks", header});
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(Has(outcome.out, "    app.kubernetes.io/name: hooks\n"));
  EXPECT_TRUE(Has(RunAlone({header}).err, "no struct of the headers is a kind"));
}

TEST_F(KgenCrd, RefusesFaultyWebhooksAtTheirPlace) {
  const std::string header = Light(kWebhook + "orders\n" + kSpec + kKind);
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, std::vector<std::string>{"--webhooks", "shop/hooks"}}) {
    std::vector<std::string> all = options;
    all.push_back(header);
    const Outcome outcome = RunAlone(all);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(outcome.err.starts_with(header + ":" + std::to_string(kLightLine) +
                                        ":4: error: +kubebuilder:webhook: name: \"orders\" is no domain with at least "
                                        "three parts [webhook]\n    hint: write name=orders.shop.example.com\n"))
        << outcome.err;
    EXPECT_EQ(Errors(outcome.err), 1u) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(KgenCrd, WritesTheConversionOfKindsWithAHub) {
  const std::string header = Light(TwoVersions("// +kgen:hub\n"));
  const Outcome outcome = RunAlone({"--conversion", "shop/hooks", "--crds", Path("crds"), header});
  EXPECT_EQ(outcome.err, "") << "no field is lost";
  EXPECT_TRUE(Has(Read("crds/shop.example.com_orders.yaml"),
                  "  conversion:\n    strategy: Webhook\n    webhook:\n      clientConfig:\n        service:\n"
                  "          name: hooks\n          namespace: shop\n          path: /convert\n"));
  const std::string without = RunAlone({header}).err;
  EXPECT_TRUE(Has(without, "[crd-conversion]"));
  EXPECT_TRUE(
      Has(without, "info: +kgen:hub: the CRD has no conversion, because no Service is named: pass --conversion "));
  const Outcome service = RunAlone({"--webhooks", "shop/hooks", header});
  EXPECT_EQ(service.err, "") << "no CRD is written";
  EXPECT_TRUE(service.out.starts_with("apiVersion: v1\nkind: Service\n")) << service.out;
  EXPECT_EQ(RunAlone({"--rbac", "shop", header}).err, "") << "nor here";
  const Outcome lost = RunAlone({"--conversion", "shop/hooks", Light(TwoVersions(""))});
  EXPECT_EQ(lost.code, 1);
  EXPECT_TRUE(Has(lost.err, "error: --conversion has no effect, since no version of a kind has +kgen:hub"));
}

TEST_F(KgenCrd, ExplainsTheOptionsOfWebhooks) {
  const std::string header = Path("a.h");
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{"--webhooks", "hooks", header}, "--webhooks: \"hooks\" is not the namespace and the name of a Service"},
      {{"--conversion", "a/b/c", header}, "--conversion: \"a/b/c\" is not the namespace and the name of a Service"},
      {{"--webhook-selector", "a=b", header}, "--webhook-selector is for the Service of --webhooks"},
      {{"--webhooks", "a/b", "--webhook-selector", "a", header}, "needs a label and its value, as in app=shop"},
      {{"--source", "a.cc", header}, "--source is for --rbac and --webhooks"},
  };
  for (const auto& [arguments, message] : wrong) {
    const Outcome outcome = RunAlone(arguments);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_TRUE(Has(outcome.err, message));
  }
}

}  // namespace
}  // namespace kgen::generator::crd
