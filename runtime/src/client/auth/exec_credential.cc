// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "client/auth/exec_credential.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <new>
#include <utility>

#include "core/files/read_file.h"
#include "core/observers/notify_observer.h"
#include "core/out_of_memory.h"
#include "kgen/codec/yaml.h"
#include "kgen/core/quantity.h"
#include "kgen/core/time.h"
#include "net/duration_text.h"
#include "net/tls.h"
#include "net/trim.h"

namespace kgen::client {
namespace {

constexpr std::string_view kVersions[] = {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"};
constexpr std::size_t kQuotedErrors = 2048;

std::unexpected<Error> Wrong(std::string_view message) { return Fail(Code::kConfig, message); }

// Collects the members of a JSON object. Omits those without a value.
class JsonObject {
 public:
  void Text(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    Key(key);
    yaml::AppendJsonString(value, text_);
  }
  void Raw(std::string_view key, std::string_view json) {
    if (json.empty()) return;
    Key(key);
    text_ += json;
  }
  std::string Take() && { return std::move(text_) + '}'; }

 private:
  void Key(std::string_view key) {
    if (text_.size() > 1) text_ += ',';
    yaml::AppendJsonString(key, text_);
    text_ += ':';
  }
  std::string text_ = "{";
};

Result<std::string> ClusterInfo(const rest::Config& config) {
  std::string authority = config.tls.ca_data;
  if (authority.empty() && !config.tls.ca_file.empty()) {
    Result<std::string> text = detail::ReadFile("certificate authority", config.tls.ca_file);
    if (!text) return text;
    authority = *std::move(text);
  }
  JsonObject cluster;
  cluster.Text("server", config.host);
  cluster.Text("tls-server-name", config.tls.server_name);
  cluster.Raw("insecure-skip-tls-verify", config.tls.insecure_skip_verify ? "true" : "");
  cluster.Text("certificate-authority-data", Bytes::Of(authority).base64());
  cluster.Text("proxy-url", config.proxy_url);
  cluster.Raw("config", config.exec.cluster_config);
  return std::move(cluster).Take();
}

// Returns "" if the member is absent or null, and nothing if it is not text.
std::optional<std::string> TextMember(const yaml::Node& object, std::string_view key) {
  const yaml::Node* node = object.Find(key);
  if (node == nullptr || node->is_null()) return std::string();
  if (!node->is_string()) return std::nullopt;
  return std::string(node->text());
}

bool HasControls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool SoundsSecret(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(std::initializer_list<std::string_view>{"secret", "token", "password", "passphrase"},
                             [&](std::string_view word) { return lower.contains(word); });
}

// Returns secrets that were given to the plugin and may appear in its messages.
std::vector<std::string_view> SecretsOf(const rest::ExecConfig& exec) {
  std::vector<std::string_view> secrets;
  for (const auto& variable : exec.env) secrets.emplace_back(variable.value);
  bool next = false;
  for (const std::string& argument : exec.args) {
    const std::size_t equals = argument.find('=');
    const bool option = argument.starts_with('-');
    if (next && !option) secrets.emplace_back(argument);
    const bool secret = option && SoundsSecret(std::string_view(argument).substr(0, equals));
    if (secret && equals != std::string::npos) secrets.push_back(std::string_view(argument).substr(equals + 1));
    next = secret && equals == std::string::npos;
  }
  std::ranges::sort(secrets, std::ranges::greater(), &std::string_view::size);  // one may be a part of another
  return secrets;
}

// Quotes the end of what a plugin wrote to standard error, on one line.
std::string QuoteErrors(std::string_view errors, const std::vector<std::string_view>& secrets) {
  std::string text(net::Trim(errors));
  for (const std::string_view secret : secrets) detail::HideSecret(secret, text);
  detail::HideSecrets(text);  // before the text is cut
  if (text.size() > kQuotedErrors) text = "..." + text.substr(text.size() - kQuotedErrors);
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "; ";
    } else {
      line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return line;
}

std::vector<std::string> EnvironmentOf(const rest::ExecConfig& exec, const std::string& info) {
  std::vector<std::string> environment;
  const auto given = [&](std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('='));
    return name == "KUBERNETES_EXEC_INFO" ||
           std::ranges::find(exec.env, name, &rest::ExecConfig::Variable::name) != exec.env.end();
  };
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (!given(*each)) environment.emplace_back(*each);
  }
  for (const auto& variable : exec.env) environment.push_back(variable.name + '=' + variable.value);
  environment.push_back("KUBERNETES_EXEC_INFO=" + info);
  return environment;
}

// True if the plugin gets our standard input. Errors: kConfig  it needs a terminal, and there is none
Result<bool> IsInteractive(const rest::ExecConfig& exec) {
  using Mode = rest::ExecConfig::InteractiveMode;
  if (exec.interactive_mode == Mode::kNever) return false;
  const bool terminal = ::isatty(STDIN_FILENO) == 1;
  if (terminal && !exec.stdin_unavailable) return true;
  if (exec.interactive_mode == Mode::kIfAvailable) return false;
  return Wrong(terminal ? "it needs a terminal, and standard input is reserved (stdin_unavailable)"
                        : "it needs a terminal (interactiveMode is Always), and standard input is not one");
}

}  // namespace

