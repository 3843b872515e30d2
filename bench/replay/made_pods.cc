// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "bench/replay/made_pods.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <utility>

#include "bench/protobuf_pods.h"
#include "bench/reference_pods.h"

namespace kgen::bench {
namespace {

constexpr std::size_t kPodsInSet = MadePods::kPodsInSet;
constexpr std::size_t kSetsInNamespace = MadePods::kPodsInNamespace / kPodsInSet;
constexpr std::size_t kPodsOnNode = 60;
constexpr std::size_t kTemplateSets = 120;  // reference ReplicaSets, of which one for each kind of name is used
constexpr std::size_t kTimes = 4;
constexpr std::size_t kTimeBytes = 5;  // of a varint
constexpr std::int64_t kFirstTime = 1'767'000'000;

enum Token : std::uint32_t {
  kSpace,
  kApp,
  kSetHash,
  kSetUid,
  kChecksum,
  kImageDigest,
  kSideDigest,
  kName,
  kAccount,
  kNode,
  kIp,
  kHost,
  kUid,
  kContainers,
  kVersion = kContainers + 4,
  kRestarts,                      // a digit
  kRestartsByte,                  // the same in protobuf
  kTime,                          // created, started, ready, changed: as text
  kTimeVarint = kTime + kTimes,   // the same in protobuf
  kTokens = kTimeVarint + kTimes  // the number of tokens
};

// The characters of each token that is found by its text.
constexpr std::size_t kSizes[kRestarts] = {12, 4, 10, 36, 64, 64, 64, 5, 5, 11, 11, 11, 36, 64, 64, 64, 64, 15};

// ------------------------------------------------------------------------------------------------------- values

// A random number that depends on what it is for.
std::uint64_t Draw(std::uint64_t number, std::uint64_t purpose) noexcept {
  std::uint64_t x = number * 0x9E3779B97F4A7C15u + purpose * 0xD1B54A32D192ED03u + 0x2545F4914F6CDD1Du;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

void Hex(std::uint64_t number, std::uint64_t purpose, char* out, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; i += 16) {
    std::uint64_t bits = Draw(number, purpose * 8 + i / 16);
    for (std::size_t k = i; k < std::min(i + 16, size); ++k, bits >>= 4) out[k] = "0123456789abcdef"[bits & 15];
  }
}

void Uid(std::uint64_t number, std::uint64_t purpose, char* out) noexcept {
  Hex(number, purpose, out, 36);
  for (const int dash : {8, 13, 18, 23}) out[dash] = '-';
  out[14] = '4';
  out[19] = 'a';
}

constexpr std::string_view kLetters = "2456789bcdfghjklmnpqrstvwxz";

void Letters(std::uint64_t number, std::uint64_t purpose, char* out, std::size_t size) noexcept {
  std::uint64_t bits = Draw(number, purpose * 8);
  for (std::size_t i = 0; i < size; ++i, bits /= kLetters.size()) out[i] = kLetters[bits % kLetters.size()];
}

void Digits(std::uint64_t number, char* out, std::size_t size) noexcept {
  for (std::size_t i = size; i-- > 0; number /= 10) out[i] = static_cast<char>('0' + number % 10);
}

// Three numbers from 100 to 255.
void Octets(std::uint64_t number, char separator, char* out) noexcept {
  for (int i = 8; i >= 0; i -= 4, number /= 156) Digits(100 + number % 156, out + i, 3);
  out[3] = out[7] = separator;
}

void TimeText(std::int64_t seconds, char* out) noexcept {
  const std::time_t time = seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[24];
  std::memcpy(out, text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

void TimeVarint(std::int64_t seconds, char* out) noexcept {
  for (std::size_t i = 0; i < kTimeBytes; ++i, seconds >>= 7) {
    out[i] = static_cast<char>((seconds & 0x7F) | (i + 1 < kTimeBytes ? 0x80 : 0));
  }
}

void TheSpace(std::size_t pod, char* out) noexcept {
  std::memcpy(out, "tenant-", 7);
  Digits(pod / MadePods::kPodsInNamespace, out + 7, 5);
}

// What stands in a template for a token.
std::string AsText(std::uint32_t token) {
  std::string text(kSizes[token], '~');
  text[1] = static_cast<char>('A' + token);
  return text;
}

// The time that stands in a template for a token.
std::int64_t TemplateTime(std::size_t which) { return 978'310'861 + 86'400 * static_cast<std::int64_t>(which); }

// --------------------------------------------------------------------------------------------------- templates

std::string_view After(std::string_view pod, std::string_view before, std::size_t from = 0) {
  const std::size_t at = pod.find(before, from) + before.size();
  return pod.substr(at, pod.find('"', at) - at);
}

void Replace(std::string& pod, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = pod.find(from, at)) != std::string::npos; at += to.size()) {
    pod.replace(at, from.size(), to);
  }
}

void ReplaceAfter(std::string& pod, std::string_view before, const std::string& to, std::size_t from = 0) {
  Replace(pod, std::string(After(pod, before, from)), to);
}

std::string TimeTextOf(std::size_t which) {
  std::string text(20, ' ');
  TimeText(TemplateTime(which), text.data());
  return text;
}

// Puts what stands for a token wherever pods differ.
std::string Marked(std::string pod) {
  const std::string generate(After(pod, R"("generateName":")"));  // "payments-api-321-bcdfghjklm-"
  const std::string set = generate.substr(0, generate.size() - 1);
  const std::string app = set.substr(0, set.rfind('-'));
  const std::string prefix = app.substr(0, app.rfind('-') + 1);
  ReplaceAfter(pod, R"("name":")", generate + AsText(kName));
  Replace(pod, set, app + "-" + AsText(kSetHash));
  ReplaceAfter(pod, R"("pod-template-hash":")", AsText(kSetHash));
  Replace(pod, app, prefix + AsText(kApp));
  ReplaceAfter(pod, R"("namespace":")", AsText(kSpace));
  ReplaceAfter(pod, R"("uid":")", AsText(kUid));
  ReplaceAfter(pod, R"("uid":")", AsText(kSetUid), pod.find(R"("ownerReferences")"));
  ReplaceAfter(pod, R"("checksum/config":")", AsText(kChecksum));
  ReplaceAfter(pod, "@sha256:", AsText(kImageDigest));
  ReplaceAfter(pod, "@sha256:", AsText(kSideDigest), pod.rfind("@sha256:"));
  ReplaceAfter(pod, R"("name":"kube-api-access-)", AsText(kAccount));
  ReplaceAfter(pod, R"("nodeName":")", "ip-10-" + AsText(kNode) + ".eu-west-1.compute.internal");
  ReplaceAfter(pod, R"("podIP":")", "10." + AsText(kIp));
  ReplaceAfter(pod, R"("hostIP":")", "10." + AsText(kHost));
  ReplaceAfter(pod, R"("resourceVersion":")", AsText(kVersion));
  std::size_t container = 0;
  for (std::uint32_t i = 0; i < 4; ++i, ++container) {
    container = pod.find("containerd://", container);
    ReplaceAfter(pod, "containerd://", AsText(kContainers + i), container);
  }
  ReplaceAfter(pod, R"("creationTimestamp":")", TimeTextOf(0));
  ReplaceAfter(pod, R"("terminated":{"exitCode":0,"reason":"Completed","startedAt":")", TimeTextOf(1));
  ReplaceAfter(pod, R"("finishedAt":")", TimeTextOf(2));
  // What a status report changes: the time of its field manager, and of one condition.
  for (const auto& [before, mark] : {std::pair{R"("manager":"kubelet")", R"("time":")"},
                                     std::pair{R"("conditions":[{)", R"("lastTransitionTime":")"}}) {
    const std::size_t at = pod.find(mark, pod.find(before)) + std::strlen(mark);
    pod.replace(at, 20, TimeTextOf(3));
  }
  return pod;
}

std::size_t AtRestarts(std::string_view pod) {
  constexpr std::string_view kMark = R"("restartCount":)";
  return pod.rfind(kMark) + kMark.size();
}

}  // namespace

struct MadePods::Values {
  char text[kTokens][64];

  Values(const MadePods& pods, std::size_t pod, const State& state) {
    const std::size_t set = pod / kPodsInSet;
    const std::size_t node = Draw(pod, kNode) % (pods.count_ / kPodsOnNode + 1);
    TheSpace(pod, text[kSpace]);
    Digits(Draw(set, kApp) % 10'000, text[kApp], 4);
    Letters(set, kSetHash, text[kSetHash], 10);
    Uid(set, kSetUid, text[kSetUid]);
    for (const Token digest : {kChecksum, kImageDigest, kSideDigest}) Hex(set, digest, text[digest], 64);
    Letters(pod, kName, text[kName], 5);
    text[kName][0] = kLetters[pod % kPodsInSet];  // in order
    Letters(pod, kAccount, text[kAccount], 5);
    Octets(node, '-', text[kNode]);
    Octets(pod, '.', text[kIp]);
    Octets(node, '.', text[kHost]);
    Uid(pod, kUid, text[kUid]);
    for (std::uint32_t i = 0; i < 4; ++i) Hex(pod, kContainers + i, text[kContainers + i], 64);
    Digits(static_cast<std::uint64_t>(state.version), text[kVersion], 15);
    text[kRestartsByte][0] = static_cast<char>(state.updates % 10);
    text[kRestarts][0] = static_cast<char>('0' + text[kRestartsByte][0]);
    const auto created = kFirstTime + static_cast<std::int64_t>(Draw(pod, kTime) % 10'000'000);
    const auto update = static_cast<std::int64_t>(state.updates);
    const std::int64_t times[kTimes] = {created, created + 2, created + 9, created + 9 + update};
    for (std::size_t i = 0; i < kTimes; ++i) {
      TimeText(times[i], text[kTime + i]);
      TimeVarint(times[i], text[kTimeVarint + i]);
    }
  }
};

MadePods::Template MadePods::MakeTemplate(std::string json) {
  Template made;
  const std::string_view generate = After(json, R"("generateName":")");
  made.order = generate.substr(0, generate.find_first_of("0123456789"));
  json = Marked(std::move(json));
  json[AtRestarts(json)] = '1';
  const std::string other = AsProtobufPod(json);
  json[AtRestarts(json)] = '2';
  made.protobuf.text = AsProtobufPod(json);
  made.json.text = json.substr(1, json.size() - 2);
  made.json.slots.push_back({kRestarts, static_cast<std::uint32_t>(AtRestarts(made.json.text)), 1});
  const auto differs = std::ranges::mismatch(other, made.protobuf.text).in1 - other.begin();
  made.protobuf.slots.push_back({kRestartsByte, static_cast<std::uint32_t>(differs), 1});
  const auto find = [](Encoding& in, std::uint32_t token, const std::string& text) {
    for (std::size_t at = 0; (at = in.text.find(text, at)) != std::string::npos; at += text.size()) {
      in.slots.push_back({token, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(text.size())});
    }
  };
  for (Encoding* const encoding : {&made.json, &made.protobuf}) {
    for (std::uint32_t token = 0; token < kRestarts; ++token) find(*encoding, token, AsText(token));
  }
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    find(made.json, kTime + i, TimeTextOf(i));
    std::string varint(kTimeBytes, '\0');
    TimeVarint(TemplateTime(i), varint.data());
    find(made.protobuf, kTimeVarint + i, varint);
  }
  return made;
}

MadePods::MadePods(std::size_t count) : count_(count) {
  std::map<std::string, Template> by_order;
  const std::vector<std::string> pods = ReferencePods(kTemplateSets * kPodsInSet);
  for (std::size_t i = 0; i < pods.size(); i += kPodsInSet) {
    const std::string_view generate = After(pods[i], R"("generateName":")");
    const std::string order(generate.substr(0, generate.find_first_of("0123456789")));
    if (!by_order.contains(order)) by_order.emplace(order, MakeTemplate(pods[i]));
  }
  for (auto& [order, made] : by_order) templates_.push_back(std::move(made));
}

const MadePods::Template& MadePods::TemplateOf(std::size_t pod) const noexcept {
  const std::size_t set = pod / kPodsInSet;
  const std::size_t space = set / kSetsInNamespace;
  // Ascends within a namespace, and differs between namespaces.
  return templates_[(set % kSetsInNamespace * templates_.size() + space % templates_.size()) / kSetsInNamespace];
}

void MadePods::Append(const Encoding& encoding, const Values& values, std::string& out) {
  const std::size_t start = out.size();
  out += encoding.text;
  for (const Slot& slot : encoding.slots) std::memcpy(&out[start + slot.at], values.text[slot.token], slot.size);
}

void MadePods::AppendJson(std::size_t pod, const State& state, std::string& out) const {
  Append(TemplateOf(pod).json, Values(*this, pod, state), out);
}

void MadePods::AppendProtobuf(std::size_t pod, const State& state, std::string& out) const {
  Append(TemplateOf(pod).protobuf, Values(*this, pod, state), out);
}

std::size_t MadePods::ProtobufSize(std::size_t pod) const noexcept { return TemplateOf(pod).protobuf.text.size(); }

std::uint64_t MadePods::Hash(std::size_t pod, ShardBy by) noexcept {
  char key[36];
  if (by == ShardBy::kUid) {
    Uid(pod, kUid, key);
    return ShardHash({key, 36});
  }
  TheSpace(pod, key);
  return ShardHash({key, 12});
}

}  // namespace kgen::bench
