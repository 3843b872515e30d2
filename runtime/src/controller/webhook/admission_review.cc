// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/admission_review.h"

#include <cstddef>
#include <utility>

#include "codec/reader.h"
#include "core/json/quote.h"
#include "core/quoted.h"
#include "kgen/codec/encode.h"
#include "kgen/core/quantity.h"

namespace kgen::controller {
namespace {

using detail::Quoted;

constexpr std::string_view kAdmissionV1 = "admission.k8s.io/v1";
constexpr std::string_view kAdmissionV1Beta1 = "admission.k8s.io/v1beta1";

// The limits of an object (DecodeOptions), which is two levels below the top of the review.
constexpr std::size_t kMaxDepth = 256 + 2;
constexpr std::size_t kMaxMembers = 1'000'000;

// Reads one review. Functions return false where the text is not JSON. A member of the wrong type is skipped, and the
// first one is the error, so that the uid is found wherever it stands.
class ReviewReader {
 public:
  ReviewReader(std::string_view review, AdmissionRequest& request)
      : reader_(review, kMaxDepth, kMaxMembers, scratch_), request_(request) {}

  Result<void> Run() {
    const bool read = Object("the review", [this](std::string_view name) { return ReviewMember(name); });
    if (!read || !reader_.AtEnd()) {
      return Fail(Code::kDecode, std::string("the body is not JSON: ") + reader_.error() + ", at byte " +
                                     std::to_string(reader_.error_offset()));
    }
    if (!wrong_.empty()) return Fail(Code::kDecode, wrong_);
    if (kind_ != "AdmissionReview" || (api_version_ != kAdmissionV1 && api_version_ != kAdmissionV1Beta1)) {
      return Fail(Code::kDecode, "expected an AdmissionReview of " + std::string(kAdmissionV1) + " or " +
                                     std::string(kAdmissionV1Beta1) + ", found the kind " + Quoted(kind_) + " of " +
                                     Quoted(api_version_) + ": set admissionReviewVersions of the webhook to [\"v1\"]");
    }
    if (!has_request_) return Fail(Code::kDecode, "the AdmissionReview has no request");
    if (operation_.empty()) return Fail(Code::kDecode, "request.operation is missing");
    return {};
  }

 private:
  bool ReviewMember(std::string_view name) {
    if (name == "apiVersion") {
      if (!Text("apiVersion", api_version_)) return false;
      request_.v1beta1 = api_version_ == kAdmissionV1Beta1;
      return true;
    }
    if (name == "kind") return Text("kind", kind_);
    if (name != "request") return Skip();
    // The last one of several requests counts.
    request_ = {.v1beta1 = request_.v1beta1};
    operation_.clear();
    has_request_ = false;
    if (reader_.Peek() == 'n') return Skip();
    has_request_ = true;
    bool has_kind = false, has_resource = false, has_subresource = false;
    const auto member = [&](std::string_view each) {
      has_kind = has_kind || each == "requestKind";
      has_resource = has_resource || each == "requestResource";
      has_subresource = has_subresource || each == "requestSubResource";
      return RequestMember(each);
    };
    if (!Object("request", member)) return false;
    if (!has_kind) request_.request_kind = request_.kind;
    if (!has_resource) request_.request_resource = request_.resource;
    if (!has_resource && !has_subresource) request_.request_subresource = request_.subresource;
    return true;
  }

  bool RequestMember(std::string_view name) {
    AdmissionRequest& to = request_;
    if (name == "uid") return Text("request.uid", to.uid);
    if (name == "kind") return Names("request.kind", "kind", to.kind.group, to.kind.version, to.kind.kind);
    if (name == "requestKind") {
      GroupVersionKind& kind = to.request_kind;
      return Names("request.requestKind", "kind", kind.group, kind.version, kind.kind);
    }
    if (name == "resource") {
      return Names("request.resource", "resource", to.resource.group, to.resource.version, to.resource.resource);
    }
    if (name == "requestResource") {
      GroupVersionResource& resource = to.request_resource;
      return Names("request.requestResource", "resource", resource.group, resource.version, resource.resource);
    }
    if (name == "subResource") return Text("request.subResource", to.subresource);
    if (name == "requestSubResource") return Text("request.requestSubResource", to.request_subresource);
    if (name == "name") return Text("request.name", to.key.name);
    if (name == "namespace") return Text("request.namespace", to.key.namespace_);
    if (name == "operation") return Operation();
    if (name == "userInfo")
      return Object("request.userInfo", [this](std::string_view each) { return UserMember(each); });
    if (name == "dryRun") return Bool("request.dryRun", to.dry_run);
    if (name == "object") return RawObject("request.object", to.object);
    if (name == "oldObject") return RawObject("request.oldObject", to.old_object);
    if (name != "options") return Skip();
    std::string_view text;
    if (!RawObject("request.options", text)) return false;
    to.options = text.empty() ? Json() : Json(text);
    return true;
  }

  bool UserMember(std::string_view name) {
    AdmissionUser& user = request_.user;
    if (name == "username") return Text("request.userInfo.username", user.username);
    if (name == "uid") return Text("request.userInfo.uid", user.uid);
    if (name == "groups") return Texts("request.userInfo.groups", user.groups);
    if (name != "extra") return Skip();
    return Object("request.userInfo.extra",
                  [&](std::string_view key) { return Texts("request.userInfo.extra", user.extra[std::string(key)]); });
  }

