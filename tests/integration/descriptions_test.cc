// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The facts in openapi/kubernetes-1.36/descriptions on a real kube-apiserver: what it stores for an absent member,
// which members it refuses to change, and that no text repeats the server's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kgen/client/config.h"
#include "kgen/client/dynamic_client.h"
#include "kgen/client/retry.h"
#include "kgen/codec/decode.h"
#include "kgen/codec/encode.h"
#include "kgen/codec/yaml.h"
#include "tests/integration/real_api_server.h"
#include "tests/support/paths.h"

namespace kgen::integration {
namespace {

using nlohmann::json;

constexpr const char* kFolder = "openapi/kubernetes-1.36";
constexpr std::string_view kDescribedNamespace = "described";

std::vector<json> ReadDocuments(const std::string& path) {
  std::vector<json> out;
  const auto stream = yaml::Parse(test_support::ReadFile(path));
  EXPECT_TRUE(stream.has_value()) << path << ": " << stream.error().message;
  if (!stream) return out;
  for (const yaml::Node& document : stream->documents()) out.push_back(json::parse(yaml::ToJson(document)));
  return out;
}

std::vector<std::string> FilesIn(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(test_support::SourcePath(folder)))
    if (entry.path().native().ends_with(ending)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// One member of an object: what was sent, what the server stores, and what a description says.
struct Place {
  std::string name;  // "apps.v1 DeploymentSpec.replicas"
  json::json_pointer path;
  const json& facts;
  const json* sent;    // null: absent
  const json* stored;  // null: absent
};
using Visit = std::function<void(const Place&)>;

// The schemas and descriptions of the built-in API.
class Described {
 public:
  Described() {
    for (const std::string& file : FilesIn(kFolder, ".json")) {
      const json document = ReadDocuments(file).at(0);
      for (const auto& [name, schema] : document["components"]["schemas"].items()) {
        schemas_[name] = schema;
        for (const json& kind : schema.value("x-kubernetes-group-version-kind", json::array()))
          kinds_[std::string(kind["group"]) + '/' + std::string(kind["version"]) + '/' + std::string(kind["kind"])] =
              name;
      }
    }
    const std::string folder = std::string(kFolder) + "/descriptions";
    for (const std::string& file : FilesIn(folder, ".yaml")) {
      const std::string version = std::filesystem::path(file).stem();
      for (const json& document : ReadDocuments(file)) types_[version] = document;
    }
  }

  // Calls `visit` for each member with facts in the object, wherever the object that has the member was sent or stored.
  void Walk(const json& sent, const json& stored, const Visit& visit) const {
    Members(DefinitionOf(stored), &sent, stored, json::json_pointer(), visit);
  }

  // Returns the names of the members that have a fact, as in Place::name.
  std::set<std::string> With(const std::function<bool(const json& facts)>& has) const {
    std::set<std::string> names;
    for (const auto& [version, types] : types_) {
      if (version == "shared") continue;
      for (const auto& [type, entry] : types.items()) {
        const json members = entry.value("members", json::object());
        for (const auto& member : members.items())
          if (has(FactsOf(version, type, member.key()))) names.insert(version + ' ' + type + '.' + member.key());
      }
    }
    return names;
  }

  // Returns a status of the object's kind in which every member has a value; null if the kind has no status.
  json StatusOf(const json& object) const {
    const json* status = Find(Find(&schemas_.at(DefinitionOf(object)), "properties"), "status");
    return status == nullptr ? json() : Sample(*status, 0);
  }

  const std::map<std::string, json>& types() const { return types_; }

 private:
  static const json* Find(const json* object, const std::string& key) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(key);
    return found == object->end() ? nullptr : &*found;
  }

  const std::string& DefinitionOf(const json& object) const {
    std::string version = object["apiVersion"];
    if (!version.contains('/')) version.insert(0, "/");
    return kinds_.at(version + '/' + std::string(object["kind"]));
  }

  json Sample(const json& schema, std::size_t depth) const {
    constexpr std::size_t kDeepest = 20;  // JSONSchemaProps contains itself
    const json& holder = schema.contains("allOf") ? schema["allOf"][0] : schema;
    if (holder.contains("$ref")) {
      const std::string reference = holder["$ref"];
      return Sample(schemas_.at(reference.substr(reference.rfind('/') + 1)), depth + 1);
    }
    const std::string type = schema.value("type", ""), format = schema.value("format", "");
    if (type == "boolean") return true;
    if (type == "integer" || type == "number") return 7;
    if (type == "array") return json::array({Sample(schema["items"], depth + 1)});
    if (type == "object" || schema.contains("properties")) {
      json object = json::object();
      if (schema.contains("additionalProperties")) object["a"] = Sample(schema["additionalProperties"], depth + 1);
      if (!schema.contains("properties") || depth > kDeepest) return object;
      for (const auto& [name, member] : schema["properties"].items()) object[name] = Sample(member, depth + 1);
      return object;
    }
    return format == "date-time" ? "2001-02-03T04:05:06.000000Z" : format == "byte" ? "AQI=" : "1";
  }

  // Returns the facts of a member, including the facts of its shared text; null if there are none.
  json FactsOf(const std::string& version, const std::string& type, const std::string& member) const {
    const auto file = types_.find(version);
    const json* entry = file == types_.end() ? nullptr : Find(Find(Find(&file->second, type), "members"), member);
    if (entry == nullptr) return nullptr;
    json facts = entry->contains("shared") ? types_.at("shared").at(std::string((*entry)["shared"])) : json::object();
    facts.update(*entry);
    return facts;
  }

  void Members(const std::string& definition, const json* sent, const json& stored, const json::json_pointer& path,
               const Visit& visit) const {
    const auto schema = schemas_.find(definition);
    if (schema == schemas_.end() || !schema->second.contains("properties") || !stored.is_object()) return;
    const std::size_t dot = definition.rfind('.');
    const std::string package = definition.substr(0, dot), type = definition.substr(dot + 1);
    const std::string version = package.substr(package.rfind('.', package.rfind('.') - 1) + 1);
    for (const auto& [name, member] : schema->second["properties"].items()) {
      const json facts = FactsOf(version, type, name);
      const json *was = Find(sent, name), *is = Find(&stored, name);
      if (facts.is_object()) {
        std::string place = version;
        visit({place.append(" ").append(type).append(".").append(name), path / name, facts, was, is});
      }
      if (is != nullptr) Value(member, was, *is, path / name, visit);
    }
  }

  void Value(const json& schema, const json* sent, const json& stored, const json::json_pointer& path,
             const Visit& visit) const {
    const json& holder = schema.contains("allOf") ? schema["allOf"][0] : schema;
    if (holder.contains("$ref")) {
      const std::string reference = holder["$ref"];
      Members(reference.substr(reference.rfind('/') + 1), sent, stored, path, visit);
    } else if (schema.contains("items") && stored.is_array() && sent != nullptr && sent->size() == stored.size()) {
      for (std::size_t i = 0; i < stored.size(); ++i) Value(schema["items"], &(*sent)[i], stored[i], path / i, visit);
    }
  }

  std::map<std::string, json> schemas_;       // by definition
  std::map<std::string, std::string> kinds_;  // definition by "apps/v1/Deployment"
  std::map<std::string, json> types_;         // by group version, and "shared"
};

// Defaults that the server fills in when the object itself is created, and not inside of a template for it.
bool IsOnlyOfObjects(const Place& place) {
  const std::string path = place.path.to_string();
  if (path.contains("/inlineVolumeSpec/")) return true;
  if (path.contains("/jobTemplate/") && place.name.starts_with("batch.v1 JobSpec.")) return true;
  return path.contains("/template/") && place.name == "core.v1 PodSpec.enableServiceLinks";
}

// Another value of the same form; the same one if it has no value inside.
json Changed(json value) {
  if (value.is_string()) return std::string(value) + "x";
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>() + 1;
  if (value.is_number()) return value.get<double>() + 1;
  if (!value.is_structured()) return value;
  for (json& inner : value) {
    json changed = Changed(inner);
    if (changed == inner) continue;
    inner = std::move(changed);
    break;
  }
  return value;
}

// Another value that a client could send; times stay times.
json Claimed(const json& value) {
  if (value.is_string() && std::string(value).ends_with('Z')) return "2001-02-03T04:05:06Z";
  return Changed(value);
}

// Names of members as in Place::name, or their beginning before a `*`, each with the reason for an exception.
using Reasons = std::vector<std::pair<std::string_view, std::string_view>>;

bool Matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return pattern == name;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

// What the server stores for an absent member, and no constant can say.
const Reasons kFilledIn = {
    {"apiextensions.v1 CustomResourceDefinitionNames.listKind", "is made from the kind"},
    {"apiextensions.v1 CustomResourceDefinitionNames.singular", "is made from the kind"},
    {"autoscaling.v2 HPAScalingRules.stabilizationWindowSeconds", "depends on the direction"},
    {"batch.v1 JobSpec.completions", "depends on parallelism"},
    {"batch.v1 JobSpec.podReplacementPolicy", "depends on podFailurePolicy"},
    {"core.v1 Container.imagePullPolicy", "depends on the tag of the image"},
    {"core.v1 PodSpec.serviceAccount", "is serviceAccountName"},
    {"core.v1 ServicePort.nodePort", "is allocated for some types"},
    {"core.v1 ServicePort.targetPort", "is the port"},
    {"core.v1 ServiceSpec.clusterIP", "is allocated"},
    {"core.v1 ServiceSpec.externalTrafficPolicy", "depends on the type"},
    {"core.v1 TypedObjectReference.*", "is copied from dataSource to dataSourceRef"},
    {"core.v1 ServiceSpec.ipFamilyPolicy", "depends on the type and the cluster"},
    {"meta.v1 ObjectMeta.namespace", "comes from the path"},
};
const Reasons kDefaultsOutOfReach = {
    {"authentication.v1 TokenRequestSpec.expirationSeconds", "of a subresource"},
    {"core.v1 EphemeralContainer.*", "of a subresource"},
    {"core.v1 FileKeySelector.optional", "needs a feature gate"},
    {"flowcontrol.v1 ExemptPriorityLevelConfiguration.*", "only the server's own level is exempt"},
    {"resource.v1 NodeAllocatableResourceMapping.allocationMultiplier", "needs a feature gate"},
};
const Reasons kServersOutOfReach = {
    {"authentication.v1 TokenRequest*", "of a subresource"},
    {"authentication.v1 TokenReviewStatus.*", "of a token that is valid"},
    {"authorization.v1 SubjectAccessReviewStatus.*", "of other answers"},
    {"authorization.v1 SubjectRulesReviewStatus.evaluationError", "of other answers"},
    {"autoscaling.v1 Scale*", "of a subresource"},
    {"certificates.v1 CertificateSigningRequestSpec.extra", "the client has none"},
    {"core.v1 ComponentStatus.conditions", "cannot be created"},
    {"core.v1 PodSpec.overhead", "comes with a RuntimeClass"},
    {"meta.v1 ListMeta.*", "of lists"},
    {"meta.v1 ObjectMeta.deletion*", "of an object that is being deleted"},
    {"meta.v1 ObjectMeta.resourceVersion", "absent after a dry run"},
    {"meta.v1 Status.*", "of answers"},
};
const Reasons kOthersOutOfReach = {
    {"storage.v1 CSINode*", "has no status: the kubelet writes the object"},
    {"storage.v1 VolumeNodeResources.count", "of a CSINode"},
};
const Reasons kImmutablesOutOfReach = {
    {"core.v1 EphemeralContainer.*", "of a subresource"},
    {"events.v1 Event.deprecated*", "only core/v1 can set them"},
    {"meta.v1 ObjectMeta.*", "another name, namespace or uid is another object"},
};

// Second values that are valid, for members of which Changed() makes an invalid one.
const std::map<std::string, json> kOtherValues = {
    {"apps.v1 StatefulSetSpec.volumeClaimTemplates",
     json::parse(R"([{"metadata": {"name": "b"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests":
                     {"storage": "1Gi"}}}}])")},
    {"events.v1 Event.eventTime", "2026-01-02T03:04:05.678901Z"},
};

