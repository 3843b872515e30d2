// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Command-line options. Only options.cc knows the library that parses them.
//
//   OptionSet options("kgen facts", "FILE... [--out DIR]", "Reduces API documents to facts.");
//   options.Value("out", 'o', "DIR", "folder for the results");
//   options.Example("kgen facts api__v1.json.gz > api__v1.json");
//   auto parsed = options.Parse(arguments);
//   if (!parsed) -> parsed.error() is a message for the user: unknown option "--uot", did you mean --out?
#ifndef KGEN_GENERATOR_COMMANDS_OPTIONS_H_
#define KGEN_GENERATOR_COMMANDS_OPTIONS_H_

#include <expected>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kgen::generator::commands {

// A parsed command line.
class ParsedOptions {
 public:
  bool Has(std::string_view name) const { return flags_.contains(name) || values_.contains(name); }
  // The last value given, or `otherwise`.
  std::string Value(std::string_view name, std::string_view otherwise = {}) const;
  std::vector<std::string> Values(std::string_view name) const;  // all of them, in order
  const std::vector<std::string>& positional() const { return positional_; }

 private:
  friend class OptionSet;
  std::set<std::string, std::less<>> flags_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positional_;
};

// The options that a command takes. --help and -h are always among them.
class OptionSet {
 public:
  OptionSet(std::string command, std::string synopsis, std::string summary);

  // `letter` is '\0' for options without a short form.
  void Flag(std::string name, char letter, std::string help);
  void Value(std::string name, char letter, std::string value_name, std::string help);
  void Example(std::string line) { examples_.push_back(std::move(line)); }
  void Note(std::string paragraph) { notes_.push_back(std::move(paragraph)); }

  std::string Help() const;
  std::expected<ParsedOptions, std::string> Parse(const std::vector<std::string>& arguments) const;

 private:
  struct Option {
    std::string name, value_name, help;
    char letter = '\0';
  };
  std::string Unknown(const std::string& argument) const;

  std::string command_, synopsis_, summary_;
  std::vector<Option> options_;
  std::vector<std::string> examples_, notes_;
};

// The lines of the file that --header names.
std::vector<std::string> HeaderLines(const std::string& text);

}  // namespace kgen::generator::commands

#endif  // KGEN_GENERATOR_COMMANDS_OPTIONS_H_