Result<void> CheckExec(const rest::ExecConfig& exec) {
  if (std::ranges::find(kVersions, exec.api_version) == std::end(kVersions)) {
    return Wrong("credential plugin " + exec.command + ": apiVersion \"" + exec.api_version +
                 "\" is not supported; use " + std::string(kVersions[0]) + " or " + std::string(kVersions[1]));
  }
  // The system would cut the text off there.
  const auto cut = [](const std::string& text) { return text.contains('\0'); };
  if (cut(exec.command) || std::ranges::any_of(exec.args, cut) ||
      std::ranges::any_of(exec.env, [&](const auto& variable) { return cut(variable.name) || cut(variable.value); })) {
    return Wrong("credential plugin: its command, an argument or a variable contains a NUL");
  }
  for (const auto& variable : exec.env) {
    if (variable.name.empty() || variable.name.contains('=')) {
      return Wrong("credential plugin " + exec.command + ": an environment variable has no name");
    }
  }
  return {};
}

Result<std::string> ExecInfo(const rest::Config& config, bool interactive) {
  JsonObject spec;
  if (config.exec.provide_cluster_info) {
    Result<std::string> cluster = ClusterInfo(config);
    if (!cluster) return cluster;
    spec.Raw("cluster", *cluster);
  }
  spec.Raw("interactive", interactive ? "true" : "false");
  JsonObject info;
  info.Text("kind", "ExecCredential");
  info.Text("apiVersion", config.exec.api_version);
  info.Raw("spec", std::move(spec).Take());
  return std::move(info).Take();
}