// An APIService has its group and version in its name, which is what the server says about another one.
bool SaysImmutable(const std::string& message) {
  return std::ranges::any_of(std::vector<std::string>{"immutable", "may not be changed", "Forbidden", "cannot change",
                                                      "may not change", "metadata.name: Invalid value"},
                             [&](const std::string& words) { return message.contains(words); });
}

class DescriptionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RealApiServer::Present()) GTEST_SKIP() << "no API server: run ./dev integration";
    client_.emplace(Must(Connection::Open(Must(rest::LoadConfig({.kubeconfig = RealApiServer::Kubeconfig()})))));
    RealApiServer::Kubectl("create namespace " + std::string(kDescribedNamespace));
  }

  // The minimal objects of every_kind.yaml under other names, and objects with more members.
  static std::vector<json> Objects() {
    std::vector<json> out;
    for (const char* file : {"every_kind.yaml", "described.yaml"}) {
      std::string text = test_support::ReadFile(test_support::SourcePath("tests/integration/" + std::string(file)));
      for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"{ns}", kDescribedNamespace},
                                     {"every", "described"},
                                     {"10.0.0.200", "10.0.0.201"},
                                     {"10.9.0.0", "10.8.0.0"}}) {
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
          text.replace(at, from.size(), to);
      }
      const auto stream = yaml::Parse(std::move(text));
      EXPECT_TRUE(stream.has_value()) << file;
      if (!stream) continue;
      for (const yaml::Node& object : stream->documents()) out.push_back(json::parse(yaml::ToJson(object)));
    }
    return out;
  }

  Result<DynamicResource> ClientOf(const json& object) const {
    const std::string version = object["apiVersion"], kind = object["kind"];
    const std::size_t slash = version.find('/');
    return client_->ForKind({.group = slash == std::string::npos ? "" : version.substr(0, slash),
                             .version = version.substr(slash + 1),
                             .kind = kind},
                            kDescribedNamespace);
  }

  // Expects `seen` to have all members with a fact but `out_of_reach`.
  void ExpectReached(const std::function<bool(const json& facts)>& has, const std::set<std::string>& seen,
                     const Reasons& out_of_reach) const {
    std::set<std::string_view> used;
    for (const std::string& name : described_.With(has)) {
      if (seen.contains(name)) continue;
      const auto reason =
          std::ranges::find_if(out_of_reach, [&](const auto& each) { return Matches(each.first, name); });
      if (reason == out_of_reach.end()) ADD_FAILURE() << "no object of the test reaches the fact of " << name;
      if (reason != out_of_reach.end()) used.insert(reason->first);
    }
    for (const auto& [name, reason] : out_of_reach)
      EXPECT_TRUE(used.contains(name)) << name << " is in reach; take it off the list";
  }

  static Unstructured Object(const json& object) { return Must(Decode<Unstructured>(object.dump())); }
  static std::string Title(const json& object) {
    return std::string(object["apiVersion"]) + ' ' + std::string(object["kind"]);
  }

  const Described described_;
  std::optional<DynamicClient> client_;
};

