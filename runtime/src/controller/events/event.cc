// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/events/event.h"

#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "client/verbs/label_names.h"
#include "core/dns_names.h"
#include "core/json/utf8.h"
#include "kgen/core/object_key.h"

namespace kgen::controller {
namespace {

// The limits of the server, in bytes.
constexpr std::size_t kMaxWord = 128;  // reason, action, reportingInstance
constexpr std::size_t kMaxNote = 1024;

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string_view KindOf(const detail::EventObject& object) noexcept {
  return object.of != nullptr ? object.of->kind : object.kind;
}

ObjectReference ReferenceTo(const detail::EventObject& object) {
  ObjectReference reference{.name = object.metadata.name, .kind = KindOf(object)};
  if (object.of != nullptr) {
    reference.apiVersion = GroupVersion{object.of->group, object.of->version}.str();
  } else {
    reference.apiVersion = object.api_version;
  }
  // Empty members are left out, as Go's encoder does.
  if (!object.metadata.namespace_.empty()) reference.namespace_ = object.metadata.namespace_;
  if (!object.metadata.resourceVersion.empty()) reference.resourceVersion = object.metadata.resourceVersion;
  if (!object.metadata.uid.empty()) reference.uid = object.metadata.uid;
  return reference;
}

// The two functions below return "" if there is no problem.
std::string ProblemOf(std::string_view which, const ObjectReference& object) {
  const auto missing = [&](std::string_view what) {
    return std::string(which) + " has no " + std::string(what) +
           "; record events about objects as they came from the server";
  };
  if (object.name.empty()) return missing("name");
  if (object.kind.empty()) return missing("kind");
  if (object.apiVersion.empty()) return missing("apiVersion");
  return {};
}

std::string ProblemOf(std::string_view which, std::string_view word) {
  if (word.empty()) return std::string(which) + " is empty; the server requires one";
  if (word.size() <= kMaxWord) return {};
  return std::string(which) + " has " + std::to_string(word.size()) + " bytes, the server accepts " +
         std::to_string(kMaxWord) + "; put the text into the note";
}

// Cuts the text between two characters. What is not UTF-8 becomes U+FFFD first, as the server would make it, because
// that is longer.
std::string CutNote(std::string_view note) {
  constexpr std::string_view kMark = "...";
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const std::string_view text = note.substr(0, kMaxNote + 4);  // 4: a whole character more than what fits
  const char* const end = text.data() + text.size();
  std::string out;
  for (const char* at = text.data(); at != end;) {
    const char* const bad = detail::FindInvalidUtf8(at, end);
    out.append(at, bad);
    if (bad == end) break;
    out += kReplacement;
    at = bad + 1;
  }
  if (out.size() <= kMaxNote) return out;
  std::size_t size = kMaxNote - kMark.size();
  while ((static_cast<unsigned char>(out[size]) & 0xC0) == 0x80) --size;  // inside a character
  out.resize(size);
  return out += kMark;
}

// Zero bytes separate, since no name has one.
void Append(std::string& out, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) out.append(part).push_back('\0');
}

void Append(std::string& out, const ObjectReference& object) {
  Append(out, {object.apiVersion, object.kind, object.namespace_, object.name, object.uid});
}

std::string Describe(std::string_view kind, std::string_view namespace_, std::string_view name,
                     std::string_view reason) {
  std::string out(kind.empty() ? std::string_view("object") : kind);
  return out.append(" ").append(ObjectKey(namespace_, name).str()).append(": ").append(reason);
}

}  // namespace

EventReporter::EventReporter(EventRecorderOptions options)
    : controller(std::move(options.controller)), instance(std::move(options.instance)) {
  if (!client::IsQualifiedName(controller)) {
    problem = "EventRecorderOptions::controller is \"" + controller +
              "\"; name the controller like a label key: \"shop.example.com/orders\"";
  }
  if (instance.empty()) {
    instance = (controller + "-" + HostName()).substr(0, kMaxWord);
  } else if (instance.size() > kMaxWord) {
    problem = ProblemOf("EventRecorderOptions::instance", instance);
  }
}

std::expected<Event, std::string> MakeEvent(const EventReporter& source, const detail::EventObject& regarding,
                                            const detail::EventObject* related, const EventDetails& details,
                                            SysMicros now) {
  Event event{.action = details.action,
              .eventTime = now,
              .note = CutNote(details.note),
              .reason = details.reason,
              .reportingController = source.controller,
              .reportingInstance = source.instance,
              .type = details.type == EventType::kNormal ? "Normal" : "Warning"};
  event.regarding = ReferenceTo(regarding);
  std::string problem = source.problem;
  if (problem.empty()) problem = ProblemOf("the object", *event.regarding);
  if (problem.empty() && related != nullptr) {
    event.related = ReferenceTo(*related);
    problem = ProblemOf("the related object", *event.related);
  }
  if (problem.empty()) problem = ProblemOf("the reason", details.reason);
  if (problem.empty()) problem = ProblemOf("the action", details.action);
  if (!problem.empty()) return std::unexpected(std::move(problem));
  event.metadata.namespace_ = event.regarding->namespace_.empty() ? String("default") : event.regarding->namespace_;
  return event;
}

std::string EventName(std::string_view object, std::uint64_t stamp) {
  char hex[16];
  const auto end = std::to_chars(hex, hex + sizeof hex, stamp, 16).ptr;
  const std::string suffix = "." + std::string(hex, end);
  std::string name = std::string(object) + suffix;
  return detail::IsDnsSubdomain(name) ? name : "event" + suffix;
}

std::string ObjectOf(const Event& event) {
  std::string key;
  Append(key, {event.type});
  Append(key, *event.regarding);
  return key;
}

std::string SeriesOf(const Event& event) {
  std::string key = ObjectOf(event);
  Append(key, {event.reason, event.action});
  Append(key, *event.related);
  return key += event.note;
}

std::string Describe(const detail::EventObject& regarding, std::string_view reason) {
  return Describe(KindOf(regarding), regarding.metadata.namespace_, regarding.metadata.name, reason);
}

std::string Describe(const Event& event) {
  const ObjectReference& object = *event.regarding;
  return Describe(object.kind, object.namespace_, object.name, event.reason);
}

}  // namespace kgen::controller
