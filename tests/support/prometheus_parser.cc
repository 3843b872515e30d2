// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/support/prometheus_parser.h"

#include <cmath>
#include <limits>
#include <locale>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kgen::test_support {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

bool IsNameByte(char c, bool first) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  return letter || (!first && c >= '0' && c <= '9');
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::map<std::string, double> Parse() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      if (end == std::string_view::npos) Fail("the last line has no end");
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      ++number_;
      if (Take("# HELP ")) {
        EndFamily();
        family_ = Name();
        Expect(" ");
        if (!families_.insert(family_).second) Fail("the family " + family_ + " comes twice");
        CheckHelp();
      } else if (Take("# TYPE ")) {
        if (Name() != family_ || !type_.empty()) Fail("a TYPE line without its HELP line");
        Expect(" ");
        type_ = line_;
        if (type_ != "counter" && type_ != "gauge" && type_ != "histogram") Fail("no such type: " + type_);
      } else {
        Sample();
      }
    }
    EndFamily();
    return std::move(values_);
  }

 private:
  // What a histogram's series has had so far, by its labels without `le`.
  struct Series {
    double bound = -std::numeric_limits<double>::infinity();
    double upto = 0;
    bool has_sum = false, has_count = false;
  };

  [[noreturn]] void Fail(const std::string& why) const {
    throw std::runtime_error("line " + std::to_string(number_) + ": " + why);
  }
  bool Take(std::string_view prefix) {
    if (!line_.starts_with(prefix)) return false;
    line_.remove_prefix(prefix.size());
    return true;
  }
  void Expect(std::string_view text) {
    if (!Take(text)) Fail("expected '" + std::string(text) + "' before: " + std::string(line_));
  }
  std::string Name() {
    std::size_t size = 0;
    while (size < line_.size() && IsNameByte(line_[size], size == 0)) ++size;
    if (size == 0) Fail("expected a name before: " + std::string(line_));
    const std::string name(line_.substr(0, size));
    line_.remove_prefix(size);
    return name;
  }
  void CheckHelp() {
    for (std::size_t i = line_.find('\\'); i != std::string_view::npos; i = line_.find('\\', i + 2)) {
      if (!line_.substr(i).starts_with("\\\\") && !line_.substr(i).starts_with("\\n")) Fail("a bad escape");
    }
  }
  std::string Value() {
    Expect("\"");
    std::string value;
    while (!line_.starts_with('"')) {
      if (line_.empty()) Fail("a label value without an end");
      char c = line_.front();
      line_.remove_prefix(1);
      if (c == '\\') {
        if (line_.empty() || std::string_view("\\\"n").find(line_.front()) == std::string_view::npos) {
          Fail("a bad escape");
        }
        c = line_.front() == 'n' ? '\n' : line_.front();
        line_.remove_prefix(1);
      }
      value += c;
    }
    Expect("\"");
    return value;
  }
  double Number(std::string_view text) const {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    if (text == "-Inf") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    std::istringstream stream{std::string(text)};  // libc++ 19 has no from_chars() for doubles
    stream.imbue(std::locale::classic());
    if (!(stream >> std::noskipws >> value) || stream.peek() != std::istringstream::traits_type::eof()) {
      Fail("not a number: " + std::string(text));
    }
    return value;
  }

  void Sample() {
    const std::string_view whole = line_;
    const std::string name = Name();
    Labels labels;
    std::string le;
    std::set<std::string> names;
    if (Take("{")) {
      do {
        std::string label = Name();
        if (label.find(':') != std::string::npos) Fail("a label name with ':'");
        if (!names.insert(label).second) Fail("the label " + label + " comes twice");
        Expect("=");
        std::string value = Value();
        if (label == "le" && type_ == "histogram") {
          le = std::move(value);
        } else {
          labels.emplace_back(std::move(label), std::move(value));
        }
      } while (Take(","));
      Expect("}");
    }
    const std::string key(whole.substr(0, whole.size() - line_.size()));
    Expect(" ");
    const double value = Number(line_);
    if (type_.empty()) Fail("a sample without a TYPE line");
    if (!values_.emplace(key, value).second) Fail("two samples of " + key);
    if (type_ == "histogram") return Part(name, labels, le, value);
    if (name != family_) Fail("a sample of " + name + " in the family " + family_);
    if (type_ == "counter" && !(value >= 0)) Fail("a counter below 0");
  }

  void Part(const std::string& name, const Labels& labels, const std::string& le, double value) {
    Series& series = histogram_[labels];
    if (name == family_ + "_bucket") {
      const double bound = Number(le);
      if (series.has_sum || !(bound > series.bound) || !(value >= series.upto)) Fail("a bucket that is out of order");
      series.bound = bound;
      series.upto = value;
      return;
    }
    if (!le.empty() || !std::isinf(series.bound)) Fail("a histogram without its last bucket");
    if (name == family_ + "_sum") {
      series.has_sum = true;
    } else if (name == family_ + "_count") {
      if (value != series.upto) Fail("the count differs from the last bucket");
      series.has_count = true;
    } else {
      Fail("a sample of " + name + " in the histogram " + family_);
    }
  }

  void EndFamily() {
    if (!family_.empty() && type_.empty()) Fail("the family " + family_ + " has no TYPE line");
    for (const auto& [labels, series] : histogram_) {
      if (!series.has_sum || !series.has_count) Fail("a histogram of " + family_ + " has no sum or no count");
    }
    histogram_.clear();
    type_.clear();
  }

  std::string_view rest_, line_;
  int number_ = 0;
  std::string family_, type_;
  std::set<std::string> families_;
  std::map<Labels, Series> histogram_;
  std::map<std::string, double> values_;
};

}  // namespace

std::map<std::string, double> ParsePrometheus(std::string_view text) { return Parser(text).Parse(); }

}  // namespace kgen::test_support
