// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Errors, warnings and notes about the generator's input. Every stage reports them here and continues, so that one run
// shows all of them:
//
//   parse/*, model/*, emit/* --Error()/Warning()/Note()--> Diagnostics --Render()--> standard error
//
//   crds/orders.yaml:31:19: error: an integer enum holds the string "many" [enum-type]
//       at spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.quantity.enum[2]
//       hint: write the number without quotes, or make the field a string
//
// Text taken from input must pass through Quote() or Visible() before it becomes part of a message.
//
// Thread safety: none; one run uses one thread.
#ifndef KGEN_GENERATOR_DIAGNOSTIC_H_
#define KGEN_GENERATOR_DIAGNOSTIC_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kgen::generator {

// A position in an input. Small and cheap to copy: Diagnostics has the name of the file.
struct Origin {
  std::uint32_t file = 0;      // from Diagnostics::AddFile(); 0 is "no file" (the command line)
  std::uint32_t line = 0;      // from 1; 0: the file as a whole
  std::uint32_t column = 0;    // code points from 1
  std::uint32_t document = 0;  // number of the document in a file that holds several, else 0

  friend bool operator==(const Origin&, const Origin&) = default;
};

enum class Severity : std::uint8_t { kError, kWarning, kInfo, kNote };  // notes are shown on request only

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string_view id;  // a literal in kebab case, as for --error and --no-warn: "crd-scope"
  Origin origin;
  std::string message;  // one line, without position and without full stop
  std::string path;     // inside the document: "spec.versions[0].name"; may be empty
  std::string hint;     // what to do; may be empty
};

// The collected diagnostics of one run, and the names of its files.
class Diagnostics {
 public:
  Diagnostics() = default;
  // `program`, a literal, is shown as the position of what has no file.
  explicit Diagnostics(std::string_view program) : program_(program) {}

  // The file's number for Origin::file. `name` is what users see: the path as given, or "<stdin>".
  std::uint32_t AddFile(std::string name);
  std::string_view FileName(std::uint32_t file) const;
  std::size_t file_count() const { return files_.size(); }

  void Error(std::string_view id, Origin origin, std::string message, std::string path = {}, std::string hint = {});
  void Warning(std::string_view id, Origin origin, std::string message, std::string path = {}, std::string hint = {});
  void Info(std::string_view id, Origin origin, std::string message, std::string path = {}, std::string hint = {});
  void Note(std::string_view id, Origin origin, std::string message, std::string path = {}, std::string hint = {});

  // Drops warnings with this id, or turns them into errors. Call before the run.
  void Disable(std::string id) { disabled_.insert(std::move(id)); }
  void Promote(std::string id) { promoted_.insert(std::move(id)); }

  std::size_t error_count() const { return error_count_; }
  std::size_t warning_count() const { return warning_count_; }
  bool has_errors() const { return error_count_ != 0; }

  // All diagnostics, ordered by file (in the order of AddFile), line and column, without duplicates.
  std::vector<Diagnostic> Sorted() const;

  // "orders.yaml:31:19" with the parts that are known, and the document's number when there is one:
  // "bundle.yaml:31:19 (document 3)".
  std::string Describe(Origin origin) const;

  // The text for the user: at most `limit` errors and `limit` warnings, and a last line that counts the omitted ones.
  // Notes only if `notes`, and then all of them.
  std::string Render(std::size_t limit = 100, bool notes = false) const;

 private:
  void Add(Severity severity, std::string_view id, Origin origin, std::string message, std::string path,
           std::string hint);

  std::string_view program_ = "kgen";
  std::vector<std::string> files_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string, std::less<>> disabled_;
  std::set<std::string, std::less<>> promoted_;
  std::size_t error_count_ = 0;
  std::size_t warning_count_ = 0;
};

// The ids of all warnings, in byte order.
std::span<const std::string_view> WarningIds();

// What to do about errors of this id in general; empty for an unknown id. Diagnostics shows it for an error without a
// hint of its own.
std::string_view WayOut(std::string_view id);

// `text` in double quotes, safe for a terminal: control characters, bidirectional marks and invalid UTF-8 appear as
// \xNN or \u{N}, quotes and backslashes are escaped, and text beyond `limit` code points is cut with "...".
std::string Quote(std::string_view text, std::size_t limit = 60);

// Returns `text` as Quote() shows it, without the quotes.
std::string Visible(std::string_view text, std::size_t limit = 60);

// How many characters must be replaced, inserted or removed to make one text of the other, without regard to case.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The element of `names` that is closest to `name`, or empty if none is close enough: for "did you mean" hints.
std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& names);

}  // namespace kgen::generator

#endif  // KGEN_GENERATOR_DIAGNOSTIC_H_