Result<Shared<const Credential>> ParseExecCredential(std::string text, std::string_view api_version) {
  if (net::Trim(text).empty()) return Wrong("it printed nothing to standard output");
  const auto parsed = yaml::Parse(std::move(text));
  if (!parsed || parsed->documents().size() != 1 || !parsed->documents()[0].is_map()) {
    return Wrong("its standard output is not a JSON object");
  }
  const yaml::Node& answer = parsed->documents()[0];
  if (TextMember(answer, "kind") != "ExecCredential") return Wrong("its output is not of kind ExecCredential");
  if (TextMember(answer, "apiVersion") != api_version) {
    return Wrong("its output has another apiVersion than the \"" + std::string(api_version) + "\" that was requested");
  }
  const yaml::Node* status = answer.Find("status");
  if (status == nullptr || !status->is_map()) return Wrong("its output has no status");
  const auto token = TextMember(*status, "token");
  const auto certificate = TextMember(*status, "clientCertificateData"), key = TextMember(*status, "clientKeyData");
  const auto expires = TextMember(*status, "expirationTimestamp");
  if (!token || !certificate || !key || !expires) return Wrong("a member of its output's status is not a string");
  if (certificate->empty() != key->empty()) {
    return Wrong(key->empty() ? "its output has clientCertificateData without clientKeyData"
                              : "its output has clientKeyData without clientCertificateData");
  }
  if (token->empty() && key->empty()) return Wrong("its output has neither a token nor a client certificate");
  if (HasControls(*token)) return Wrong("its token contains control characters");
  auto credential = MakeShared<Credential>(*token);
  credential->certificate_pem = *certificate;
  credential->key_pem = *key;
  if (!expires->empty()) {
    const Result<MicroTime> time = MicroTime::Parse(*expires);
    if (!time) return Wrong("its expirationTimestamp is not an RFC 3339 time");
    credential->expires = time->value();
  }
  if (!certificate->empty()) {
    rest::TlsConfig tls;
    tls.certificate_data = *certificate;
    tls.key_data = *key;
    if (auto usable = net::TlsContext::ForClient(tls); !usable) return Wrong("its output: " + usable.error().message());
  }
  return Shared<const Credential>(std::move(credential));
}

// One run of the plugin. `waiting` is guarded by the mutex of ExecCredentials.
struct ExecCredentials::Run : SharedObject {
  Run(Shared<Process> p, Shared<Observer> o) : process(std::move(p)), observer(std::move(o)) {}
  const Shared<Process> process;
  const Shared<Observer> observer;  // of the request that it was started for; or null
  std::vector<Shared<Waiting>> waiting;
  Timer limit;
  std::atomic<bool> too_long{false};
};

// Guarantees that waiting requests get a result, even if the blocking work is destroyed without running.
class ExecCredentials::Reply {
 public:
  Reply(Shared<ExecCredentials> credentials, Shared<Run> run)
      : credentials_(std::move(credentials)), run_(std::move(run)) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) = delete;
  ~Reply() {
    if (run_) credentials_->Finish(*run_, Fail(Code::kCancelled, "the executor has been shut down"));
  }
  void RunPlugin() {
    try {
      Send(credentials_->RunPlugin(*run_));
    } catch (const std::bad_alloc&) {
      Send(Fail(detail::OutOfMemory()));
    }
  }

 private:
  void Send(Answer answer) { credentials_->Finish(*std::exchange(run_, {}), std::move(answer)); }
  Shared<ExecCredentials> credentials_;
  Shared<Run> run_;
};

ExecCredentials::ExecCredentials(rest::Config config, Shared<Executor> executor, Shared<net::ClientIdentity> identity)
    : config_(std::move(config)),
      name_("credential plugin " + config_.exec.command),
      executor_(std::move(executor)),
      clock_(executor_->clock()),
      identity_(std::move(identity)) {}

namespace {

// Whether two connections can use the credentials of one plugin: it gets the same input. As in client-go, the server
// matters only if the plugin is told about it.
bool SameInput(const rest::Config& a, const rest::Config& b) {
  if (!(a.exec == b.exec)) return false;
  return !a.exec.provide_cluster_info ||
         (a.host == b.host && a.tls.ca_data == b.tls.ca_data && a.tls.ca_file == b.tls.ca_file &&
          a.tls.server_name == b.tls.server_name && a.tls.insecure_skip_verify == b.tls.insecure_skip_verify &&
          a.proxy_url == b.proxy_url);
}

// The plugins in use. The list holds no references; a plugin removes itself when it is destroyed.
struct Plugins {
  Mutex mutex;
  std::vector<ExecCredentials*> all KGEN_GUARDED_BY(mutex);

  static Plugins& Get() {
    static Plugins& plugins = *new Plugins();  // outlives connections in static variables
    return plugins;
  }
};

}  // namespace

