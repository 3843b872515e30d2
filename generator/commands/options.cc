// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/commands/options.h"

#include <algorithm>
#include <cxxopts.hpp>
#include <utility>

#include "generator/diagnostic.h"

namespace kgen::generator::commands {

std::string ParsedOptions::Value(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(otherwise) : found->second.back();
}

std::vector<std::string> ParsedOptions::Values(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

OptionSet::OptionSet(std::string command, std::string synopsis, std::string summary)
    : command_(std::move(command)), synopsis_(std::move(synopsis)), summary_(std::move(summary)) {
  Flag("help", 'h', "shows this help");
}

void OptionSet::Flag(std::string name, char letter, std::string help) {
  options_.push_back({std::move(name), {}, std::move(help), letter});
}

void OptionSet::Value(std::string name, char letter, std::string value_name, std::string help) {
  options_.push_back({std::move(name), std::move(value_name), std::move(help), letter});
}

std::string OptionSet::Help() const {
  std::string out = summary_ + "\n\nUsage: " + command_ + " " + synopsis_ + "\n\nOptions:\n";
  std::size_t width = 0;
  std::vector<std::string> starts;
  for (const Option& option : options_) {
    std::string start = option.letter != '\0' ? std::string("  -") + option.letter + ", --" : "      --";
    start += option.name + (option.value_name.empty() ? "" : " " + option.value_name);
    width = std::max(width, start.size());
    starts.push_back(std::move(start));
  }
  for (std::size_t i = 0; i < options_.size(); ++i) {
    out += starts[i] + std::string(width + 2 - starts[i].size(), ' ') + options_[i].help + "\n";
  }
  for (const std::string& note : notes_) out += "\n" + note + "\n";
  if (!examples_.empty()) out += "\nExamples:\n";
  for (const std::string& example : examples_) out += "  " + example + "\n";
  return out;
}

std::string OptionSet::Unknown(const std::string& argument) const {
  std::vector<std::string_view> names;
  for (const Option& option : options_) names.push_back(option.name);
  const std::string name = argument.substr(0, argument.find('='));
  const std::string_view nearest = Nearest(name.substr(std::min(name.find_first_not_of('-'), name.size())), names);
  return "unknown option " + Quote(name) +
         (nearest.empty() ? std::string() : ", did you mean --" + std::string(nearest) + "?");
}

std::expected<ParsedOptions, std::string> OptionSet::Parse(const std::vector<std::string>& arguments) const {
  cxxopts::Options library(command_);
  library.allow_unrecognised_options();  // reported below, with a better message
  for (const Option& option : options_) {
    const std::string names = option.letter != '\0' ? std::string(1, option.letter) + "," + option.name : option.name;
    if (option.value_name.empty()) {
      library.add_options()(names, option.help);
    } else {
      library.add_options()(names, option.help, cxxopts::value<std::vector<std::string>>());
    }
  }
  // "-" is an input, and so is everything after "--".
  std::vector<const char*> argv = {command_.c_str()};
  ParsedOptions parsed;
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  for (auto argument = arguments.begin(); argument != end; ++argument) argv.push_back(argument->c_str());
  try {
    const cxxopts::ParseResult result = library.parse(static_cast<int>(argv.size()), argv.data());
    for (const std::string& rest : result.unmatched()) {
      if (rest.size() > 1 && rest[0] == '-') return std::unexpected(Unknown(rest));
      parsed.positional_.push_back(rest);
    }
    for (const cxxopts::KeyValue& pair : result.arguments()) {
      const auto option =
          std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == pair.key(); });
      if (option == options_.end()) continue;
      if (option->value_name.empty()) {
        parsed.flags_.insert(pair.key());
      } else if (pair.value().empty()) {
        return std::unexpected("--" + pair.key() + " needs a value, " + option->value_name + ", but got an empty one");
      } else {
        parsed.values_[pair.key()].push_back(pair.value());
      }
    }
  } catch (const cxxopts::exceptions::exception& error) {
    return std::unexpected(std::string(error.what()));
  }
  if (end != arguments.end()) parsed.positional_.insert(parsed.positional_.end(), end + 1, arguments.end());
  return parsed;
}

std::vector<std::string> HeaderLines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

}  // namespace kgen::generator::commands
