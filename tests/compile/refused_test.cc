// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Code that must not compile, and the message that explains why. Each program is compiled with the compiler of this
// build, next to one that differs only in the mistake and does compile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>

#include "kgen/core/memory.h"

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class RefusedTest : public ::testing::Test {
 protected:
  // Compiles the body of a function with a pod informer and a Get() that returns a Ref<const Pod>. Returns the messages
  // of the compiler, empty if it compiles.
  static std::string Compile(std::string_view body) {
    return CompileUnit(R"(#include <kgen/cache/shared_informer.h>
#include <kgen/core/conditions.h>
#include <k8s/core/v1/types.h>
#include <vector>
using k8s::core::v1::Node;
using k8s::core::v1::Pod;
kgen::Ref<const Pod> Get();
void Try(const kgen::SharedInformer<Pod>& informer) {
  (void)informer;
)" + std::string(body) +
                       "\n}\n");
  }
  // Compiles `body` in a function that has a manager and a reconcile function `f`.
  static std::string CompileWithManager(std::string_view body) {
    return CompileUnit(R"(#include <kgen/controller/manager.h>
#include <k8s/core/v1/types.h>
using k8s::core::v1::Node;
using k8s::core::v1::Pod;
void Try(const kgen::Manager& manager) {
  const auto f = [](kgen::Request&) -> kgen::Result<void> { return {}; };
  const auto map = [](const auto& object, kgen::Requests& requests) { requests.Add("", object.metadata.name); };
)" + std::string(body) +
                       "\n}\n");
  }
  // Compiles `body` in a function that has a client of pods, with more headers.
  static std::string CompileWithPods(std::string_view headers, std::string_view body) {
    return CompileUnit("#include <k8s/core/v1/client.h>\n#include <k8s/core/v1/types.h>\n" + std::string(headers) +
                       "\nvoid Try(const k8s::core::v1::PodsClient& pods) {\n" + std::string(body) + "\n}\n");
  }
  // The line of the first error, empty if there is none.
  static std::string FirstError(const std::string& said) {
    const std::size_t first = said.find("error:");
    return first == std::string::npos ? "" : said.substr(first, said.find('\n', first) - first);
  }
  static std::string CompileUnit(std::string_view text, std::string_view standard = "c++23") {
    const std::string source = ::testing::TempDir() + "refused_" + std::to_string(::getpid()) + ".cc";
    std::ofstream(source) << text;
    const std::string command =
        KGEN_TEST_CXX " -std=" + std::string(standard) +
        std::string(" -fsyntax-only -I" KGEN_TEST_SOURCE_DIR "/runtime/include -I" KGEN_TEST_SOURCE_DIR
                    "/generated -I" KGEN_TEST_PROJECTIONS " ") +
        source + " 2>&1";
    std::string output;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return "popen failed";
    char piece[4096];
    for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) output.append(piece, n);
    const int status = ::pclose(pipe);
    std::filesystem::remove(source);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return output.empty() ? "the compiler failed" : output;
  }
};

TEST_F(RefusedTest, HandlersOfTheRightSignatureCompile) {
  EXPECT_EQ(Compile(R"(
  auto a = informer.AddEventHandler({
      .on_add = [](const kgen::Added<Pod>&) {},
      .on_update = [](const auto& e) { (void)e.before; },
      .on_delete = [n = std::vector<int>()](kgen::Deleted<Pod>) mutable { n.clear(); },
  });
  auto b = informer.AddEventHandler({.on_delete = nullptr});
)"),
            "");
}

TEST_F(RefusedTest, AnOlderStandardFailsWithTheOneToCompileFor) {
  EXPECT_EQ(FirstError(CompileUnit("#include <kgen/cache/factory.h>\n")), "");
  EXPECT_THAT(FirstError(CompileUnit("#include <kgen/cache/factory.h>\n", "c++20")),
              HasSubstr("kgen needs std::expected: compile with -std=c++23"));
}

