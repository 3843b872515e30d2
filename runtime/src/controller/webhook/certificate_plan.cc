// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/webhook/certificate_plan.h"

#include <algorithm>
#include <utility>

#include "core/dns_names.h"
#include "kgen/core/time.h"
#include "net/event_loop.h"

namespace kgen::controller {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds kBehind = std::chrono::hours(1);  // how far the clock of a client may be behind
// More are not kept. They come from whoever deletes the Secret again and again; each has less than a kilobyte.
constexpr std::size_t kMaxOld = 64;

seconds WholeSeconds(Nanos duration) { return std::chrono::ceil<seconds>(duration); }

constexpr char kDue[] = "it was due";

std::string Until(const KeyPair& pair) { return "it is valid until " + Time(pair.facts.validity.until).str(); }

// How long before its end a certificate is replaced, at most `limit`. Counted by the life that it has, so that replicas
// with different options do not replace the certificates of each other.
seconds RenewBefore(const KeyPair& pair, std::optional<Nanos> limit) {
  const seconds life = pair.facts.validity.until - pair.facts.validity.from - kBehind;
  return limit ? std::min(WholeSeconds(*limit), life / 2) : life / 3;
}

// One call of NextStep().
class Planner {
 public:
  Planner(const CertificateState& state, const Publications& published, sys_seconds now, const CertificatePlan& plan)
      : before_(state), published_(published), now_(now), plan_(plan) {
    step_.state = state;
  }

  Result<std::optional<CertificateStep>> Next() {
    const Result<bool> due = Find();
    if (!due) return Fail(due.error());
    if (!*due) return std::optional<CertificateStep>();
    step_.state.record_lost = false;
    return std::optional(std::move(step_));
  }

 private:
  // Changes step_ and returns true if something is due.
  Result<bool> Find() {
    if (!before_.authority.valid(now_)) return Begin();
    if (before_.record_lost) return WriteRecordAgain();
    if (const std::string why = WhyToIssue(); !why.empty()) return Renew(why);
    if (const std::size_t gone = DropOld(); gone > 0) {
      step_.what = "removed " + std::to_string(gone) + " old CA, whose last certificate has expired";
      return true;
    }
    if (NextIsDue()) return MakeNext();
    if (!before_.next.usable()) return false;
    const bool published = AllPublish(published_, before_.next.facts.pem);
    if (!before_.published || *before_.published > now_) {  // in the future: somebody's clock was wrong
      if (!published) return false;
      step_.state.published = now_;
      step_.what = "every configuration publishes the next CA";
      return true;
    }
    if (!published) {  // somebody has replaced a configuration, or made one
      step_.state.published.reset();
      step_.what = "a configuration does not publish the next CA any more";
      return true;
    }
    if (now_ < *before_.published + WholeSeconds(plan_.settle)) return false;
    return Switch();
  }

  // Makes an authority, because there is none that can be used. What is published stays trusted for as long as a
  // certificate can be served that somebody has made before.
  Result<bool> Begin() {
    Result<KeyPair> authority = MakeAuthority();
    if (!authority) return Fail(authority.error());
    CollectOld();
    step_.state.authority = *std::move(authority);
    step_.state.next = {};
    step_.state.published.reset();
    step_.state.signed_until = {};
    Result<bool> issued = Issue(plan_.names);
    step_.what = "made a CA and a certificate; " + Until(step_.state.serving);
    return issued;
  }

  Result<bool> WriteRecordAgain() {
    CollectOld();
    step_.state.published.reset();
    const sys_seconds latest = std::max(LatestEnd(), before_.serving.facts.validity.until);
    step_.state.signed_until = std::min(latest, before_.authority.facts.validity.until);
    step_.what = "wrote the record of the rotation again, which the Secret did not have";
    return true;
  }

  // Adds what configurations publish to the old authorities.
  void CollectOld() {
    CertificateState& state = step_.state;
    const auto known = [&](const std::string& pem) {
      return (before_.authority.valid(now_) && before_.authority.facts.pem == pem) ||
             std::ranges::any_of(state.old, [&](const OldAuthority& each) { return each.pem == pem; });
    };
    DropOld();
    for (const std::vector<std::string>& bundle : published_) {
      for (const std::string& pem : bundle) {
        if (known(pem)) continue;
        for (const net::CertificateFacts& one : net::ReadCertificates(pem)) {
          if (one.validity.until > now_) state.old.push_back({one.pem, std::min(one.validity.until, LatestEnd())});
        }
      }
    }
    if (state.old.size() <= kMaxOld) return;
    std::ranges::sort(state.old, std::greater(), &OldAuthority::until);
    state.old.resize(kMaxOld);
  }

