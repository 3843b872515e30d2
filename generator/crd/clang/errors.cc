// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/clang/errors.h"

#include <utility>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace kgen::generator::crd {

void Errors::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  std::string file;
  Origin origin;
  if (info.hasSourceManager() && info.getLocation().isValid()) {
    const clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
    if (at.isValid() && at.getFilename() != kMainFile) {
      file = at.getFilename();
      origin = {.file = run_.Number(file), .line = at.getLine(), .column = at.getColumn()};
    }
  }
  const bool listed = std::find(run_.paths.begin(), run_.paths.end(), file) != run_.paths.end();
  if (level < clang::DiagnosticsEngine::Error) {
    // An error inside a template of kgen belongs to the line of the API that uses it.
    if (level == clang::DiagnosticsEngine::Note && listed && !message_.empty() && !listed_) {
      origin_ = origin;
      listed_ = true;
    }
    return;
  }
  Flush();
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  message_ = Visible(message.str().str(), 300);
  origin_ = origin;
  listed_ = listed;
  in_macro_ = IsInKgenObject(info);
}

void Errors::Flush() {
  if (message_.empty()) return;
  if (origin_.line != 0 && !places_.insert({origin_.file, origin_.line, origin_.column}).second) {
    message_.clear();
    return;
  }
  std::string hint = "the header must compile by itself, with the flags of its target";
  if (message_.contains("'stddef.h' file not found"))
    hint = "install libclang-common-22-dev, or name Clang's headers with --resource-dir";
  if (message_.contains("'kTable'"))
    hint =
        "write KGEN_OBJECT(NAME) as the last member of that struct; Optional is for such structs, numbers and bool, "
        "and all other types can be absent by themselves";
  const bool no_enum = message_.starts_with("constraints not satisfied for class template 'Enum'");
  const bool keys = message_.starts_with("too many template arguments for class template 'Map'");
  if (no_enum) hint = "write kgen::Enum of an enum class of the API, or another type";
  if (keys) hint = "write kgen::Map<T> with the type of the values; its keys are texts, as in JSON";
  only_of_members_ = only_of_members_ && (no_enum || keys) && !in_macro_;
  if (in_macro_) {
    message_ = "KGEN_OBJECT does not compile: " + message_;
    hint = "write it once, as the last member, with the name of its struct";
  }
  run_.diagnostics.Error("cxx", origin_, std::exchange(message_, {}), {}, std::move(hint));
}

bool Errors::IsInKgenObject(const clang::Diagnostic& info) const {
  return language_ != nullptr && info.hasSourceManager() && info.getLocation().isMacroID() &&
         clang::Lexer::getImmediateMacroNameForDiagnostics(info.getLocation(), info.getSourceManager(), *language_) ==
             "KGEN_OBJECT";
}

}  // namespace kgen::generator::crd
