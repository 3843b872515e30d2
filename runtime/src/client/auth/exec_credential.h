// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ExecCredentials: credentials from a plugin. The plugin runs when a credential is needed; the credential is cached
// until it expires or a server refuses it.
//
//   Operation --Ask()--> ExecCredentials --Executor::Blocking--> Process;   certificates --> ClientIdentity -->
//   transport
//
// One plugin runs for all concurrent requests, and all of them get its result. When the last of them has ended (a
// deadline, a stop) the plugin is killed.
#ifndef KGEN_SRC_CLIENT_AUTH_EXEC_CREDENTIAL_H_
#define KGEN_SRC_CLIENT_AUTH_EXEC_CREDENTIAL_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/auth/process.h"
#include "core/memory/mutex.h"
#include "core/secrets.h"
#include "kgen/client/config.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/function.h"
#include "kgen/core/observer.h"
#include "kgen/core/result.h"
#include "kgen/core/shared.h"
#include "net/client_identity.h"

namespace kgen::client {

// The credential that one run of a plugin returned. Immutable.
struct Credential : SharedObject {
  explicit Credential(const std::string& text = {}) : token(text), secret(text) {}
  const std::string token;  // "": only a certificate
  const detail::Secret secret;
  std::string certificate_pem{};
  std::string key_pem{};
  std::optional<std::chrono::sys_time<std::chrono::microseconds>> expires{};
};

// Returns the input of the plugin: the value of KUBERNETES_EXEC_INFO. Reads the CA file, so it may block.
// Errors: kConfig  the file cannot be read
Result<std::string> ExecInfo(const rest::Config& config, bool interactive);

// Parses the output of the plugin. Error messages quote nothing of it. Errors: kConfig
Result<Shared<const Credential>> ParseExecCredential(std::string text, std::string_view api_version);

// Errors: kConfig  no command, or an unknown apiVersion or environment variable without a name
Result<void> CheckExec(const rest::ExecConfig& exec);

// Thread safety: all members from any thread; none blocks.
class ExecCredentials : public SharedObject {
 public:
  using Answer = Result<Shared<const Credential>>;
  using Done = UniqueFunction<void(Answer)>;

  // The longest that a plugin without a terminal may run: long enough to log in with a browser.
  static constexpr Nanos kLongestRun = std::chrono::minutes(5);
  // The minimum time between two runs that a server causes by refusing the credentials.
  static constexpr Nanos kBetweenRefusals = std::chrono::seconds(10);

  // Returns the credentials that another connection already gets from an equal plugin with the same input, or else new
  // ones, so that a hundred connections run their plugin once. `certificates`: the transport can use a client
  // certificate, which identity() then has.
  static Shared<ExecCredentials> For(const rest::Config& config, const Shared<Executor>& executor, bool certificates);
  ~ExecCredentials() override;

  // Uses the plugin settings and the cluster information of `config`. Passes a certificate to `identity` before any
  // request gets its result. If `identity` is null, a certificate without a token is an error.
  ExecCredentials(rest::Config config, Shared<Executor> executor, Shared<net::ClientIdentity> identity);

  // A request that waits for a credential.
  class Waiting;
  // The credential to use now; null if the plugin has to run.
  Shared<const Credential> Current();
  // `observer` may be null; if this starts the plugin, it receives what the plugin writes to standard error.
  // `done` is called once, on any thread and perhaps inside this call, unless Leave() comes first. It must be short.
  // Errors: kConfig  the plugin cannot be started, failed, or returned invalid output; with its name, its exit code and
  //                  what it wrote to standard error
  Shared<Waiting> Ask(Shared<Observer> observer, Done done);
  void Leave(Waiting& waiting) noexcept;
  // A server answered this credential with 401. Returns true if Ask() may return another one.
  bool Reject(const Credential& refused);

  const Shared<net::ClientIdentity>& identity() const noexcept { return identity_; }
  std::string_view name() const noexcept { return name_; }  // "credential plugin aws", for messages

 private:
  struct Run;
  class Reply;
  void Start(const Shared<Run>& run);
  Answer RunPlugin(Run& run) const;
  void PassOn(const Run& run, std::string_view errors) const;
  void Finish(Run& run, Answer answer);
  Error Failure(std::string_view what, std::string_view errors) const;

  const rest::Config config_;
  const std::string name_;
  const Shared<Executor> executor_;
  const Shared<Clock> clock_;
  const Shared<net::ClientIdentity> identity_;
  Mutex mutex_;
  Shared<const Credential> cached_ KGEN_GUARDED_BY(mutex_){};
  Shared<Run> run_ KGEN_GUARDED_BY(mutex_){};  // the running one, which at least one request waits for
  std::optional<TimePoint> refused_at_ KGEN_GUARDED_BY(mutex_){};
};

class ExecCredentials::Waiting : public SharedObject {
 public:
  explicit Waiting(Done done) : done_(std::move(done)) {}

 private:
  friend class ExecCredentials;
  Done done_;          // owned by the thread that removes it from the run's list
  Shared<Run> run_{};  // guarded by the mutex of ExecCredentials
};

}  // namespace kgen::client

#endif  // KGEN_SRC_CLIENT_AUTH_EXEC_CREDENTIAL_H_
