// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/crd/member_rules.h"

#include <string_view>

#include "generator/crd/cel.h"

namespace kgen::generator::crd {
namespace {

std::string Has(const Member& member) { return "has(self." + CelName(member.wire_name) + ")"; }

// The value of a discriminator for a member of a union: "ConfigMap" for configMap.
std::string Capitalized(std::string name) {
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

class RuleMaker {
 public:
  RuleMaker(const Struct& described, Diagnostics& diagnostics) : described_(described), diagnostics_(diagnostics) {}

  std::vector<MemberRule> Make() {
    for (const Member& member : described_.members) {
      // The rule of an immutable member does not run when the member is removed.
      const std::string name = CelName(member.wire_name);
      if (FindMarker(member.markers, "immutable") != nullptr && FindMarker(member.markers, "required") == nullptr)
        Add("!has(oldSelf." + name + ") || has(self." + name + ")",
            "field " + member.wire_name + " is immutable once set");
      if (const Marker* marker = FindMarker(member.markers, "forbidden"); marker != nullptr) {
        RefuseRequired(member, *marker);
        Add("!" + Has(member), "field " + member.wire_name + " must not be set");
      }
    }
    AddOneOf(MembersWith("zerooroneofmember"), "<=", "at most one", "may");
    AddUnion(MembersWith("unionmember"), MembersWith("uniondiscriminator"));
    return std::move(rules_);
  }

 private:
  void Add(std::string rule, std::string message) { rules_.push_back({std::move(rule), std::move(message)}); }

  void Fail(const Marker& marker, const std::string& fault, const std::string& hint) {
    diagnostics_.Error("marker-type", marker.origin, marker.written + ": " + fault, {}, hint);
  }

  void RefuseRequired(const Member& member, const Marker& marker) {
    if (FindMarker(member.markers, "required") != nullptr)
      Fail(marker, "the member " + Quote(member.wire_name) + " is required", "remove one of the two markers");
  }

  std::vector<const Member*> MembersWith(std::string_view marker) const {
    std::vector<const Member*> out;
    for (const Member& member : described_.members) {
      if (FindMarker(member.markers, marker) != nullptr) out.push_back(&member);
    }
    return out;
  }

  // The terms are what controller-gen writes for markers on the struct.
  void AddOneOf(const std::vector<const Member*>& members, std::string_view sign, const std::string& count,
                const std::string& verb) {
    if (members.empty()) return;
    std::string rule, names;
    for (const Member* member : members) {
      const Marker* marker = FindMarker(member->markers, "unionmember");
      RefuseRequired(*member, marker != nullptr ? *marker : *FindMarker(member->markers, "zerooroneofmember"));
      rule += (rule.empty() ? "(" : "+(") + Has(*member) + "?1:0)";
      names += (names.empty() ? "" : " ") + member->wire_name;
    }
    Add(rule + " " + std::string(sign) + " 1", count + " of the fields in [" + names + "] " + verb + " be set");
  }

  void AddUnion(const std::vector<const Member*>& members, const std::vector<const Member*>& discriminators) {
    if (discriminators.empty()) return AddOneOf(members, "==", "exactly one", "must");
    const Member& discriminator = *discriminators[0];
    if (members.empty() || discriminators.size() > 1) {
      const Marker& marker = *FindMarker(discriminators.back()->markers, "uniondiscriminator");
      return Fail(marker, members.empty() ? "no member has +k8s:unionMember" : "the union has another discriminator",
                  "write one +k8s:unionDiscriminator, and +k8s:unionMember above each member that it chooses");
    }
    for (const Member* member : members) {
      RefuseRequired(*member, *FindMarker(member->markers, "unionmember"));
      const std::string value = Capitalized(member->wire_name);
      Add("(" + Has(discriminator) + " && self." + CelName(discriminator.wire_name) + " == '" + value +
              "') == " + Has(*member),
          "field " + member->wire_name + " must be set if " + discriminator.wire_name + " is " + value +
              ", and only then");
    }
  }

  const Struct& described_;
  Diagnostics& diagnostics_;
  std::vector<MemberRule> rules_;
};

}  // namespace

std::vector<MemberRule> MemberRules(const Struct& described, Diagnostics& diagnostics) {
  return RuleMaker(described, diagnostics).Make();
}

std::vector<MemberRule> KeyRules(const Marker& marker, Diagnostics& diagnostics) {
  if (marker.name == "maxlength")
    return {{"self.all(key, key.size() <= " + marker.value + ")", "keys have at most " + marker.value + " characters"}};
  if (marker.name == "minlength")
    return {
        {"self.all(key, key.size() >= " + marker.value + ")", "keys have at least " + marker.value + " characters"}};
  diagnostics.Error("marker-type", marker.origin, marker.written + ": of keys, a CRD knows minLength and maxLength", {},
                    "write a rule, for example +kgen:XValidation:rule=\"self.all(key, key.matches('^[a-z]+$'))\"");
  return {};
}

}  // namespace kgen::generator::crd