TEST_F(DescriptionsTest, SayWhatTheServerStoresForAnAbsentMember) {
  std::set<std::string> seen, unsaid;
  for (const json& sent : Objects()) {
    SCOPED_TRACE(Title(sent));
    if (Title(sent) == "v1 Binding") continue;  // of a pod that is not there
    const Result<Unstructured> created = Must(ClientOf(sent)).Create(Object(sent), {.dry_run = true});
    ASSERT_TRUE(created.has_value()) << created.error();
    described_.Walk(sent, json::parse(Encode(*created)), [&](const Place& place) {
      if (place.sent != nullptr || IsOnlyOfObjects(place)) return;
      if (!place.facts.contains("default")) {
        const bool scalar = place.stored != nullptr && !place.stored->is_structured() && !place.stored->is_null();
        const bool of_status = place.path.to_string().starts_with("/status/");
        if (scalar && !of_status && !place.facts.contains("set_by")) unsaid.insert(place.name);
        return;
      }
      seen.insert(place.name);
      EXPECT_TRUE(place.stored != nullptr && *place.stored == place.facts["default"])
          << place.name << " at " << place.path.to_string() << ": the description says "
          << place.facts["default"].dump() << ", the server stores "
          << (place.stored == nullptr ? "nothing" : place.stored->dump());
    });
  }
  for (const std::string& name : unsaid) {
    EXPECT_TRUE(std::ranges::any_of(kFilledIn, [&](const auto& each) { return Matches(each.first, name); }))
        << "the server stores a value for an absent " << name << ", and no default says so";
  }
  ExpectReached([](const json& facts) { return facts.contains("default"); }, seen, kDefaultsOutOfReach);
}

