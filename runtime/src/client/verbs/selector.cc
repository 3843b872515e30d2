// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "client/verbs/label_names.h"
#include "kgen/core/object_meta.h"

namespace kgen {
namespace {

std::optional<std::int64_t> ParseInt(std::string_view text) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Join(const std::vector<std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "" : ",") + values[i];
  return out;
}

}  // namespace

// Parses the text form, token by token. Keeps the first error and its position.
class Selector::Parser {
 public:
  explicit Parser(std::string_view text) noexcept : text_(text) {}

  Result<Selector> Parse() {
    Selector selector;
    Next();
    if (token_.empty()) return selector;
    for (;;) {
      Result<Requirement> requirement = Term();
      if (!requirement) return Fail(requirement.error());
      selector.requirements_.push_back(*std::move(requirement));
      if (token_.empty()) break;
      if (token_ != ",") return Expected("',' or the end");
      Next();
      if (token_.empty()) return Expected("another term after ','");
    }
    selector.Sort();
    return selector;
  }

 private:
  static bool IsSpecial(char c) noexcept { return std::string_view("=!(),<>").find(c) != std::string_view::npos; }
  static bool IsBlank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
  bool AtWord() const noexcept { return !token_.empty() && !IsSpecial(token_[0]); }

  void Next() noexcept {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
    start_ = at_;
    if (at_ < text_.size() && IsSpecial(text_[at_])) {
      const std::string_view two = text_.substr(at_, 2);
      at_ += two == "==" || two == "!=" ? 2 : 1;
    } else {
      while (at_ < text_.size() && !IsBlank(text_[at_]) && !IsSpecial(text_[at_])) ++at_;
    }
    token_ = text_.substr(start_, at_ - start_);
  }

  std::unexpected<Error> Expected(std::string_view what) const {
    return Fault(start_, "expected " + std::string(what) + ", found " +
                             (token_.empty() ? std::string("the end") : '"' + std::string(token_) + '"'));
  }
  std::unexpected<Error> Fault(std::size_t at, std::string_view message) const {
    return Fail(Code::kInvalidArgument, "selector \"" + std::string(text_) + "\", character " + std::to_string(at + 1) +
                                            ": " + std::string(message));
  }

  Result<Requirement> Term() {
    const std::size_t start = start_;
    bool negated = false;
    if (token_ == "!") {
      negated = true;
      Next();
    }
    if (!AtWord()) return Expected("a label's key");
    const std::string_view key = token_;
    Next();
    Operator op = Operator::kExists;
    std::vector<std::string> values;
    if (negated) {
      op = Operator::kDoesNotExist;
    } else if (!token_.empty() && token_ != ",") {
      const std::optional<Operator> found = OperatorOf(token_);
      if (!found) return Expected("an operator: =, ==, !=, in, notin, <, >");
      op = *found;
      Next();
      if (Result<void> read = op == Operator::kIn || op == Operator::kNotIn ? Set(values) : Value(values); !read) {
        return Fail(read.error());
      }
    }
    Result<Requirement> made = Make(key, op, std::move(values));
    if (!made) return Fault(start, made.error().message());
    return made;
  }

  static std::optional<Operator> OperatorOf(std::string_view token) noexcept {
    if (token == "=") return Operator::kEquals;
    if (token == "==") return Operator::kDoubleEquals;
    if (token == "!=") return Operator::kNotEquals;
    if (token == "in") return Operator::kIn;
    if (token == "notin") return Operator::kNotIn;
    if (token == ">") return Operator::kGreaterThan;
    if (token == "<") return Operator::kLessThan;
    return std::nullopt;
  }

  // Parses one value, which may be empty: "k=" and "k=,other".
  Result<void> Value(std::vector<std::string>& values) {
    if (!token_.empty() && token_ != "," && !AtWord()) return Expected("a value");
    values.emplace_back(AtWord() ? token_ : std::string_view());
    if (AtWord()) Next();
    return {};
  }