TEST_F(RefusedTest, AHandlerOfAnotherEventFailsWithItsMemberAndType) {
  EXPECT_THAT(Compile("auto a = informer.AddEventHandler({.on_add = [](const kgen::Updated<Pod>&) {}});"),
              HasSubstr("EventHandler<T>::on_add is a function that takes `const kgen::Added<T>&`"));
  EXPECT_THAT(Compile("auto a = informer.AddEventHandler({.on_update = [](const Pod&) {}});"),
              HasSubstr("EventHandler<T>::on_update is a function that takes `const kgen::Updated<T>&`"));
  EXPECT_THAT(Compile("auto a = informer.AddEventHandler({.on_delete = [](const kgen::Deleted<Node>&) {}});"),
              HasSubstr("EventHandler<T>::on_delete is a function that takes `const kgen::Deleted<T>&`"));
}

TEST_F(RefusedTest, AHandlerThatTakesTheEventByMutableReferenceFailsWithTheRightType) {
  const std::string said = Compile("auto a = informer.AddEventHandler({.on_add = [](kgen::Added<Pod>&) {}});");
  EXPECT_THAT(said, HasSubstr("on_add is a function that takes `const kgen::Added<T>&`"));
}

TEST_F(RefusedTest, AFunctionThatDoesNotFitFailsWithTheReason) {
  EXPECT_EQ(Compile("kgen::Function<int(int)> f = [](int n) { return n; }; kgen::Task task = [f] { f(1); };"), "");
  EXPECT_THAT(Compile("kgen::Task task = [](int) {};"), HasSubstr("this cannot be called with Args"));
  EXPECT_THAT(Compile("kgen::Function<int()> f = [] { return \"text\"; };"), HasSubstr("what it returns is not an R"));
  EXPECT_THAT(Compile("kgen::Function<void()> f = [task = kgen::Task()]() mutable { task(); };"),
              HasSubstr("this cannot be copied, perhaps because of what it captures"));
}

TEST_F(RefusedTest, ArrowOnATemporaryFailsWithTheReason) {
  EXPECT_EQ(Compile("auto pod = Get(); (void)pod->metadata.name;"), "");
  const std::string said = Compile("(void)Get()->metadata.name;");
  if (kgen::detail::kArrowOnTemporaries) {
    EXPECT_EQ(said, "") << "this compiler keeps temporaries alive";
  } else {
    EXPECT_THAT(said, HasSubstr("NoArrowOnATemporaryGiveTheObjectANameFirst"));
  }
}

TEST_F(RefusedTest, AKeyOfOneTextIsNeitherNamespacedNorClusterWide) {
  EXPECT_EQ(Compile(R"(kgen::ObjectKey key = kgen::ObjectKey::ClusterWide("node-1"); key = {"default", "web-0"};)"),
            "");
  EXPECT_THAT(Compile(R"(kgen::ObjectKey key{"node-1"};)"), HasSubstr("ObjectKey"));
}

TEST_F(RefusedTest, ProjectionsCanBeReadAndNotWritten) {
  const auto compile = [](std::string_view body) {
    return CompileUnit(R"(#include <compiled/projections.h>
#include <k8s/core/v1/types.h>
#include <kgen/cache/lister.h>
#include <kgen/client/resource_client.h>
#include <kgen/client/selector.h>
#include <kgen/codec/convert.h>
#include <kgen/controller/cached_client.h>
using compiled::PodPart;
using compiled::PodPlace;
using k8s::core::v1::Pod;
void Try(const kgen::CachedClient& client, const PodPart& pod, const kgen::Selector& selector,
         const kgen::Connection& connection, const kgen::Patch& patch, const kgen::Lister<PodPart>& parts,
         const kgen::Lister<PodPlace>& places) {
)" + std::string(body) +
                       "\n}\n");
  };
  EXPECT_EQ(compile(R"(
  (void)pod.metadata.labels;
  (void)pod.spec->nodeName;
  (void)client.Get<PodPart>({"a", "b"});
  (void)client.Patch(pod, patch);
  (void)client.Delete(pod);
  (void)parts.List(selector);
  (void)places.List();
  (void)selector, (void)connection;
)"),
            "");
  // projection_test.cc has what a concept can ask.
  const std::string said = compile(R"(
  (void)pod.metadata.annotations;
  (void)client.Update(pod);
  (void)places.List(selector);
)");
  EXPECT_THAT(said, ContainsRegex("error: .*annotations.* is "));
  EXPECT_THAT(said,
              HasSubstr("a projection can be patched and deleted; create, update and apply need the whole object"));
  EXPECT_THAT(said, HasSubstr("HasLabels"));
}

