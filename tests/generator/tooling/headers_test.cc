// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The committed headers of the built-in API in one translation unit, parsed by Clang: there are no warnings, no comment
// repeats its declaration, include guards are the only macros, and only allowed headers are included.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Tooling/Tooling.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/paths.h"

namespace {

namespace fs = std::filesystem;

// What Clang saw in files below one folder.
struct Seen {
  std::string root;
  std::size_t declarations = 0;
  std::set<std::string> repeated;  // declarations whose comment says what they say themselves
  std::set<std::string> macros;
  std::set<std::string> includes;

  bool Has(const clang::SourceManager& sources, clang::SourceLocation location) const {
    return sources.getFilename(sources.getExpansionLoc(location)).starts_with(root);
  }
};

class Macros : public clang::PPCallbacks {
 public:
  Macros(Seen& seen, const clang::SourceManager& sources) : seen_(seen), sources_(sources) {}

  void MacroDefined(const clang::Token& name, const clang::MacroDirective* directive) override {
    if (!seen_.Has(sources_, name.getLocation())) return;
    defined_.emplace_back(name.getIdentifierInfo()->getName().str(), directive->getMacroInfo());
  }
  // Only at the end of a header is it known whether a macro guards it.
  void EndOfMainFile() override {
    for (const auto& [name, macro] : defined_) {
      if (!macro->isUsedForHeaderGuard()) seen_.macros.insert(name);
    }
  }
  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef file, bool,
                          clang::CharSourceRange, clang::OptionalFileEntryRef, llvm::StringRef, llvm::StringRef,
                          const clang::Module*, bool, clang::SrcMgr::CharacteristicKind) override {
    if (seen_.Has(sources_, hash)) seen_.includes.insert(file.str());
  }

 private:
  Seen& seen_;
  const clang::SourceManager& sources_;
  std::vector<std::pair<std::string, const clang::MacroInfo*>> defined_;
};

class Declarations : public clang::RecursiveASTVisitor<Declarations> {
 public:
  Declarations(Seen& seen, clang::ASTContext& context) : seen_(seen), context_(context) {}

  bool VisitNamedDecl(clang::NamedDecl* declaration) {
    if (!seen_.Has(context_.getSourceManager(), declaration->getLocation()) || declaration->isImplicit()) return true;
    ++seen_.declarations;
    const clang::RawComment* comment = context_.getRawCommentForDeclNoCache(declaration);
    if (comment != nullptr &&
        IsEmpty(comment->getRawText(context_.getSourceManager()), declaration->getNameAsString())) {
      seen_.repeated.insert(declaration->getQualifiedNameAsString());
    }
    return true;
  }

 private:
  static bool IsEmpty(llvm::StringRef comment, llvm::StringRef name) {
    const llvm::StringRef words = comment.ltrim("/ ").rtrim(". ");
    return words.empty() || words == "Optional" || words == name;
  }

  Seen& seen_;
  clang::ASTContext& context_;
};

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(Seen& seen) : seen_(seen) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    Declarations(seen_, context).TraverseDecl(context.getTranslationUnitDecl());
  }

 private:
  Seen& seen_;
};

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(Seen& seen) : seen_(seen) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(std::make_unique<Macros>(seen_, compiler.getSourceManager()));
    return std::make_unique<Consumer>(seen_);
  }

 private:
  Seen& seen_;
};

// A translation unit of these headers, warnings as errors. False when Clang complains.
bool Look(const std::string& code, const std::string& root, Seen& seen) {
  seen.root = root;
  const std::vector<std::string> arguments = {
      "-std=c++23",    "-Wall",
      "-Wextra",       "-Wpedantic",
      "-Werror",       "-fparse-all-comments",
      "-resource-dir", KGEN_CLANG_RESOURCES,
      "-I" + root,     "-isystem" + kgen::test_support::SourcePath("runtime/include")};
  return clang::tooling::runToolOnCodeWithArgs(std::make_unique<Action>(seen), code, arguments, "check.cc");
}

// All headers, parsed once.
const Seen& BuiltInApi() {
  static const Seen kSeen = [] {
    Seen found;
    const std::string root = kgen::test_support::SourcePath("generated");
    std::vector<std::string> headers;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".h") headers.push_back(entry.path().lexically_relative(root).native());
    }
    std::sort(headers.begin(), headers.end());
    std::string code;
    for (const std::string& header : headers) code += "#include \"" + header + "\"\n";
    EXPECT_GE(headers.size(), 15u);
    EXPECT_TRUE(Look(code, root, found)) << "Clang's complaints stand above";
    return found;
  }();
  return kSeen;
}

TEST(GeneratedHeaders, ParseWithoutAWarning) { EXPECT_GT(BuiltInApi().declarations, 1000u); }

TEST(GeneratedHeaders, HaveNoCommentThatRepeatsItsDeclaration) {
  EXPECT_THAT(BuiltInApi().repeated, ::testing::IsEmpty());
}

// Contract: generator OUT-10.
TEST(GeneratedHeaders, DefineNoMacroButIncludeGuards) { EXPECT_THAT(BuiltInApi().macros, ::testing::IsEmpty()); }

TEST(GeneratedHeaders, IncludeTheStandardLibraryTheRuntimeAndThemselves) {
  const std::set<std::string> standard = {"cstddef", "cstdint", "span", "stop_token", "string_view", "utility"};
  for (const std::string& file : BuiltInApi().includes) {
    EXPECT_TRUE(standard.contains(file) || file.starts_with("kgen/") || file.starts_with("k8s/")) << file;
  }
}

TEST(TheseChecks, FindPlantedFaults) {
  const fs::path folder = fs::path(::testing::TempDir()) / "kgen_tooling";
  fs::create_directories(folder);
  std::ofstream(folder / "bad.h")
      << "#include <vector>\n#define BAD 1\nstruct S {\n  // Optional.\n  int a;\n  // What b counts.\n  int b;\n};\n";
  Seen seen;
  EXPECT_TRUE(Look("#include \"bad.h\"\n", folder.native(), seen));
  EXPECT_THAT(seen.repeated, ::testing::ElementsAre("S::a"));
  EXPECT_THAT(seen.macros, ::testing::ElementsAre("BAD"));
  EXPECT_THAT(seen.includes, ::testing::ElementsAre("vector"));
  EXPECT_FALSE(Look("int x = \"no\";", folder.native(), seen));
}

}  // namespace
