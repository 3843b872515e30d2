// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CertificateKeeper: makes, renews and publishes the certificates of webhooks in one replica.
//
//   API server <--Secret, configurations, CRDs--> CertificateKeeper::Run() --Current()--> the server of webhooks
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_KEEPER_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_KEEPER_H_

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/webhook/ca_publisher.h"
#include "controller/webhook/certificate_options.h"
#include "controller/webhook/certificate_plan.h"
#include "controller/webhook/certificate_state.h"
#include "core/execution/jitter.h"
#include "core/memory/mutex.h"
#include "kgen/client/connection.h"
#include "kgen/controller/access_rules.h"
#include "kgen/controller/webhook_certificates.h"
#include "kgen/core/clock.h"
#include "kgen/core/log_record.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/tls.h"

namespace kgen::controller {

// Thread safety: all members from any thread; Run() once at a time. Only Run() blocks.
class CertificateKeeper final : public SharedObject {
 public:
  // `field_manager` is the name under which the server records the writes. Sends nothing. Errors: SetUpCertificates()
  static Result<Shared<CertificateKeeper>> Make(const Connection& connection, ManagedCertificates options,
                                                std::string field_manager);
  CertificateKeeper(const Connection& connection, CertificateSetup setup, std::string field_manager);

  // Does what is due, again and again, until `stop` is requested; then it succeeds. Failures of the server are reported
  // to the observer when they change, and tried again.
  // Errors: kInvalidArgument  on a thread that must not block
  Result<void> Run(const std::stop_token& stop);

  // The certificate to serve to new connections, which asks clients for a certificate of that authority, unless it is
  // "". Null: there is no certificate yet that every configuration trusts, or the authority cannot be read. Made once
  // for each certificate and authority.
  Shared<net::TlsContext> Current(const std::string& client_ca_pem = {});
  bool has_certificate() const { return !current_pem().empty(); }
  // For a check of readiness: why there is no certificate yet.
  Result<void> Ready() const;
  // The certificate of Current() as PEM, for tests; "" if there is none.
  std::string current_pem() const;

  const ManagedCertificates& options() const noexcept { return setup_.options; }
  std::vector<AccessRule> Rules() const { return RulesOf(setup_.options); }

 private:
  struct StoredSecret {
    bool exists = false;
    std::string json{};  // the object
    CertificateState state{};
  };

  // One round. True: it has changed something, so the next round follows at once.
  Result<bool> Round(const std::stop_token& stop);
  Result<void> AskTime(const std::stop_token& stop);
  std::chrono::sys_seconds Now() const;
  Result<StoredSecret> ReadSecret(const std::stop_token& stop);
  Result<void> WriteSecret(const StoredSecret& before, const CertificateState& state,
                           const std::stop_token& stop) const;
  void NotePublished(const CertificateState& state);
  bool IsNoticed(const CertificateState& state) const;
  Result<bool> Serve(const CertificateState& state);
  Result<void> Pause(bool failed, const std::stop_token& stop);
  Result<ApiResponse> Send(ApiRequest request, std::string what, const std::stop_token& stop) const;
  void OnRound(const Result<bool>& round);
  void Log(LogLevel level, const std::string& message) const;

  const Connection connection_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const CertificateSetup setup_;
  const CertificatePlan plan_;
  const std::string field_manager_;

  // Used by Run() alone.
  CaPublisher publisher_;
  std::string decoded_data_{};           // of the Secret, as JSON
  CertificateState decoded_{};           // of decoded_data_: reading keys is most of the work of a round
  std::optional<TimePoint> asked_{};     // when the time was asked for, by NowWithSuspend()
  std::chrono::sys_seconds answered_{};  // the time then
  // The authorities of the Secret that every configuration publishes, and since when.
  std::map<std::string, std::chrono::sys_seconds> published_since_{};
  std::string served_authority_{};           // of current_pem_
  std::chrono::sys_seconds served_until_{};  // the end of current_pem_
  int failures_ = 0;                         // in a row
  std::string reported_{};                   // the last failure
  std::vector<std::string> problems_{};      // that were reported
  Jitter jitter_;

  mutable Mutex mutex_;
  net::Identity identity_ KGEN_GUARDED_BY(mutex_);  // to serve; "": none yet
  std::string current_pem_ KGEN_GUARDED_BY(mutex_);
  Shared<net::TlsContext> context_ KGEN_GUARDED_BY(mutex_);  // of both, or null
  std::string client_ca_pem_ KGEN_GUARDED_BY(mutex_);        // of context_
  std::string waiting_for_ KGEN_GUARDED_BY(mutex_) = "it has not been read from the Secret yet";
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CERTIFICATE_KEEPER_H_