// Whoever writes a status does so through its subresource. Returns the members of the status.
std::set<std::string> ExpectStatusIgnored(const Described& described, const json& sent,
                                          const Result<Unstructured>& got) {
  std::set<std::string> seen;
  EXPECT_TRUE(got.has_value()) << got.error();
  if (!got) return seen;
  const json stored = json::parse(Encode(*got));
  described.Walk(sent, sent, [&](const Place& place) {
    if (!place.facts.contains("set_by") || !place.path.to_string().starts_with("/status")) return;
    EXPECT_FALSE(stored.contains(place.path) && stored[place.path] == *place.sent)
        << place.name << " at " << place.path.to_string() << ": the server takes " << place.sent->dump();
    seen.insert(place.name);
  });
  return seen;
}

// A member that the server sets has its value whatever a client sends, or the server refuses what was sent.
TEST_F(DescriptionsTest, SayWhichMembersOnlyTheServerSets) {
  std::set<std::string> seen;
  for (const json& sent : Objects()) {
    SCOPED_TRACE(Title(sent));
    if (Title(sent) == "v1 Binding") continue;  // of a pod that is not there
    const DynamicResource client = Must(ClientOf(sent));
    json with_status = sent;
    with_status["status"] = described_.StatusOf(sent);
    // A kubelet creates its node with a status. The answer of a review may be what is claimed here.
    if (!with_status["status"].is_null() && Title(sent) != "v1 Node" && !Title(sent).ends_with("Review"))
      seen.merge(ExpectStatusIgnored(described_, with_status, client.Create(Object(with_status), {.dry_run = true})));
    const Result<Unstructured> created = client.Create(Object(sent), {.dry_run = true});
    ASSERT_TRUE(created.has_value()) << created.error();
    described_.Walk(sent, json::parse(Encode(*created)), [&](const Place& place) {
      if (place.facts.value("set_by", "") != "server" || place.stored == nullptr) return;
      json claimed = sent;
      claimed[place.path] = Claimed(*place.stored);
      if (claimed[place.path] == *place.stored) return;
      const Result<Unstructured> again = client.Create(Object(claimed), {.dry_run = true});
      const json stored = again ? json::parse(Encode(*again)) : json();
      EXPECT_FALSE(again && stored.contains(place.path) && stored[place.path] == claimed[place.path])
          << place.name << " at " << place.path.to_string() << ": the server takes " << claimed[place.path].dump()
          << " from a client";
      seen.insert(place.name);
    });
  }
  ExpectReached([](const json& facts) { return facts.value("set_by", "") == "server"; }, seen, kServersOutOfReach);
}

