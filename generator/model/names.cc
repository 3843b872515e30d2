// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/model/names.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "core/dns_names.h"

namespace kgen::generator::model {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Packages below io.k8s.api whose name is not their group.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kApiPackages = {{
    {"admission", "admission.k8s.io"},
    {"admissionregistration", "admissionregistration.k8s.io"},
    {"apiserverinternal", "internal.apiserver.k8s.io"},
    {"authentication", "authentication.k8s.io"},
    {"authorization", "authorization.k8s.io"},
    {"certificates", "certificates.k8s.io"},
    {"coordination", "coordination.k8s.io"},
    {"core", ""},
    {"discovery", "discovery.k8s.io"},
    {"events", "events.k8s.io"},
    {"flowcontrol", "flowcontrol.apiserver.k8s.io"},
    {"networking", "networking.k8s.io"},
    {"node", "node.k8s.io"},
    {"rbac", "rbac.authorization.k8s.io"},
    {"scheduling", "scheduling.k8s.io"},
    {"storage", "storage.k8s.io"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMorePackages = {{
    {"imagepolicy", "imagepolicy.k8s.io"},
    {"resource", "resource.k8s.io"},
    {"storagemigration", "storagemigration.k8s.io"},
}};

std::string GroupOfApiPackage(std::string_view package) {
  for (const auto& [name, group] : kApiPackages) {
    if (name == package) return std::string(group);
  }
  for (const auto& [name, group] : kMorePackages) {
    if (name == package) return std::string(group);
  }
  return std::string(package);  // apps, autoscaling, batch, extensions, policy
}

// {class, major, minor} for sorting: class 0 stable, 1 beta, 2 alpha, 3 anything else.
struct VersionOrder {
  int kind = 3;
  std::string major, minor;
};

std::string_view TakeNumber(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  const std::string_view number = text.substr(0, count);
  text.remove_prefix(count);
  return number;
}

VersionOrder OrderOf(std::string_view text) {
  VersionOrder order;
  if (!text.starts_with('v')) return order;
  text.remove_prefix(1);
  const std::string_view major = TakeNumber(text);
  if (major.empty() || (major[0] == '0')) return order;
  int kind = 0;
  std::string_view minor;
  if (!text.empty()) {
    kind = text.starts_with("beta") ? 1 : text.starts_with("alpha") ? 2 : 3;
    if (kind == 3) return order;
    text.remove_prefix(kind == 1 ? 4 : 5);
    minor = TakeNumber(text);
    if (minor.empty() || minor[0] == '0' || !text.empty()) return order;
  }
  return VersionOrder{kind, std::string(major), std::string(minor)};
}

// Compares numbers without leading zeros, of any length.
int CompareNumbers(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

// What kgen/core/object_meta.h declares: the types of meta/v1 in runtime/wire_types.txt and all that they contain. For
// others of meta/v1 (APIResource) there is no C++ type: a member that refers to one is any JSON, and a warning says so.
constexpr std::array<std::string_view, 14> kRuntimeTypes = {"Condition",
                                                            "DeleteOptions",
                                                            "FieldSelectorRequirement",
                                                            "LabelSelector",
                                                            "LabelSelectorRequirement",
                                                            "ListMeta",
                                                            "ManagedFieldsEntry",
                                                            "ObjectMeta",
                                                            "OwnerReference",
                                                            "Preconditions",
                                                            "ShardInfo",
                                                            "Status",
                                                            "StatusCause",
                                                            "StatusDetails"};

}  // namespace

bool IsResourceName(std::string_view text) { return detail::IsDnsLabel(text) && IsLower(text.front()); }

bool IsVersion(std::string_view text) { return IsResourceName(text); }

bool IsGroup(std::string_view text) {
  if (text.empty() || text.size() > detail::kMaxDnsSubdomain) return false;
  const std::vector<std::string_view> labels = Split(text, '.');
  return std::all_of(labels.begin(), labels.end(), detail::IsDnsLabel);
}

bool IsKind(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.back() == '-') return false;
  if (!IsLower(text.front()) && !IsUpper(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '-'; });
}

bool IsTypeName(std::string_view text) {
  if (text.empty() || text.size() > 200 || (!IsLower(text.front()) && !IsUpper(text.front()))) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '_'; });
}

std::optional<DefinitionName> ParseDefinitionName(std::string_view definition) {
  std::vector<std::string_view> parts = Split(definition, '.');
  DefinitionName out;
  out.name = parts.back();
  if (!IsTypeName(out.name)) return std::nullopt;
  parts.pop_back();
  if (parts.empty()) return out;
  const std::string_view last = parts.back();
  const bool has_version = parts.size() > 1 && OrderOf(last).kind != 3;
  if (!has_version) {
    out.group = last;
    if (!detail::IsDnsLabel(out.group)) return std::nullopt;
    return out;
  }
  out.version = last;
  parts.pop_back();
  if (definition.starts_with("io.k8s.apimachinery.pkg.apis.meta.")) {
    out.group = "meta.k8s.io";
  } else if (definition.starts_with("io.k8s.api.")) {
    out.group = GroupOfApiPackage(parts.back());
  } else if (definition.starts_with("io.k8s.apiextensions-apiserver.") ||
             definition.starts_with("io.k8s.kube-aggregator.")) {
    out.group = std::string(parts.back()) + ".k8s.io";
  } else {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part != parts.rbegin()) out.group += '.';
      out.group += *part;
    }
  }
  if (!out.group.empty() && !IsGroup(out.group)) return std::nullopt;
  return out;
}

bool VersionBefore(std::string_view a, std::string_view b) {
  const VersionOrder left = OrderOf(a);
  const VersionOrder right = OrderOf(b);
  if (left.kind != right.kind) return left.kind < right.kind;
  if (left.kind == 3) return a < b;
  if (const int order = CompareNumbers(left.major, right.major); order != 0) return order > 0;
  return CompareNumbers(left.minor, right.minor) > 0;
}

bool IsRuntimeType(std::string_view group, std::string_view version, std::string_view name) {
  return group == "meta.k8s.io" && version == "v1" &&
         std::find(kRuntimeTypes.begin(), kRuntimeTypes.end(), name) != kRuntimeTypes.end();
}

}  // namespace kgen::generator::model
