// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/certificate_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/json/compact_json.h"
#include "core/json/json_depth.h"
#include "kgen/core/time.h"

namespace kgen::controller {
namespace {

using std::chrono::sys_seconds;

// The keys of the Secret. The first three are the ones of cert-manager.
constexpr char kServingCertificate[] = "tls.crt";
constexpr char kServingKey[] = "tls.key";
constexpr char kAuthorityCertificate[] = "ca.crt";
constexpr char kAuthorityKey[] = "ca.key";
constexpr char kNextCertificate[] = "next-ca.crt";
constexpr char kNextKey[] = "next-ca.key";
constexpr char kRecord[] = "rotation.json";

std::string TextOfTime(sys_seconds time) { return Time(time).str(); }

// Reads the time of a member; nothing if it is not there or is no time.
std::optional<sys_seconds> TimeOfMember(const nlohmann::json& object, const char* member) {
  const auto found = object.find(member);
  if (found == object.end() || !found->is_string()) return {};
  const auto time = Time::Parse(found->get_ref<const std::string&>());
  if (!time) return {};
  return std::chrono::floor<std::chrono::seconds>(time->value());
}

// Reads one element of "old". Every certificate in it counts.
bool ReadOld(const nlohmann::json& element, std::vector<OldAuthority>& old) {
  if (!element.is_object()) return false;
  const std::optional<sys_seconds> until = TimeOfMember(element, "until");
  const auto pem = element.find("certificate");
  if (!until || pem == element.end() || !pem->is_string()) return false;
  const std::vector<net::CertificateFacts> all = net::ReadCertificates(pem->get_ref<const std::string&>());
  for (const net::CertificateFacts& one : all) old.push_back({one.pem, *until});
  return !all.empty();
}

bool ReadRecord(std::string_view text, CertificateState& state) {
  if (detail::NestsTooDeep(text)) return false;
  const nlohmann::json record = nlohmann::json::parse(text, nullptr, false);
  if (!record.is_object()) return false;
  const std::optional<sys_seconds> signed_until = TimeOfMember(record, "signedUntil");
  if (!signed_until) return false;
  state.signed_until = *signed_until;
  state.published = TimeOfMember(record, "published");
  const auto old = record.find("old");
  if (old == record.end()) return true;
  if (!old->is_array()) return false;
  return std::ranges::all_of(*old, [&](const nlohmann::json& element) { return ReadOld(element, state.old); });
}

std::string WriteRecord(const CertificateState& state) {
  nlohmann::json record = {{"signedUntil", TextOfTime(state.signed_until)}};
  if (state.published) record["published"] = TextOfTime(*state.published);
  for (const OldAuthority& old : state.old) {
    record["old"].push_back({{"certificate", old.pem}, {"until", TextOfTime(old.until)}});
  }
  return detail::CompactJson(record);
}

}  // namespace

KeyPair ReadKeyPair(net::Identity identity) {
  KeyPair pair{.identity = std::move(identity)};
  if (!net::KeyFits(pair.identity)) return pair;
  std::vector<net::CertificateFacts> all = net::ReadCertificates(pair.identity.certificate_pem);
  if (!all.empty()) pair.facts = std::move(all.front());
  return pair;
}

std::vector<std::string> CertificateState::Published() const {
  std::vector<std::string> all;
  const auto add = [&](const std::string& pem) {
    if (!pem.empty() && std::ranges::find(all, pem) == all.end()) all.push_back(pem);
  };
  add(authority.facts.pem);
  add(next.facts.pem);
  for (const OldAuthority& each : old) add(each.pem);
  return all;
}

std::string CertificateState::Bundle() const {
  std::string bundle;
  for (const std::string& pem : Published()) bundle += pem;
  return bundle;
}

CertificateState DecodeState(const SecretData& data) {
  const auto pair = [&](const char* certificate, const char* key) {
    const auto text = [&](const char* name) {
      const auto found = data.find(name);
      return found == data.end() ? std::string() : found->second;
    };
    return ReadKeyPair({text(certificate), text(key)});
  };
  CertificateState state{.serving = pair(kServingCertificate, kServingKey),
                         .authority = pair(kAuthorityCertificate, kAuthorityKey),
                         .next = pair(kNextCertificate, kNextKey)};
  // A certificate that cannot sign is no authority.
  if (!state.authority.facts.authority) state.authority = {};
  if (!state.next.facts.authority) state.next = {};
  const auto record = data.find(kRecord);
  if (record == data.end() || !ReadRecord(record->second, state)) {
    state.old.clear();
    state.published.reset();
    state.record_lost = true;
  }
  return state;
}

SecretData EncodeState(const CertificateState& state) {
  SecretData data = {{kServingCertificate, state.serving.identity.certificate_pem},
                     {kServingKey, state.serving.identity.key_pem},
                     {kAuthorityCertificate, state.authority.identity.certificate_pem},
                     {kAuthorityKey, state.authority.identity.key_pem},
                     {kRecord, WriteRecord(state)}};
  if (state.next.usable()) {
    data[kNextCertificate] = state.next.identity.certificate_pem;
    data[kNextKey] = state.next.identity.key_pem;
  }
  return data;
}

}  // namespace kgen::controller