  // Parses "(a, b)". "()" contains the empty value, and so does a set with two adjacent commas.
  Result<void> Set(std::vector<std::string>& values) {
    if (token_ != "(") return Expected("'('");
    do {
      Next();
      values.emplace_back(AtWord() ? token_ : std::string_view());
      if (AtWord()) Next();
    } while (token_ == ",");
    if (token_ != ")") return Expected("',' or ')'");
    Next();
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t start_ = 0;     // of the token
  std::string_view token_{};  // empty at the end
};

Selector Selector::Nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Result<Selector> Selector::Parse(std::string_view text) { return Parser(text).Parse(); }

Result<Selector> Selector::From(const Optional<meta::v1::LabelSelector>& selector) {
  if (!selector.has_value()) return Nothing();
  Selector made;
  for (const auto& [key, value] : selector->matchLabels) {
    Result<Requirement> requirement = Make(key, Operator::kEquals, {value.str()});
    if (!requirement) return Fail(requirement.error().With("matchLabels"));
    made.requirements_.push_back(*std::move(requirement));
  }
  for (const meta::v1::LabelSelectorRequirement& expression : selector->matchExpressions) {
    std::vector<std::string> values;
    for (const String& value : expression.values) values.push_back(value.str());
    std::optional<Operator> op;
    if (expression.operator_ == "In") op = Operator::kIn;
    if (expression.operator_ == "NotIn") op = Operator::kNotIn;
    if (expression.operator_ == "Exists") op = Operator::kExists;
    if (expression.operator_ == "DoesNotExist") op = Operator::kDoesNotExist;
    if (!op) {
      return Fail(Code::kInvalidArgument,
                  "matchExpressions: \"" + expression.operator_.str() +
                      "\" is not an operator; the operators are In, NotIn, Exists and DoesNotExist");
    }
    Result<Requirement> requirement = Make(expression.key, *op, std::move(values));
    if (!requirement) return Fail(requirement.error().With("matchExpressions"));
    made.requirements_.push_back(*std::move(requirement));
  }
  made.Sort();
  return made;
}

Result<Selector::Requirement> Selector::Make(std::string_view key, Operator op, std::vector<std::string> values) {
  const auto failed = [](const std::string& message) { return Fail(Code::kInvalidArgument, message); };
  const std::string name = '"' + std::string(key) + '"';
  if (!client::IsQualifiedName(key)) return failed(name + " is not a valid label key");
  Requirement made{.key = std::string(key), .op = op, .values = std::move(values)};
  switch (op) {
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!made.values.empty()) return failed(name + ": Exists and DoesNotExist take no values");
      return made;
    case Operator::kIn:
    case Operator::kNotIn:
      if (made.values.empty()) return failed(name + ": In and NotIn need at least one value");
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const std::optional<std::int64_t> number = ParseInt(made.values[0]);
      if (!number) return failed(name + ": \"" + made.values[0] + "\" is not an integer");
      made.number = *number;
      return made;
    }
    default:
      break;
  }
  for (const std::string& value : made.values) {
    if (!value.empty() && !client::IsLabelValue(value))
      return failed(name + ": \"" + value + "\" is not a valid label value");
  }
  std::ranges::sort(made.values);
  made.values.erase(std::ranges::unique(made.values).begin(), made.values.end());
  return made;
}

// Sorts by key, and terms of the same key by their text, so that equal selectors have the same text.
void Selector::Sort() {
  std::ranges::sort(requirements_, [](const Requirement& a, const Requirement& b) {
    return a.key != b.key ? a.key < b.key : a.str() < b.str();
  });
}

bool Selector::Requirement::Matches(const Map<String>& labels) const noexcept {
  const auto found = labels.find(key);
  const bool has = found != labels.end();
  const std::string_view label = has ? found->second.view() : std::string_view();
  const auto listed = [&] {
    return std::ranges::binary_search(values, label, {}, [](const std::string& v) { return std::string_view(v); });
  };
  switch (op) {
    case Operator::kExists:
      return has;
    case Operator::kDoesNotExist:
      return !has;
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals:
      return has && listed();
    case Operator::kNotIn:
    case Operator::kNotEquals:
      return !has || !listed();
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const std::optional<std::int64_t> value = has ? ParseInt(label) : std::nullopt;
      if (!value) return false;
      return op == Operator::kGreaterThan ? *value > number : *value < number;
    }
  }
  return false;
}

bool Selector::Matches(const Map<String>& labels) const noexcept {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& r) { return r.Matches(labels); });
}

std::string Selector::Requirement::str() const {
  switch (op) {
    case Operator::kExists:
      return key;
    case Operator::kDoesNotExist:
      return '!' + key;
    case Operator::kEquals:
      return key + '=' + values[0];
    case Operator::kDoubleEquals:
      return key + "==" + values[0];
    case Operator::kNotEquals:
      return key + "!=" + values[0];
    case Operator::kGreaterThan:
      return key + '>' + values[0];
    case Operator::kLessThan:
      return key + '<' + values[0];
    case Operator::kIn:
      return key + " in (" + Join(values) + ')';
    case Operator::kNotIn:
      return key + " notin (" + Join(values) + ')';
  }
  return {};
}

std::string Selector::str() const {
  std::string out;
  for (const Requirement& requirement : requirements_) out += (out.empty() ? "" : ",") + requirement.str();
  return out;
}

}  // namespace kgen