Shared<ExecCredentials> ExecCredentials::For(const rest::Config& config, const Shared<Executor>& executor,
                                             bool certificates) {
  Plugins& plugins = Plugins::Get();
  const MutexLock lock(plugins.mutex);
  for (ExecCredentials* const each : plugins.all) {
    if (each->executor_ != executor || (each->identity_ != nullptr) != certificates) continue;
    if (!SameInput(each->config_, config)) continue;
    if (Shared<ExecCredentials> shared = Shared<ExecCredentials>::TryAdd(each)) return shared;
  }
  plugins.all.reserve(plugins.all.size() + 1);  // nothing may throw once it exists, because its end takes the lock
  auto made = MakeShared<ExecCredentials>(
      config, executor, certificates ? MakeShared<net::ClientIdentity>() : Shared<net::ClientIdentity>());
  plugins.all.push_back(made.get());
  return made;
}

ExecCredentials::~ExecCredentials() {
  Plugins& plugins = Plugins::Get();
  const MutexLock lock(plugins.mutex);
  std::erase(plugins.all, this);
}

Shared<const Credential> ExecCredentials::Current() {
  const MutexLock lock(mutex_);
  if (!cached_ || (cached_->expires && clock_->WallNow() > *cached_->expires)) return {};
  return cached_;
}

Shared<ExecCredentials::Waiting> ExecCredentials::Ask(Shared<Observer> observer, Done done) {
  auto waiting = MakeShared<Waiting>(std::move(done));
  Shared<Run> started;
  std::optional<Error> failed;
  {
    const MutexLock lock(mutex_);
    if (!run_) {
      Result<Shared<Process>> process = Process::Make();
      if (process) {
        started = run_ = MakeShared<Run>(*std::move(process), std::move(observer));
      } else {
        failed = Failure("cannot be started: " + process.error().message(), "");
      }
    }
    if (run_) {
      run_->waiting.push_back(waiting);
      waiting->run_ = run_;
    }
  }
  if (failed) std::exchange(waiting->done_, nullptr)(Fail(*std::move(failed)));
  if (started) Start(started);
  return waiting;
}

void ExecCredentials::Start(const Shared<Run>& run) {
  if (!IsInteractive(config_.exec).value_or(false)) {  // a user at a terminal may take any time and can press Ctrl-C
    run->limit = clock_->After(kLongestRun, TimerKind::kProgress, [run] {
      run->too_long = true;
      run->process->Kill();
    });
  }
  // Calls of user code wait for it, and so does the renewal of a lease.
  executor_->BlockingShort(std::string(name_),
                           [reply = Reply(Shared<ExecCredentials>(this), run)]() mutable { reply.RunPlugin(); });
}

void ExecCredentials::Leave(Waiting& waiting) noexcept {
  Done dropped;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  const Shared<Run> run = std::exchange(waiting.run_, {});
  if (!run) return;
  dropped = std::move(waiting.done_);
  std::erase_if(run->waiting, [&](const auto& each) { return each.get() == &waiting; });
  if (!run->waiting.empty()) return;
  if (run_ == run) run_ = {};
  run->process->Kill();
}

void ExecCredentials::Finish(Run& run, Answer answer) {
  run.limit.Cancel();
  if (answer && !identity_ && (*answer)->token.empty()) {
    answer = Fail(Failure("returned a client certificate without a token, which a custom transport cannot use", ""));
  }
  std::vector<Shared<Waiting>> waiting;
  {
    const MutexLock lock(mutex_);
    if (run_.get() == &run) {
      run_ = {};
      if (answer) cached_ = *answer;
      if (answer && identity_ && !cached_->certificate_pem.empty())
        identity_->Set(cached_->certificate_pem, cached_->key_pem);
    }
    waiting.swap(run.waiting);
    for (const auto& each : waiting) each->run_ = {};
  }
  for (const auto& each : waiting) std::exchange(each->done_, nullptr)(answer);
}

