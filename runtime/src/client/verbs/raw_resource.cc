// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/client/raw_resource.h"

#include <utility>

#include "client/request/url_encoding.h"
#include "net/duration_text.h"

namespace kgen {
namespace {

Result<void> CheckSegment(std::string_view what, std::string_view text) {
  if (text.empty()) return Fail(Code::kInvalidArgument, std::string(what) + " is empty");
  if (text == "." || text == ".." || text.find_first_of("/%") != std::string_view::npos) {
    return Fail(Code::kInvalidArgument, std::string(what) + " \"" + std::string(text) +
                                            "\" must not be \".\" or \"..\" and must not contain '/' or '%'");
  }
  return {};
}

// Generated kinds always pass; the kinds of a DynamicClient are named by its user.
Result<void> CheckKind(const KindInfo& kind) {
  if (auto ok = CheckSegment("the resource", kind.resource); !ok) return ok;
  if (auto ok = CheckSegment("the version", kind.version); !ok) return ok;
  return kind.group.empty() ? Result<void>() : CheckSegment("the group", kind.group);
}

std::string Collection(const KindInfo& kind, std::string_view namespace_) {
  std::string path = kind.group.empty() ? "/api/" : "/apis/" + client::EscapeSegment(kind.group) + '/';
  path += client::EscapeSegment(kind.version);
  if (kind.scope == Scope::kNamespaced && !namespace_.empty())
    path += "/namespaces/" + client::EscapeSegment(namespace_);
  return path + '/' + client::EscapeSegment(kind.resource);
}

// "update pods default/web-0", "patch deployments.apps/v1/status default/web", "list widgets.example.com/v1 (Widget) in
// default". Two groups may have a resource of one name, and a group may have it in several versions; the resources of
// the core group need no more. Of what a CustomResourceDefinition may define, people know the kind better than the
// plural.
std::string Doing(std::string_view verb, const KindInfo& kind, std::string_view namespace_, std::string_view name,
                  std::string_view subresource) {
  std::string what(verb);
  what.append(" ").append(kind.resource);
  if (!kind.group.empty()) what.append(".").append(kind.group).append("/").append(kind.version);
  if (!subresource.empty()) what.append("/").append(subresource);
  if (kind.group.contains('.') && !kind.kind.empty()) what.append(" (").append(kind.kind).append(")");
  const bool scoped = kind.scope == Scope::kNamespaced && !namespace_.empty();
  if (!name.empty()) {
    what += ' ';
    if (scoped) what.append(namespace_).append("/");
    what.append(name);
  } else if (scoped) {
    what.append(" in ").append(namespace_);
  }
  return what;
}

std::unexpected<Error> Refuse(const Result<void>& check, const std::string& what) {
  return Fail(check.error().With(what));
}

Result<ApiRequest> OfCollection(std::string_view method, std::string_view verb, const KindInfo& kind,
                                std::string_view namespace_, bool all_namespaces) {
  ApiRequest request;
  request.method = method;
  request.json = true;
  request.what = Doing(verb, kind, namespace_, "", "");
  if (auto ok = CheckKind(kind); !ok) return Refuse(ok, request.what);
  if (kind.scope == Scope::kNamespaced && !(all_namespaces && namespace_.empty())) {
    if (auto ok = CheckSegment("the namespace", namespace_); !ok) return Refuse(ok, request.what);
  }
  request.path = Collection(kind, namespace_);
  return request;
}

Result<ApiRequest> OfObject(std::string_view method, std::string_view verb, const KindInfo& kind,
                            std::string_view namespace_, std::string_view name, std::string_view subresource) {
  ApiRequest request;
  request.method = method;
  request.json = true;
  request.what = Doing(verb, kind, namespace_, name, subresource);
  if (auto ok = CheckKind(kind); !ok) return Refuse(ok, request.what);
  if (auto ok = CheckSegment("the name", name); !ok) return Refuse(ok, request.what);
  if (kind.scope == Scope::kNamespaced) {
    if (auto ok = CheckSegment("the namespace", namespace_); !ok) return Refuse(ok, request.what);
  }
  request.path = Collection(kind, namespace_) + '/' + client::EscapeSegment(name);
  if (!subresource.empty()) {
    if (auto ok = CheckSegment("the subresource", subresource); !ok) return Refuse(ok, request.what);
    request.path += '/' + client::EscapeSegment(subresource);
  }
  return request;
}

// Returns the namespace of a write: the client's, or the object's if the client is for all namespaces.
Result<std::string_view> Target(const KindInfo& kind, std::string_view client, std::string_view object) {
  if (kind.scope == Scope::kCluster || object.empty() || object == client) return client;
  if (client.empty()) return object;
  return Fail(Code::kInvalidArgument, "the object's namespace is \"" + std::string(object) + "\", the client's is \"" +
                                          std::string(client) + "\"");
}

std::string_view Word(FieldValidation validation) noexcept {
  switch (validation) {
    case FieldValidation::kDefault:
      return "";
    case FieldValidation::kIgnore:
      return "Ignore";
    case FieldValidation::kWarn:
      return "Warn";
    case FieldValidation::kStrict:
      return "Strict";
  }
  return "";
}

std::string WriteQuery(bool dry_run, std::string_view field_manager, FieldValidation validation,
                       std::string_view force = {}) {
  client::QueryBuilder query;
  if (dry_run) query.Add("dryRun", "All");
  query.AddIfSet("fieldManager", field_manager);
  query.AddIfSet("fieldValidation", Word(validation));
  query.AddIfSet("force", force);
  return query.Take();
}

void SetJson(ApiRequest& request, std::string body) {
  request.content_type = "application/json";
  request.body = std::move(body);
}

}  // namespace

Result<ApiRequest> RawResource::Create(std::string_view object_namespace, std::string body,
                                       const CreateOptions& options) const {
  Result<std::string_view> target = Target(*kind_, namespace_, object_namespace);
  if (!target) return Fail(target.error().With(Doing("create", *kind_, namespace_, "", "")));
  Result<ApiRequest> request = OfCollection("POST", "create", *kind_, *target, false);
  if (!request) return request;
  request->query = WriteQuery(options.dry_run, options.field_manager, options.field_validation);
  request->timeout = options.timeout;
  SetJson(*request, std::move(body));
  return request;
}

Result<ApiRequest> RawResource::Update(std::string_view object_namespace, std::string_view name,
                                       std::string_view subresource, std::string body,
                                       const UpdateOptions& options) const {
  Result<std::string_view> target = Target(*kind_, namespace_, object_namespace);
  if (!target) return Fail(target.error().With(Doing("update", *kind_, namespace_, name, subresource)));
  Result<ApiRequest> request = OfObject("PUT", "update", *kind_, *target, name, subresource);
  if (!request) return request;
  request->query = WriteQuery(options.dry_run, options.field_manager, options.field_validation);
  request->timeout = options.timeout;
  SetJson(*request, std::move(body));
  return request;
}

Result<ApiRequest> RawResource::CreateSubresource(std::string_view body_namespace, std::string_view name,
                                                  std::string_view subresource, std::string body,
                                                  const CreateOptions& options) const {
  Result<std::string_view> target = Target(*kind_, namespace_, body_namespace);
  if (!target) return Fail(target.error().With(Doing("create", *kind_, namespace_, name, subresource)));
  Result<ApiRequest> request = OfObject("POST", "create", *kind_, *target, name, subresource);
  if (!request) return request;
  request->query = WriteQuery(options.dry_run, options.field_manager, options.field_validation);
  request->timeout = options.timeout;
  SetJson(*request, std::move(body));
  return request;
}

Result<ApiRequest> RawResource::Get(std::string_view name, std::string_view subresource,
                                    const GetOptions& options) const {
  Result<ApiRequest> request = OfObject("GET", "get", *kind_, namespace_, name, subresource);
  if (!request) return request;
  client::QueryBuilder query;
  query.AddIfSet("resourceVersion", options.resource_version);
  request->query = query.Take();
  request->timeout = options.timeout;
  return request;
}

Result<ApiRequest> RawResource::List(const ListOptions& options) const {
  Result<ApiRequest> request = OfCollection("GET", "list", *kind_, namespace_, true);
  if (!request) return request;
  request->query = options.Query();
  request->timeout = options.timeout;
  request->max_answer_bytes = options.max_answer_bytes;
  return request;
}

Result<ApiRequest> RawResource::Watch(const ListOptions& options) const {
  Result<ApiRequest> request = OfCollection("GET", "watch", *kind_, namespace_, true);
  if (!request) return request;
  request->query = options.Query(true);
  request->watch = true;
  request->timeout = options.timeout;
  return request;
}

Result<ApiRequest> RawResource::Patch(std::string_view name, std::string_view subresource, const kgen::Patch& patch,
                                      const PatchOptions& options) const {
  Result<ApiRequest> request = OfObject("PATCH", "patch", *kind_, namespace_, name, subresource);
  if (!request) return request;
  // Apply always sends `force`; the other kinds of patch must not.
  const bool apply = patch.content_type.starts_with("application/apply-patch");
  const std::string_view force = !apply ? "" : options.force ? "true" : "false";
  request->query = WriteQuery(options.dry_run, options.field_manager, options.field_validation, force);
  request->timeout = options.timeout;
  request->content_type = patch.content_type;
  request->body = patch.body;
  return request;
}

Result<ApiRequest> RawResource::Delete(std::string_view name, const DeleteOptions& options) const {
  Result<ApiRequest> request = OfObject("DELETE", "delete", *kind_, namespace_, name, "");
  if (!request) return request;
  request->timeout = options.timeout;
  SetJson(*request, options.Body());
  return request;
}

Result<ApiRequest> RawResource::DeleteCollection(const ListOptions& which, const DeleteOptions& options) const {
  Result<ApiRequest> request = OfCollection("DELETE", "delete collection of", *kind_, namespace_, true);
  if (!request) return request;
  if (!which.shard_selector.empty()) {
    return Fail(
        Error(Code::kInvalidArgument,
              "ListOptions::shard_selector is set, but a server that does not know it would delete every object; "
              "list the objects and delete each")
            .With(request->what));
  }
  request->query = which.Query();
  request->timeout = options.timeout ? options.timeout : which.timeout;
  SetJson(*request, options.Body());
  return request;
}

Result<ApiRequest> RawResource::StreamLogs(std::string_view name, const LogOptions& options) const {
  Result<ApiRequest> request = OfObject("GET", "get", *kind_, namespace_, name, "log");
  if (!request) return request;
  if (options.since && *options.since <= Nanos::zero()) {
    return Fail(Error(Code::kInvalidArgument, "LogOptions::since is " + net::DurationText(*options.since) +
                                                  "; leave it out for the log from its beginning")
                    .With(request->what));
  }
  request->json = false;
  request->text = true;
  request->watch = true;
  request->query = options.Query();
  request->timeout = options.timeout;
  return request;
}

Result<ApiRequest> RawResource::Logs(std::string_view name, const LogOptions& options) const {
  Result<ApiRequest> request = StreamLogs(name, options);
  if (!request) return request;
  if (options.follow) {
    return Fail(Error(Code::kInvalidArgument, "a log that is followed has no end; read it with StreamLogs()")
                    .With(request->what));
  }
  request->watch = false;
  return request;
}

}  // namespace kgen