TEST_F(RefusedTest, ControllersOfObjectsOfAnyKindAreToldHowToNameIt) {
  EXPECT_EQ(CompileWithManager(R"(
  const kgen::GroupVersionKind kind{"apps", "v1", "Deployment"};
  (void)manager.Control<Pod>("a").Owns<Node>().OwnsMetadata<Node>().Owns(kind).Watches(kind, map).Reconcile(f);
  (void)manager.Control(kind, "b").Owns<Node>().Watches<Node>(map).WatchesMetadata<Node>(map).Reconcile(f);
)"),
            "");
  const std::string said = CompileWithManager(R"(
  (void)manager.Control<Pod>("a").Owns<kgen::Unstructured>().Reconcile(f);
  (void)manager.Control<Pod>("b").Owns<kgen::PartialObjectMetadata>().Reconcile(f);
  (void)manager.Control<Pod>("c").Watches<kgen::Unstructured>(map).Reconcile(f);
  (void)manager.Control<Pod>("d").Watches<kgen::PartialObjectMetadata>(map).Reconcile(f);
  (void)manager.Control<kgen::Unstructured>("e").Reconcile(f);
  (void)manager.Control<kgen::PartialObjectMetadata>("f").Reconcile(f);
)");
  for (const char* text :
       {"Owns: Unstructured names no kind; write Owns(kgen::GroupVersionKind{group, version, kind})",
        "Owns: PartialObjectMetadata names no kind; write OwnsMetadata<T>()",
        "Watches: Unstructured names no kind; write Watches(kgen::GroupVersionKind{group, version, kind}, f)",
        "Watches: PartialObjectMetadata names no kind; write WatchesMetadata<T>(f)",
        "Control: Unstructured names no kind; write Control(kgen::GroupVersionKind{group, version, kind}, name)",
        "Control: PartialObjectMetadata names no kind; write Control(name).WatchesMetadata<T>(f)"}) {
    EXPECT_THAT(said, HasSubstr(text));
  }
}

TEST_F(RefusedTest, ASubresourceOfAnotherGroupSaysWhatToInclude) {
  constexpr std::string_view kHeader = "#include <kgen/client/subresources.h>\n";
  constexpr std::string_view kCall = R"((void)Evict(pods, "web-0", {});)";
  EXPECT_EQ(CompileWithPods(std::string(kHeader) + "#include <k8s/policy/v1/types.h>", kCall), "");
  const std::string said = CompileWithPods(kHeader, kCall);
  EXPECT_THAT(FirstError(said), HasSubstr("include the types.h of its namespace, such as <k8s/policy/v1/types.h>"));
}

TEST_F(RefusedTest, TheAsynchronousFormSaysInOneErrorWhatToInclude) {
  constexpr std::string_view kCall = R"(pods.Async().Get("web-0", [](kgen::Result<k8s::core::v1::Pod>) {});)";
  EXPECT_EQ(CompileWithPods("#include <kgen/client/async_client.h>", kCall), "");
  const std::string said = CompileWithPods("", kCall);
  EXPECT_THAT(FirstError(said), HasSubstr("IncludeKgenClientAsyncClientH"));
  EXPECT_EQ(said.find("error:"), said.rfind("error:")) << said;
}

TEST_F(RefusedTest, AVerbThatTheResourceLacksCompilesInNeitherForm) {
  constexpr std::string_view kHeader = "#include <kgen/client/async_client.h>";
  constexpr std::string_view kBindings = "const k8s::core::v1::BindingsClient bindings(pods.connection(), \"a\");\n";
  EXPECT_EQ(CompileWithPods(kHeader, std::string(kBindings) + R"(
  (void)bindings.Create({});
  bindings.Async().Create({}, [](const auto&) {});
)"),
            "");
  for (const char* call : {R"((void)bindings.Get("a");)", R"(bindings.Async().Get("a", [](const auto&) {});)"}) {
    const std::string said = CompileWithPods(kHeader, std::string(kBindings) + call);
    EXPECT_THAT(FirstError(said), HasSubstr("Get")) << call;
    EXPECT_THAT(said, HasSubstr("ResourceHasVerb")) << call;
  }
}