// Expects the server to refuse another value of an immutable member because it is another value.
void ExpectImmutable(const DynamicResource& client, const std::string& name, const Place& place) {
  const auto other = kOtherValues.find(place.name);
  // The server's controllers write new objects too.
  const Result<Unstructured> updated = RetryOnConflict([&]() -> Result<Unstructured> {
    json changed = json::parse(Encode(Must(client.Get(name))));
    changed[place.path] = other == kOtherValues.end() ? Changed(*place.stored) : other->second;
    return client.Update(Must(Decode<Unstructured>(changed.dump())), {.dry_run = true});
  });
  const std::string message = updated ? "the server takes another value" : updated.error().message();
  EXPECT_TRUE(!updated && updated.error().code() == Code::kInvalid && SaysImmutable(message))
      << place.name << " at " << place.path.to_string() << ": " << message;
}

TEST_F(DescriptionsTest, SayWhatNoWriteOfTheObjectChanges) {
  std::vector<std::pair<DynamicResource, std::string>> made;
  std::set<std::string> seen, of_status;
  for (const json& sent : Objects()) {
    SCOPED_TRACE(Title(sent));
    const DynamicResource client = Must(ClientOf(sent));
    const Result<Unstructured> created = client.Create(Object(sent));
    ASSERT_TRUE(created.has_value()) << created.error();
    const json stored = json::parse(Encode(*created));
    if (!stored.contains("metadata") || !stored["metadata"].contains("uid")) continue;  // nothing is stored
    const std::string name = stored["metadata"]["name"];
    made.emplace_back(client, name);
    if (json status = described_.StatusOf(sent); !status.is_null()) {
      json claimed;
      const Result<Unstructured> updated = RetryOnConflict([&]() -> Result<Unstructured> {
        claimed = json::parse(Encode(Must(client.Get(name))));
        claimed["status"] = status;
        return client.Update(Object(claimed), {.dry_run = true});
      });
      of_status.merge(ExpectStatusIgnored(described_, claimed, updated));
    }
    described_.Walk(sent, stored, [&](const Place& place) {
      // Another name or uid is another object.
      if (!place.facts.value("immutable", false) || place.name.starts_with("meta.v1 ")) return;
      if (place.stored == nullptr || Changed(*place.stored) == *place.stored) return;
      // A type of the spec that the status has too, as the names of a CRD; an update ignores the status.
      if (place.path.to_string().starts_with("/status/")) return;
      ExpectImmutable(client, name, place);
      seen.insert(place.name);
    });
  }
  ExpectReached([](const json& facts) { return facts.value("immutable", false); }, seen, kImmutablesOutOfReach);
  ExpectReached([](const json& facts) { return facts.contains("set_by") && facts["set_by"] != "server"; }, of_status,
                kOthersOutOfReach);
  for (const auto& [client, name] : made) EXPECT_TRUE(client.Delete(name).has_value()) << name;
}

