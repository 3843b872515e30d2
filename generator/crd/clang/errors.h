// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Turns Clang's errors into errors of kgen-crd. Also has what the header reader needs for that.
#ifndef KGEN_GENERATOR_CRD_CLANG_ERRORS_H_
#define KGEN_GENERATOR_CRD_CLANG_ERRORS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceLocation.h"
#include "generator/crd/clang/header_options.h"
#include "generator/crd/description.h"
#include "generator/diagnostic.h"

namespace kgen::generator::crd {

// Includes the headers; it exists only in memory.
inline constexpr std::string_view kMainFile = "/kgen-crd/api.cc";

// Everything of one run that its parts share.
struct Run {
  const HeaderOptions& options;
  Diagnostics& diagnostics;
  std::vector<std::string> paths;                                  // absolute, of options.headers
  std::map<std::string, std::uint32_t, std::less<>> numbers = {};  // of files, by absolute path
  Description out = {};
  std::vector<clang::SourceRange> skipped = {};  // by the preprocessor

  std::uint32_t Number(const std::string& path) {
    const auto [at, added] = numbers.emplace(path, 0);
    if (added) {
      const auto listed = std::find(paths.begin(), paths.end(), path);
      const bool own = listed != paths.end();
      at->second = diagnostics.AddFile(own ? options.headers[static_cast<std::size_t>(listed - paths.begin())] : path);
    }
    return at->second;
  }
};

// Turns Clang's errors into ours. Warnings are for the compiler of the program.
class Errors : public clang::DiagnosticConsumer {
 public:
  explicit Errors(Run& run) : run_(run) {}

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor*) override {
    language_ = &language;
  }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  // Reports the last error, unless there is one at its place already: what follows from an error often points there.
  void Flush();

  // Whether all errors so far are about types of single members: the rest of the headers can be read.
  bool only_of_members() const { return only_of_members_; }

 private:
  bool IsInKgenObject(const clang::Diagnostic& info) const;

  Run& run_;
  const clang::LangOptions* language_ = nullptr;
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places_;  // of the reported errors
  std::string message_;                                                       // not yet reported
  Origin origin_;
  bool listed_ = false;
  bool in_macro_ = false;
  bool only_of_members_ = true;
};

}  // namespace kgen::generator::crd

#endif  // KGEN_GENERATOR_CRD_CLANG_ERRORS_H_