// GCC 12 names the type of the argument, because there is only one candidate, which is no template; Clang the member.
TEST_F(RefusedTest, AWrongMemberOfBracedOptionsFailsWithTheirType) {
  EXPECT_EQ(CompileWithPods("", R"((void)pods.List({.label_selector = "a=b"});)"), "");
  for (const auto& [call, options, member] :
       {std::tuple(R"((void)pods.List({.labelSelector = "a=b"});)", "ListOptions", "labelSelector"),
        std::tuple(R"((void)pods.Get("a", {.resourceVersion = "3"});)", "GetOptions", "resourceVersion"),
        std::tuple(R"((void)pods.Delete("a", {.gracePeriod = 3});)", "DeleteOptions", "gracePeriod"),
        std::tuple(R"((void)pods.Watch({.labelSelector = "a=b"});)", "ListOptions", "labelSelector")}) {
    const std::string said = CompileWithPods("", call);
    const std::string line = FirstError(said);
    EXPECT_THAT(line, HasSubstr(options));
    EXPECT_THAT(line, ::testing::AnyOf(HasSubstr("cannot convert"), HasSubstr(member)));
  }
}

// T is in the call, so this must be a template. As the only candidate, GCC 12 names the type in the error itself, and
// Clang in its one note.
TEST_F(RefusedTest, AWrongMemberOfABracedFilterFailsWithItsTypeAndOneCandidate) {
  constexpr std::string_view kClient = "const kgen::CachedClient& client = manager.client();\n";
  EXPECT_EQ(CompileWithManager(std::string(kClient) + R"((void)client.List<Pod>({.namespace_ = "a"});)"), "");
  for (const char* call : {R"((void)client.List<Pod>({.labelSelector = "a=b"});)",
                           R"((void)client.ListMetadata<Pod>({.labelSelector = "a=b"});)"}) {
    const std::string said = CompileWithManager(std::string(kClient) + call);
    EXPECT_THAT(said, ::testing::ContainsRegex("cannot convert [^\n]*ListFilter"));
    const std::size_t candidate = said.find("candidate");
    EXPECT_TRUE(candidate == std::string::npos || said.find("candidate", candidate + 1) == std::string::npos) << said;
  }
}

TEST_F(RefusedTest, ConditionsOfSomethingElseAreToldWhatAConditionIs) {
  EXPECT_EQ(Compile(R"(Pod pod; kgen::SetCondition(pod.status->conditions, {.status = "True", .type = "Ready"});)"),
            "");
  for (const char* call : {"(void)kgen::IsConditionTrue(pod.spec->containers, \"Ready\");",
                           "(void)kgen::FindCondition(pod.metadata.finalizers, \"Ready\");",
                           "kgen::SetCondition(pod.spec->containers, {.name = \"a\"});"}) {
    const std::string said = Compile("Pod pod; " + std::string(call));
    EXPECT_THAT(said, HasSubstr("a condition is a struct with the text members `type` and `status`")) << call;
  }
}

TEST_F(RefusedTest, AKindWhoseCrdIsUnknownIsNotValidated) {
  const std::string headers = "#include <kgen/validation/validate.h>\n";
  const std::string said = CompileWithPods(headers, "(void)kgen::Validate(k8s::core::v1::Pod{});");
  EXPECT_THAT(said, HasSubstr("Include the header of its CRD, such as <acme/shop/orders_manifest.h>"));
  EXPECT_THAT(said, HasSubstr("Built-in kinds have no CRD"));
  EXPECT_EQ(CompileWithPods(headers + "kgen::Schema Get();\n", "(void)kgen::Validate(k8s::core::v1::Pod{}, Get());"),
            "");
}

}  // namespace