bool ExecCredentials::Reject(const Credential& refused) {
  const MutexLock lock(mutex_);
  if (cached_.get() != &refused) return true;  // another request has already renewed it
  const TimePoint now = clock_->Now();
  if (refused_at_ && now - *refused_at_ < kBetweenRefusals) return false;
  refused_at_ = now;
  cached_ = {};
  return true;
}

Error ExecCredentials::Failure(std::string_view what, std::string_view errors) const {
  std::string message = name_ + ' ' + std::string(what);
  if (const std::string quoted = QuoteErrors(errors, SecretsOf(config_.exec)); !quoted.empty()) {
    message += "; it wrote: " + quoted;
  }
  return {Code::kConfig, message};
}

// What a plugin without a terminal writes while it waits, such as the code that a user must enter in a browser, and the
// warnings of one that succeeds. What a failed one has written is in the error. client-go lets the plugin write to
// standard error itself; here, the observer of the connection that needs the credential decides what to do with it.
void ExecCredentials::PassOn(const Run& run, std::string_view errors) const {
  const std::string text = QuoteErrors(errors, SecretsOf(config_.exec));
  if (text.empty() || !run.observer) return;
  NotifyObserver(run.observer, [&](Observer& o) {
    o.OnLogged({.source = "credential plugin",
                .key = config_.exec.command,
                .message = text,
                .level = LogLevel::kWarning,
                .component = LogComponent::kClient});
  });
}

ExecCredentials::Answer ExecCredentials::RunPlugin(Run& run) const {
  const rest::ExecConfig& exec = config_.exec;
  const Result<bool> interactive = IsInteractive(exec);
  if (!interactive) return Fail(Failure("cannot be started: " + interactive.error().message(), ""));
  const Result<std::string> info = ExecInfo(config_, *interactive);
  if (!info) return Fail(Failure("cannot be started: " + info.error().message(), ""));
  ProcessOptions options{.argv = {""},
                         .environment = EnvironmentOf(exec, *info),
                         .interactive = *interactive,
                         .on_errors = [&](std::string_view errors, const std::string& output) {
                           // The plugin may have printed its credential to both. As long as it lives, it is hidden.
                           const Answer printed = ParseExecCredential(output, exec.api_version);
                           PassOn(run, errors);
                         }};
  options.argv.insert(options.argv.end(), exec.args.begin(), exec.args.end());
  const Result<std::string> program = FindProgram(exec.command);
  if (program) options.argv.front() = *program;
  Result<ProcessOutcome> outcome = program ? run.process->Run(options) : Fail(program.error());
  if (!outcome) {
    const Error& error = outcome.error();
    if (run.too_long)
      return Fail(Failure("had not ended after " + net::DurationText(kLongestRun) + ", and was killed", ""));
    if (error.code() == Code::kCancelled)
      return Fail(Failure("was killed because no request was waiting for it any longer", ""));
    if (error.code() == Code::kDecode) return Fail(Failure("was killed: " + error.message(), ""));
    std::string what = "cannot be started: " + error.message();
    if (!exec.install_hint.empty()) what += "; " + exec.install_hint;
    return Fail(Failure(what, ""));
  }
  Answer answer = ParseExecCredential(std::move(outcome->output), exec.api_version);  // first: hides what it contains
  if (outcome->signal != 0) {
    const char* name = ::sigabbrev_np(outcome->signal);
    return Fail(Failure("was ended by signal " + std::string(name != nullptr ? name : "") + " (" +
                            std::to_string(outcome->signal) + ")",
                        outcome->errors));
  }
  if (outcome->exit_code != 0) {
    return Fail(Failure("failed with exit code " + std::to_string(outcome->exit_code), outcome->errors));
  }
  if (!answer) return Fail(Failure("gave no credential: " + answer.error().message(), outcome->errors));
  return answer;
}

}  // namespace kgen::client
