// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "generator/diagnostic.h"

namespace kgen::generator {
namespace {

struct WayOfError {
  std::string_view id, hint;
};

// What to do about each class of error of the input, where the place that finds it knows nothing better. By id.
constexpr WayOfError kWays[] = {
    {"composition", "give the property one schema in all parts of the composition, or different names"},
    {"crd-api-version", "write apiVersion: apiextensions.k8s.io/v1"},
    {"crd-list-kind", "leave listKind out; the server then takes the kind with List at its end"},
    {"crd-patch", "pass the CRD that it is applied to, or the output of kustomize build"},
    {"crd-scope", "write Namespaced or Cluster"},
    {"crd-structural", "a server takes only structural schemas: an object at the root, a type everywhere, no $ref"},
    {"crd-twice", "keep only one of the two"},
    {"crd-versions", "give the CRD at least one version, and each version a name of its own"},
    {"dangling-reference", "also pass the document with that definition, or correct the name in $ref"},
    {"definition-differs", "pass documents of one server and one version; kubectl get --raw /openapi/v3 lists them"},
    {"description", "name types and members of the documents, with the keys that openapi/README.md lists"},
    {"distinct-unknown", "write RESOURCE.GROUP:FIELD.FIELD, as in orders.shop.example.com:spec.template"},
    {"enum-type", "make the type and the values of the enum agree"},
    {"group-names", "see --group-names in `kgen generate --help`"},
    {"illegal-name", "write a name that the API server accepts"},
    {"input-binary", "pass YAML or JSON, or either of them compressed with gzip"},
    {"input-empty", "leave it out, or write the CRD into it; an interrupted download is empty too"},
    {"input-gzip", "compress or download the file again"},
    {"input-missing", "check the path; a relative one starts at the folder in which kgen runs"},
    {"input-too-large", "split the file into one for each CRD or API document"},
    {"input-unreadable", "check the permissions of the file and of the folders above it"},
    {"json-schema", "pass the CustomResourceDefinition that the schema was taken from"},
    {"kind-is-list", "rename one of the two kinds"},
    {"list-depth", "write the items of inner lists into the outer one"},
    {"missing-key", "add it; `kubectl explain crd` shows what a CRD needs"},
    {"no-input", "pass CRDs, or the API documents that a server publishes at /openapi/v3 and /openapi/v2"},
    {"no-openapi", "pass an API document, as a server publishes it at /openapi/v3"},
    {"openapi-root", "download the documents that it lists and pass those"},
    {"openapi-version", "pass a document of OpenAPI 3.0, 3.1 or 2.0"},
    {"operation-kind", "pass the complete document of that group version"},
    {"output-twice", "give one of the inputs another name"},
    {"own-name", "rename the struct, or give it the name of the kind"},
    {"own-namespace", "move the struct into the namespace that the message names"},
    {"projection-key", "write the keys that `kgen project --help` shows"},
    {"projection-kind", "correct apiVersion and kind, or name the API that has it with --use"},
    {"projection-member", "write the path of a member, as in spec.nodeName or status.podIPs[].ip"},
    {"projection-members", "list the members to keep, such as metadata.labels and spec.nodeName"},
    {"projection-name", "write a name of its own, such as PodAddress"},
    {"protobuf", "make the file anew from the Go types; openapi/README.md says how"},
    {"reference-cycle", "give one of the definitions of the cycle a type or properties of its own"},
    {"reference-depth", "give an object with properties inside of them a definition of its own"},
    {"reference-form", "kgen follows only #/components/schemas/NAME and #/definitions/NAME"},
    {"reference-size", "give the objects inside of the definitions definitions of their own"},
    {"runtime-type", "write GROUP/VERSION/NAME, or VERSION/NAME in the core group, as the documents name the type"},
    {"schema-type", "write object, array, string, integer, number or boolean"},
    {"syntax", "correct the text at this position; yamllint and jq find such faults too"},
    {"too-many-members", "make it a map: additionalProperties instead of properties"},
    {"type-mismatch", "name a type that has all fields of the object, or leave --type out"},
    {"type-twice", "keep only one of the two definitions"},
    {"type-unknown", "check the spelling of --type; `kgen generate --help` shows its form"},
    {"unknown-document", "pass only CRDs and API documents; in a folder, kgen leaves out what is neither"},
    {"version-cycle", "generate one of the versions in a run of its own"},
    {"wrong-kind", "write a value of the kind that is expected; in YAML, indentation and dashes decide what it is"},
};

}  // namespace

std::string_view WayOut(std::string_view id) {
  const auto* const way = std::lower_bound(std::begin(kWays), std::end(kWays), id,
                                           [](const WayOfError& a, std::string_view b) { return a.id < b; });
  return way == std::end(kWays) || way->id != id ? std::string_view() : way->hint;
}

}  // namespace kgen::generator