  template <typename S>
  bool Names(std::string_view path, std::string_view last, S& group, S& version, S& name) {
    return Object(path, [&](std::string_view each) {
      if (each == "group") return Text(path, group);
      if (each == "version") return Text(path, version);
      return each == last ? Text(path, name) : Skip();
    });
  }

  bool Operation() {
    if (!Text("request.operation", operation_)) return false;
    for (const AdmissionOperation each : {AdmissionOperation::kCreate, AdmissionOperation::kUpdate,
                                          AdmissionOperation::kDelete, AdmissionOperation::kConnect}) {
      if (operation_ != ToString(each)) continue;
      request_.operation = each;
      return true;
    }
    Wrong("request.operation is " + Quoted(operation_) + ", expected CREATE, UPDATE, DELETE or CONNECT");
    return true;
  }

  // Calls `member` with each name, for its value.
  template <typename F>
  bool Object(std::string_view path, const F& member) {
    const char first = reader_.Peek();
    if (first != '{') return first == 'n' ? Skip() : WrongType(path, "an object");
    if (!reader_.Enter()) return false;
    if (!reader_.Take('}')) {
      do {
        std::string_view name;
        if (!reader_.Key(name) || !member(name)) return false;
      } while (reader_.Take(','));
      if (!reader_.Take('}')) return reader_.Fail("expected ',' or '}'", reader_.position());
    }
    reader_.Leave();
    return true;
  }

  // A null leaves the value as it is, as for a Go program.
  template <typename S>
  bool Text(std::string_view path, S& to) {
    const char first = reader_.Peek();
    if (first != '"') return first == 'n' ? Skip() : WrongType(path, "a string");
    std::string_view text;
    if (!reader_.String(text)) return false;
    to = text;
    return true;
  }

  bool Texts(std::string_view path, std::vector<std::string>& to) {
    to.clear();
    const char first = reader_.Peek();
    if (first != '[') return first == 'n' ? Skip() : WrongType(path, "a list of strings");
    if (!reader_.Enter()) return false;
    if (!reader_.Take(']')) {
      do {
        if (!Text(path, to.emplace_back())) return false;
      } while (reader_.Take(','));
      if (!reader_.Take(']')) return reader_.Fail("expected ',' or ']'", reader_.position());
    }
    reader_.Leave();
    return true;
  }

  bool Bool(std::string_view path, bool& to) {
    std::string_view text;
    const std::size_t offset = reader_.OffsetOf(reader_.position());
    if (!reader_.SkipValue(text)) return false;
    if (text != "null" && text != "true" && text != "false") Wrong(Expected(path, "a boolean", offset));
    if (text != "null") to = text == "true";
    return true;
  }

  bool RawObject(std::string_view path, std::string_view& to) {
    const char first = reader_.Peek();
    to = {};
    if (first == 'n') return Skip();
    return first == '{' ? reader_.SkipValue(to) : WrongType(path, "an object");
  }

  bool Skip() {
    std::string_view ignored;
    return reader_.SkipValue(ignored);
  }
  bool WrongType(std::string_view path, std::string_view expected) {
    Wrong(Expected(path, expected, reader_.OffsetOf(reader_.position())));
    return Skip();
  }
  static std::string Expected(std::string_view path, std::string_view expected, std::size_t offset) {
    return std::string(path).append(" is not ").append(expected) + ", at byte " + std::to_string(offset);
  }
  void Wrong(std::string message) {
    if (wrong_.empty()) wrong_ = std::move(message);
  }

  std::string scratch_;
  codec::Reader reader_;
  AdmissionRequest& request_;
  std::string api_version_, kind_, operation_;
  std::string wrong_;  // the first member of the wrong type
  bool has_request_ = false;
};

}  // namespace

Result<void> ReadAdmissionReview(std::string_view review, AdmissionRequest& request) {
  if (review.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Fail(Code::kDecode, "the request body is empty");
  }
  return ReviewReader(review, request).Run();
}

std::string WriteAdmissionReview(const AdmissionRequest& request, const AdmissionVerdict& verdict) {
  const auto quoted = [](std::string_view text) { return detail::QuoteJson(text); };
  std::string out = R"({"apiVersion":")";
  out.append(request.v1beta1 ? kAdmissionV1Beta1 : kAdmissionV1)
      .append(R"(","kind":"AdmissionReview","response":{"uid":)");
  out.append(quoted(request.uid)).append(verdict.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)");
  if (!verdict.allowed) {
    out += R"(,"status":)";
    detail::EncodeStruct(&verdict.status, meta::v1::Status::kTable, out);
  } else if (!verdict.patch.empty()) {
    const Bytes patch = Bytes::Of(verdict.patch);
    out.append(R"(,"patchType":"JSONPatch","patch":")").append(patch.base64()).append("\"");
  }
  std::string_view separator = R"(,"warnings":[)";
  for (const std::string& warning : verdict.warnings) {
    out.append(std::exchange(separator, ",")).append(quoted(warning));
  }
  if (!verdict.warnings.empty()) out += ']';
  separator = R"(,"auditAnnotations":{)";
  for (const auto& [key, value] : verdict.audit) {
    out.append(std::exchange(separator, ",")).append(quoted(key)).append(":").append(quoted(value));
  }
  if (!verdict.audit.empty()) out += '}';
  return out += "}}";
}

}  // namespace kgen::controller
