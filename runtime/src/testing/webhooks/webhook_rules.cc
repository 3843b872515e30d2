// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/webhooks/webhook_rules.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>

#include "kgen/codec/decode.h"
#include "kgen/core/map.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/optional.h"
#include "kgen/core/string.h"

namespace kgen::testing {
namespace {

using nlohmann::json;

const json& MemberOf(const json& object, const char* key) {
  static const json& none = *new json();
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string WordOf(const json& object, const char* key) {
  const json& value = MemberOf(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::string> WordsOf(const json& object, const char* key) {
  std::vector<std::string> words;
  const json& list = MemberOf(object, key);
  if (!list.is_array()) return words;
  for (const json& each : list) {
    if (each.is_string()) words.push_back(each.get<std::string>());
  }
  return words;
}

bool Has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Result<Selector> ReadSelector(const json& value) {
  if (value.is_null()) return Selector::Everything();
  auto decoded = Decode<meta::v1::LabelSelector>(value.dump());
  if (!decoded) return Fail(decoded.error());
  return Selector::From(Optional<meta::v1::LabelSelector>(*std::move(decoded)));
}

bool SelectorMatches(const Selector& selector, const json& labels) {
  Map<String> map;
  if (labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (value.is_string()) map[key] = std::string_view(value.get_ref<const std::string&>());
    }
  }
  return selector.Matches(map);
}

// --- Checks

class Checker {
 public:
  explicit Checker(std::vector<HookFault>& faults) : faults_(faults) {}

  void Require(const json& object, const char* key, const std::string& at) {
    const json& value = MemberOf(object, key);
    if (value.is_null() || (value.is_structured() && value.empty()) || value == "") {
      faults_.push_back({"FieldValueRequired", at + '.' + key, "Required value"});
    }
  }
  // An absent member is right.
  void OneOf(const json& object, const char* key, const std::string& at, const std::vector<std::string>& allowed) {
    const json& value = MemberOf(object, key);
    if (value.is_null() || (value.is_string() && Has(allowed, value.get<std::string>()))) return;
    std::string supported;
    for (const std::string& each : allowed) supported += (supported.empty() ? "\"" : ", \"") + each + '"';
    faults_.push_back({"FieldValueNotSupported", at + '.' + key,
                       "Unsupported value: " + value.dump() + ": supported values: " + supported});
  }
  void Refuse(const std::string& field, const json& value, const std::string& why) {
    faults_.push_back({"FieldValueInvalid", field, "Invalid value: " + value.dump() + ": " + why});
  }
  void Forbid(const std::string& field, const std::string& why) {
    faults_.push_back({"FieldValueForbidden", field, "Forbidden: " + why});
  }

 private:
  std::vector<HookFault>& faults_;
};

void CheckClient(const json& config, const std::string& at, Checker& checker) {
  const bool url = MemberOf(config, "url").is_string(), service = MemberOf(config, "service").is_object();
  if (url == service) {
    checker.Forbid(at, "exactly one of url or service is required");
    return;
  }
  if (url && !WordOf(config, "url").starts_with("https://")) {
    checker.Refuse(at + ".url", MemberOf(config, "url"), "'https' is the only allowed URL scheme");
  }
  if (!service) return;
  for (const char* key : {"namespace", "name"}) checker.Require(MemberOf(config, "service"), key, at + ".service");
}

void CheckRules(const json& hook, const std::string& at, Checker& checker) {
  const json& rules = MemberOf(hook, "rules");
  if (!rules.is_array()) return;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string field = at + ".rules[" + std::to_string(i) + "]";
    for (const char* key : {"operations", "apiGroups", "apiVersions", "resources"}) {
      checker.Require(rules[i], key, field);
    }
    checker.OneOf(rules[i], "scope", field, {"*", "Cluster", "Namespaced"});
    for (const std::string& operation : WordsOf(rules[i], "operations")) {
      if (!Has({"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}, operation)) {
        checker.Refuse(field + ".operations", operation, "must be CREATE, UPDATE, DELETE, CONNECT or *");
      }
    }
  }
}

void CheckHook(const json& hook, const std::string& at, bool mutating, bool conditions, Checker& checker) {
  const std::string name = WordOf(hook, "name");
  if (std::count(name.begin(), name.end(), '.') < 2) {
    checker.Refuse(at + ".name", name, "should be a domain with at least three segments separated by dots");
  }
  CheckClient(MemberOf(hook, "clientConfig"), at + ".clientConfig", checker);
  CheckRules(hook, at, checker);
  checker.OneOf(hook, "failurePolicy", at, {"Fail", "Ignore"});
  checker.OneOf(hook, "matchPolicy", at, {"Equivalent", "Exact"});
  if (mutating) checker.OneOf(hook, "reinvocationPolicy", at, {"IfNeeded", "Never"});
  checker.Require(hook, "sideEffects", at);
  checker.OneOf(hook, "sideEffects", at, {"None", "NoneOnDryRun"});
  checker.Require(hook, "admissionReviewVersions", at);
  const json& versions = MemberOf(hook, "admissionReviewVersions");
  if (versions.is_array() && !versions.empty() && !Has(WordsOf(hook, "admissionReviewVersions"), "v1")) {
    checker.Refuse(at + ".admissionReviewVersions", versions, "must include at least one of v1");
  }
  const json& timeout = MemberOf(hook, "timeoutSeconds");
  if (timeout.is_number_integer() && (timeout < 1 || timeout > 30)) {
    checker.Refuse(at + ".timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds");
  }
  for (const char* key : {"namespaceSelector", "objectSelector"}) {
    if (auto selector = ReadSelector(MemberOf(hook, key)); !selector) {
      checker.Refuse(at + '.' + key, MemberOf(hook, key), std::string(selector.error().message()));
    }
  }
  const json& expressions = MemberOf(hook, "matchConditions");
  if (expressions.is_array() && !expressions.empty() && !conditions) {
    checker.Forbid(
        at + ".matchConditions",
        "the in-memory cluster evaluates no CEL: set ClusterOptions::match_condition to a function that does");
  }
}

// --- Reading

HookRule ReadRule(const json& rule) {
  HookRule read{.operations = WordsOf(rule, "operations"),
                .groups = WordsOf(rule, "apiGroups"),
                .versions = WordsOf(rule, "apiVersions"),
                .resources = WordsOf(rule, "resources")};
  if (const std::string scope = WordOf(rule, "scope"); !scope.empty()) read.scope = scope;
  return read;
}

std::optional<Hook> ReadHook(const json& value, bool mutating) {
  Hook hook{.name = WordOf(value, "name"), .mutating = mutating, .client_config = MemberOf(value, "clientConfig")};
  const json& rules = MemberOf(value, "rules");
  if (rules.is_array()) {
    for (const json& rule : rules) hook.rules.push_back(ReadRule(rule));
  }
  auto namespaces = ReadSelector(MemberOf(value, "namespaceSelector"));
  auto objects = ReadSelector(MemberOf(value, "objectSelector"));
  if (!namespaces || !objects) return std::nullopt;
  hook.namespaces = *std::move(namespaces);
  hook.objects = *std::move(objects);
  hook.equivalent = WordOf(value, "matchPolicy") != "Exact";
  hook.ignores_failures = WordOf(value, "failurePolicy") == "Ignore";
  hook.reinvoked = mutating && WordOf(value, "reinvocationPolicy") == "IfNeeded";
  const std::string effects = WordOf(value, "sideEffects");
  hook.safe_in_dry_run = effects == "None" || effects == "NoneOnDryRun";
  hook.speaks_v1 = Has(WordsOf(value, "admissionReviewVersions"), "v1");
  const json& timeout = MemberOf(value, "timeoutSeconds");
  if (timeout.is_number_integer()) hook.timeout = std::chrono::seconds(timeout.get<std::int64_t>());
  const json& conditions = MemberOf(value, "matchConditions");
  if (conditions.is_array()) {
    for (const json& each : conditions) hook.conditions.emplace_back(WordOf(each, "name"), WordOf(each, "expression"));
  }
  return hook;
}

// --- Matching

bool Covers(const std::vector<std::string>& words, std::string_view word) {
  return Has(words, "*") || Has(words, word);
}

bool IsNamespaceItself(const AdmissionTarget& target) { return target.group.empty() && target.plural == "namespaces"; }

bool CoversScope(const HookRule& rule, const AdmissionTarget& target) {
  const bool cluster = IsNamespaceItself(target) || target.namespace_.empty();
  return rule.scope == "*" || (rule.scope == "Cluster") == cluster;
}

// "pods" means the objects themselves, "pods/*" the objects and all subresources, "*/scale" one subresource of all.
bool CoversResource(const HookRule& rule, const AdmissionTarget& target) {
  return std::any_of(rule.resources.begin(), rule.resources.end(), [&](const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::string_view plural = std::string_view(text).substr(0, slash);
    const std::string_view part =
        slash == std::string::npos ? std::string_view() : std::string_view(text).substr(slash + 1);
    return (plural == "*" || plural == target.plural) && (part == "*" || part == target.subresource);
  });
}

bool Covers(const HookRule& rule, const AdmissionTarget& target, std::string_view version) {
  return Covers(rule.operations, target.operation) && Covers(rule.groups, target.group) &&
         Covers(rule.versions, version) && CoversScope(rule, target) && CoversResource(rule, target);
}

bool SelectorsMatch(const Hook& hook, const AdmissionTarget& target) {
  if (!hook.namespaces.is_everything() && target.namespace_labels != nullptr &&
      !SelectorMatches(hook.namespaces, *target.namespace_labels)) {
    return false;
  }
  if (hook.objects.is_everything()) return true;
  const auto matches = [&](const json* object) {
    return object != nullptr && SelectorMatches(hook.objects, MemberOf(MemberOf(*object, "metadata"), "labels"));
  };
  return matches(target.object) || matches(target.old_object);
}

}  // namespace

std::vector<HookFault> CheckHooks(const json& configuration, bool mutating, bool conditions) {
  std::vector<HookFault> faults;
  Checker checker(faults);
  const json& hooks = MemberOf(configuration, "webhooks");
  if (!hooks.is_array()) return faults;
  std::set<std::string> names;
  for (std::size_t i = 0; i < hooks.size(); ++i) {
    const std::string at = "webhooks[" + std::to_string(i) + "]";
    CheckHook(hooks[i], at, mutating, conditions, checker);
    const std::string name = WordOf(hooks[i], "name");
    if (!names.insert(name).second) {
      faults.push_back({"FieldValueDuplicate", at + ".name", "Duplicate value: " + json(name).dump()});
    }
  }
  return faults;
}

std::vector<Hook> ReadHooks(const json& configuration, bool mutating) {
  std::vector<Hook> read;
  const json& hooks = MemberOf(configuration, "webhooks");
  if (!hooks.is_array()) return read;
  for (const json& each : hooks) {
    std::optional<Hook> hook = ReadHook(each, mutating);
    if (!hook) continue;
    hook->configuration = WordOf(MemberOf(configuration, "metadata"), "name");
    read.push_back(*std::move(hook));
  }
  return read;
}

std::optional<std::string> Concerns(const Hook& hook, const AdmissionTarget& target) {
  const auto covered_in = [&](std::string_view version) {
    return std::any_of(hook.rules.begin(), hook.rules.end(),
                       [&](const HookRule& rule) { return Covers(rule, target, version); });
  };
  std::optional<std::string> version;
  if (covered_in(target.version)) version = target.version;
  if (!version && hook.equivalent) {  // an earlier rule comes first, and then an earlier version
    for (const HookRule& rule : hook.rules) {
      const auto found = std::find_if(target.versions.begin(), target.versions.end(),
                                      [&](const std::string& each) { return Covers(rule, target, each); });
      if (found == target.versions.end()) continue;
      version = *found;
      break;
    }
  }
  if (version && !SelectorsMatch(hook, target)) version.reset();
  return version;
}

}  // namespace kgen::testing
