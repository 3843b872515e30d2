// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "tests/integration/sample_controller/audit_log.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/integration/real_api_server.h"

namespace kgen::integration {
namespace {

using Json = nlohmann::json;

constexpr const char* kPolicy = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
omitManagedFields: true
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - {group: samplecontroller.k8s.io, resources: [foos, foos/status]}
  - {group: apps, resources: [deployments, deployments/status]}
  - {group: "", resources: [events]}
  - {group: events.k8s.io, resources: [events]}
- level: None
)";

std::string Path() {
  const char* path = std::getenv("KGEN_TEST_AUDIT_LOG");
  return path == nullptr ? "" : path;
}

// A member of an object that may not be there.
Json At(const Json& object, const char* name) { return object.is_object() ? object.value(name, Json()) : Json(); }
std::string TextAt(const Json& object, const char* name) {
  const Json value = At(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

// Removes null and {}: a Go struct without `omitempty` has them.
void RemoveEmpty(Json& value) {
  if (value.is_array()) {
    for (Json& item : value) RemoveEmpty(item);
  } else if (value.is_object()) {
    for (auto member = value.begin(); member != value.end();) {
      RemoveEmpty(*member);
      const bool empty = member->is_null() || (member->is_object() && member->empty());
      member = empty ? value.erase(member) : std::next(member);
    }
  }
}

void RemoveAssigned(Json& object) {
  if (!object.contains("metadata")) return;
  Json& metadata = object["metadata"];
  for (const char* name : {"creationTimestamp", "generation", "managedFields", "namespace", "resourceVersion", "uid"}) {
    metadata.erase(name);
  }
  if (!metadata.contains("ownerReferences")) return;
  for (Json& owner : metadata["ownerReferences"]) owner.erase("uid");
}

// An Event of either API group.
std::string EventText(const Json& event) {
  const bool core = event.contains("involvedObject");
  const Json object = At(event, core ? "involvedObject" : "regarding");
  const std::string source = core ? TextAt(At(event, "source"), "component") : TextAt(event, "reportingController");
  return TextAt(event, "type") + " " + TextAt(event, "reason") + " of " + TextAt(object, "kind") + " " +
         TextAt(object, "name") + " by " + source;
}

// Collects the writes of one program, without repetitions.
class Collector {
 public:
  // `changes`: it succeeded and made another version of the object.
  void Add(const std::string& target, const std::string& text, bool succeeded, bool changes) {
    const auto [found, first] = last_.try_emplace(target, writes_.size());
    if (Write* last = first ? nullptr : &writes_[found->second];
        last != nullptr && last->text == text && !(changes && last->succeeded)) {
      last->succeeded |= succeeded;
      return;
    }
    found->second = writes_.size();
    writes_.push_back({text, succeeded});
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const Write& write : writes_) texts.push_back(write.text + (write.succeeded ? "" : " failed"));
    return texts;
  }

 private:
  struct Write {
    std::string text;
    bool succeeded;
  };
  std::vector<Write> writes_;
  std::map<std::string, std::size_t> last_;  // by object and subresource
};

std::string Query(const Json& request) {
  const std::string uri = TextAt(request, "requestURI");
  const std::size_t query = uri.find('?');
  return query == std::string::npos ? "" : " " + uri.substr(query);
}

}  // namespace

void StartAudit() {
  // The server was started with its usual policy, which leaves out bodies.
  std::ofstream(std::filesystem::path(Path()).parent_path() / "audit.yaml") << kPolicy;
  RealApiServer::Restart();
}

Writes WritesOf(std::string_view program, std::string_view in_namespace) {
  std::ifstream log(Path());
  return WritesIn(log, program, in_namespace);
}

Writes WritesIn(std::istream& log, std::string_view program, std::string_view in_namespace) {
  Writes writes;
  Collector collector;
  std::map<std::string, std::uint64_t> newest;  // version of each object that any write has made
  for (std::string line; std::getline(log, line);) {
    const Json request = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const Json object = At(request, "objectRef");
    if (TextAt(object, "namespace") != in_namespace) continue;
    const bool own = TextAt(request, "userAgent").starts_with(std::string(program) + "/");
    const std::string verb = TextAt(request, "verb");
    const std::string resource = TextAt(object, "resource");
    Json body = At(request, "requestObject");
    if (resource == "events") {
      if (own && verb == "create") writes.events.insert(EventText(body));
      continue;
    }
    std::string name = TextAt(object, "name");
    if (name.empty()) name = TextAt(At(body, "metadata"), "name");
    const bool succeeded = At(At(request, "responseStatus"), "code").get<int>() < 300;
    bool changes = false;
    if (const std::string text = TextAt(At(At(request, "responseObject"), "metadata"), "resourceVersion");
        succeeded && !text.empty()) {
      // Versions grow, but lines are in the order in which responses ended: the line of the write that a controller has
      // reacted to may come after the lines of its own writes.
      const std::uint64_t version = std::stoull(text);
      std::uint64_t& known = newest[resource + " " + name];
      changes = version > known;
      known = std::max(known, version);
    }
    if (!own) continue;
    RemoveAssigned(body);
    RemoveEmpty(body);
    const std::string subresource = TextAt(object, "subresource");
    const std::string target = resource + (subresource.empty() ? "" : "/" + subresource) + " " + name;
    collector.Add(target, verb + " " + target + Query(request) + " " + body.dump(), succeeded, changes);
    ++writes.requests;
  }
  writes.objects = collector.Texts();
  return writes;
}

}  // namespace kgen::integration