// Runs of eight words, without regard to case and punctuation.
std::vector<std::string> Runs(const std::string& text) {
  constexpr std::size_t kWords = 8;
  std::vector<std::string> words(1), runs;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  for (std::size_t i = 0; i + kWords <= words.size(); ++i) {
    std::string run;
    for (std::size_t j = i; j < i + kWords; ++j) run += words[j] + ' ';
    runs.push_back(std::move(run));
  }
  return runs;
}

void EachText(const json& value, std::string_view key, const std::function<void(const std::string&)>& visit) {
  if (!value.is_structured()) return;
  for (const auto& [name, inner] : value.items()) {
    if (name == key && inner.is_string()) visit(inner);
    EachText(inner, key, visit);
  }
}

// Calls `visit` with each block of comment lines in the headers that kgen generates for this repository.
void EachComment(const std::function<void(const std::string& file, const std::string&)>& visit) {
  for (const char* folder : {"generated", "runtime"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test_support::SourcePath(folder))) {
      if (entry.path().extension() != ".h") continue;
      std::istringstream lines(test_support::ReadFile(entry.path()));
      std::string line, block;
      bool generated = false;
      while (std::getline(lines, line)) {
        const std::size_t start = line.find_first_not_of(' ');
        generated = generated || line.contains("Code generated by kgen");
        if (start != std::string::npos && line.compare(start, 3, "// ") == 0) {
          block += line.substr(start + 2);
        } else if (generated && !block.empty()) {
          visit(entry.path(), std::exchange(block, {}));
        }
      }
    }
  }
}

TEST_F(DescriptionsTest, AreNotTheServersOwn) {
  std::set<std::string> theirs;
  const auto raw = [](const std::string& path) {
    std::string text = RealApiServer::Kubectl("get --raw '" + path + "'");
    return json::parse(text.substr(std::min(text.find('{'), text.size())), nullptr, /*allow_exceptions=*/false);
  };
  const json documents = raw("/openapi/v3");
  for (const auto& [path, document] : documents["paths"].items()) {
    if (!path.starts_with("api")) continue;
    EachText(raw(document["serverRelativeURL"]), "description", [&](const std::string& text) {
      for (std::string& run : Runs(text)) theirs.insert(std::move(run));
    });
  }
  ASSERT_GT(theirs.size(), 10'000u);
  for (const auto& [version, types] : described_.types()) {
    EachText(types, "text", [&](const std::string& text) {
      for (const std::string& run : Runs(text)) EXPECT_FALSE(theirs.contains(run)) << version << ": " << run;
    });
  }
  EachComment([&](const std::string& file, const std::string& text) {
    for (const std::string& run : Runs(text)) EXPECT_FALSE(theirs.contains(run)) << file << ": " << run;
  });
}

}  // namespace
}  // namespace kgen::integration