  std::size_t DropOld() {
    return std::erase_if(step_.state.old, [&](const OldAuthority& each) { return each.until <= now_; });
  }

  // Why there has to be another certificate of the same authority; "": it need not.
  std::string WhyToIssue() const {
    const KeyPair& serving = before_.serving;
    if (!serving.usable()) return "the certificate in the Secret cannot be used";
    if (!net::IsSignedBy(serving.facts.pem, before_.authority.facts.pem)) {
      return "the certificate in the Secret is not of its CA";
    }
    if (!serving.valid(now_)) return "the certificate was not valid";
    for (const std::string& name : plan_.names) {
      if (std::ranges::find(serving.facts.names, name) == serving.facts.names.end()) {
        return "the certificate was not for " + name;
      }
    }
    // At the end of the authority's own life there is nothing to gain.
    const sys_seconds until = serving.facts.validity.until;
    const bool due = until - now_ <= RenewBefore(serving, plan_.renew_before) && ServingEnd() > until;
    return due ? kDue : "";
  }

  Result<bool> Renew(const std::string& why) {
    // While a program is updated, its two versions may each need names that the other one does not know.
    const bool keep_names = before_.serving.valid(now_) && why != kDue &&
                            net::IsSignedBy(before_.serving.facts.pem, before_.authority.facts.pem);
    std::vector<std::string> names = plan_.names;
    for (const std::string& name : before_.serving.facts.names) {
      const bool good = detail::IsDnsSubdomain(name) || net::IsIpAddress(name);
      if (keep_names && good && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    Result<bool> issued = Issue(names);
    step_.what = "renewed the certificate, because " + why + "; " + Until(step_.state.serving);
    return issued;
  }

  Result<bool> Issue(const std::vector<std::string>& names) {
    CertificateState& state = step_.state;
    Result<net::Identity> made =
        net::IssueServer(state.authority.identity, "kgen webhooks", names, {now_ - kBehind, ServingEnd()});
    if (!made) return Fail(made.error());
    state.serving = ReadKeyPair(*std::move(made));
    state.signed_until = std::max(state.signed_until, state.serving.facts.validity.until);
    return true;
  }

  bool NextIsDue() const {
    const auto soon = [&](const KeyPair& pair) {
      const seconds before = WholeSeconds(plan_.validity) + RenewBefore(before_.serving, plan_.renew_before);
      return pair.facts.validity.until - now_ <= RenewBefore(pair, before);
    };
    if (before_.next.usable()) return !before_.next.valid(now_) || soon(before_.next);
    return soon(before_.authority);
  }

  Result<bool> MakeNext() {
    Result<KeyPair> next = MakeAuthority();
    if (!next) return Fail(next.error());
    step_.state.next = *std::move(next);
    step_.state.published.reset();
    step_.what = "made the next CA; " + Until(step_.state.next);
    return true;
  }

  Result<bool> Switch() {
    CertificateState& state = step_.state;
    state.old.push_back({before_.authority.facts.pem, before_.signed_until});
    state.authority = std::exchange(state.next, {});
    state.published.reset();
    state.signed_until = {};
    Result<bool> issued = Issue(plan_.names);
    step_.what = "signed a certificate with the next CA; " + Until(state.serving);
    return issued;
  }

  Result<KeyPair> MakeAuthority() const {
    // The name differs from the other authorities', because some clients look authorities up by name.
    const std::string name = "kgen webhooks CA " + Time(now_).str();
    Result<net::Identity> made = net::MakeAuthority(name, {now_ - kBehind, now_ + WholeSeconds(plan_.ca_validity)});
    if (!made) return Fail(made.error());
    return ReadKeyPair(*std::move(made));
  }

  // The end of what is signed now by anybody with these options.
  sys_seconds LatestEnd() const { return now_ + WholeSeconds(plan_.validity); }
  sys_seconds ServingEnd() const { return std::min(LatestEnd(), step_.state.authority.facts.validity.until); }

  const CertificateState& before_;
  const Publications& published_;
  const sys_seconds now_;
  const CertificatePlan& plan_;
  CertificateStep step_{};
};

}  // namespace

bool AllPublish(const Publications& published, const std::string& pem) {
  return std::ranges::all_of(published, [&](const auto& each) { return std::ranges::find(each, pem) != each.end(); });
}

Result<std::optional<CertificateStep>> NextStep(const CertificateState& state, const Publications& published,
                                                sys_seconds now, const CertificatePlan& plan) {
  return Planner(state, published, now, plan).Next();
}

}  // namespace kgen::controller
