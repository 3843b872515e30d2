// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Credential plugins: scripts that return tokens and certificates, fail, hang, and are run again.
#include "client/auth/exec_credential.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "kgen/core/log.h"
#include "testing/certificates.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/support/http2_harness.h"

namespace kgen::testing {
namespace {

using client::ExecCredentials;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

// A folder with scripts.
class Scripts {
 public:
  Scripts() {
    folder_ = ::testing::TempDir() + "kgen_exec_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scripts() { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + '/' + name; }
  // A plugin; in it $D is the folder, `answer STATUS` prints a credential with these members, and each run is counted.
  rest::ExecConfig Plugin(const std::string& body) const {
    const std::string path = Path("plugin.sh");
    std::ofstream(path) << "#!/bin/sh\nD='" << folder_ << "'\necho run >>\"$D/runs\"\n"
                        << "answer() { printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" << kV1
                        << "\",\"status\":{%s}}' \"$1\"; }\n"
                        << body << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {.api_version = kV1, .command = path, .interactive_mode = rest::ExecConfig::InteractiveMode::kNever};
  }
  int runs() const {
    int lines = 0;
    std::ifstream file(Path("runs"));
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  std::string Fifo(const std::string& name) const {
    EXPECT_EQ(::mkfifo(Path(name).c_str(), 0600), 0);
    return Path(name);
  }

 private:
  std::string folder_;
};

// Reads a FIFO to its end: until all of its writers have closed it.
std::string Drain(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A status of a plugin with a client certificate and no token.
void WriteCertificate(const CertificateAuthority& authority, const std::string& path) {
  const Identity identity = Must(authority.Issue({.common_name = "somebody"}));
  const auto escape = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\\n");
    return text;
  };
  std::ofstream(path) << R"("clientCertificateData":")" << escape(identity.certificate_pem) << R"(","clientKeyData":")"
                      << escape(identity.key_pem) << '"';
}

class ExecTest : public ClientTest {
 protected:
  Connection Use(rest::ExecConfig exec) {
    config_.exec = std::move(exec);
    Settings settings = Defaults();
    settings.exec = MakeShared<ExecCredentials>(config_, executor_, identity_);
    return MakeConnection(std::move(settings));
  }
  std::string Fault(rest::ExecConfig exec) {
    const Result<ApiResponse> response = Use(std::move(exec)).Call(Get());
    if (response) return "no fault";
    EXPECT_EQ(response.error().code(), Code::kConfig);
    return response.error().ToString();
  }
  std::string Authorization(std::size_t i) { return HeaderOf(transport_->request(i), "authorization"); }

  Scripts scripts_;
  rest::Config config_{.host = "https://test:6443"};
  Shared<net::ClientIdentity> identity_ = MakeShared<net::ClientIdentity>();
};

constexpr const char* kCountedToken = R"(answer "\"token\":\"t$(wc -l <$D/runs | tr -d ' ')\"")";

TEST_F(ExecTest, SendsTheTokenOfThePluginAndKeepsIt) {
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  for (int i = 0; i < 3; ++i) {
    transport_->Reply({});
    const auto response = connection.Call(Get());
    ASSERT_TRUE(response.has_value()) << response.error();
    EXPECT_EQ(Authorization(i), "Bearer t1");
  }
  EXPECT_EQ(scripts_.runs(), 1);
}

TEST_F(ExecTest, ALogOfEverythingHasNothingOfWhatThePluginPrints) {
  std::string log;
  const auto observer =
      MakeLogObserver({.sink = FunctionSink([&](LogLevel, std::string_view line) { log += line; }), .levels = "trace"});
  config_.exec = scripts_.Plugin(R"(echo using sEcReT-of-a-plugin >&2; answer '"token":"sEcReT-of-a-plugin"')");
  Settings settings = Defaults();
  settings.exec = MakeShared<ExecCredentials>(config_, executor_, identity_);
  const Connection connection = client::ConnectionState::Handle({transport_, executor_, observer}, std::move(settings));
  for (const char* body : {R"({"you":"sEcReT-of-a-plugin"})", "{}"}) {
    transport_->Reply({.body = body, .headers = {{"content-type", "application/json"}}});
    ASSERT_TRUE(connection.Call(Get()).has_value());
  }
  EXPECT_EQ(Authorization(0), "Bearer sEcReT-of-a-plugin");
  EXPECT_THAT(log, AllOf(HasSubstr("authorization: (hidden)"), HasSubstr("{\"you\":\"(hidden)\"}")));
  EXPECT_THAT(log, Not(HasSubstr("sEcReT")));
}

TEST_F(ExecTest, RunsThePluginAgainOnceTheCredentialHasExpired) {
  // The clock of the test begins at 22:13:20.
  const Connection connection = Use(scripts_.Plugin(
      R"(answer "\"token\":\"t$(wc -l <$D/runs | tr -d ' ')\",\"expirationTimestamp\":\"2023-11-14T22:13:30Z\"")"));
  for (const Nanos wait : {0s, 10s, 1s}) {
    executor_->Advance(wait);
    transport_->Reply({});
    ASSERT_TRUE(connection.Call(Get()).has_value());
  }
  EXPECT_EQ(Authorization(0), "Bearer t1");
  EXPECT_EQ(Authorization(1), "Bearer t1") << "good until the time itself has passed";
  EXPECT_EQ(Authorization(2), "Bearer t2");
}

TEST_F(ExecTest, PassesTheConfigurationToThePlugin) {
  rest::ExecConfig exec = scripts_.Plugin(R"(
    printf '%s' "$KUBERNETES_EXEC_INFO" >$D/info
    printf '%s|' "$@" "$FRUIT" "$HOME" >$D/seen
    cat >$D/stdin
    answer '"token":"t"')");
  exec.args = {"--cluster", "a b"};
  exec.env = {{"FRUIT", "pear"}, {"HOME", "/nowhere"}};
  exec.provide_cluster_info = true;
  exec.cluster_config = R"({"audience":"x"})";
  config_.tls = {.ca_data = "PEM", .server_name = "inside"};
  config_.proxy_url = "http://proxy:3128";
  const Connection connection = Use(exec);
  transport_->Reply({});
  const auto response = connection.Call(Get());
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(scripts_.Read("seen"), "--cluster|a b|pear|/nowhere|");
  EXPECT_EQ(scripts_.Read("stdin"), "") << "it has none to read from";
  EXPECT_EQ(scripts_.Read("info"),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{)"
            R"("server":"https://test:6443","tls-server-name":"inside","certificate-authority-data":"UEVN",)"
            R"("proxy-url":"http://proxy:3128","config":{"audience":"x"}},"interactive":false}})");
}

TEST_F(ExecTest, PassesNoClusterToThePluginUnlessConfigured) {
  EXPECT_EQ(*client::ExecInfo({.host = "https://test", .exec = {.api_version = kV1}}, true),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":true}})");
}

TEST_F(ExecTest, RunsOnePluginForAllRequestsThatWait) {
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  int answered = 0;
  for (int i = 0; i < 5; ++i) {
    transport_->Reply({});
    connection.CallAsync(Get(), [&](Result<ApiResponse> response) { answered += response ? 1 : 0; });
  }
  executor_->Run();
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(scripts_.runs(), 1);
}

TEST_F(ExecTest, AsksForAnotherCredentialOnceAfterA401AndSendsTheRequestAgain) {
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  transport_->Reply({.status = 401});
  transport_->Reply({.status = 201});
  const Result<ApiResponse> response = connection.Call(Post());
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(Authorization(0), "Bearer t1");
  EXPECT_EQ(Authorization(1), "Bearer t2");
  EXPECT_EQ(transport_->request(1).body, "{}");
}

TEST_F(ExecTest, SharesTheRefreshAfterA401) {
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  transport_->Reply({});
  ASSERT_TRUE(connection.Call(Get()).has_value());
  for (int i = 0; i < 3; ++i) transport_->Reply({.status = 401});
  for (int i = 0; i < 3; ++i) transport_->Reply({});
  int answered = 0;
  for (int i = 0; i < 3; ++i) {
    connection.CallAsync(Get(), [&](Result<ApiResponse> response) { answered += response ? 1 : 0; });
  }
  executor_->Run();
  executor_->Advance(1ms);
  EXPECT_EQ(answered, 3);
  EXPECT_EQ(scripts_.runs(), 2);
}

TEST_F(ExecTest, GivesThe401ToTheCallerWhenTheNewCredentialIsRefusedToo) {
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  for (int i = 0; i < 3; ++i) transport_->Reply({.status = 401});
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kUnauthorized);
  EXPECT_EQ(scripts_.runs(), 2);
  EXPECT_EQ(connection.Call(Get()).error().code(), Code::kUnauthorized);
  EXPECT_EQ(scripts_.runs(), 2) << "a server that refuses everything does not make the plugin run with each request";
  executor_->Advance(ExecCredentials::kBetweenRefusals);
  transport_->Reply({.status = 401});
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get()).has_value());
  EXPECT_EQ(scripts_.runs(), 3);
}

TEST_F(ExecTest, OpensAStreamAgainAfterA401) {
  class Sink final : public StreamSink {
   public:
    void OnOpen() override { log += "open "; }
    void OnBytes(std::string_view bytes) override { log += bytes; }
    void OnEnd(Result<void> end) override { log += end ? " end" : " " + end.error().ToString(); }
    std::string log;
  };
  const Connection connection = Use(scripts_.Plugin(kCountedToken));
  transport_->Reply({.status = 401, .body = "no"});
  transport_->Reply({.body = "x"});
  ApiRequest watch = Get();
  watch.watch = true;
  auto sink = MakeShared<Sink>();
  const auto call = connection.Stream(watch, executor_->MakeStrand("test"), sink);
  executor_->Run();
  executor_->Advance(1ms);
  EXPECT_EQ(sink->log, "open x end");
  EXPECT_EQ(Authorization(1), "Bearer t2");
}

// --- Failures

TEST_F(ExecTest, NamesAMissingPluginAndHowToInstallIt) {
  EXPECT_THAT(Fault({.api_version = kV1,
                     .command = "kgen-no-such-plugin",
                     .install_hint = "apt install it",
                     .interactive_mode = rest::ExecConfig::InteractiveMode::kNever}),
              StartsWith("get pods default/web-0: credential plugin kgen-no-such-plugin cannot be started: no such "
                         "program in PATH; apt install it"));
}

// A file that somebody has left in the current directory must not be run as the plugin.
TEST_F(ExecTest, DoesNotRunABareNameFromTheCurrentDirectory) {
  rest::ExecConfig exec = scripts_.Plugin(kCountedToken);
  const std::string script = exec.command;
  exec.command = "plugin.sh";
  const std::filesystem::path before = std::filesystem::current_path();
  const std::string path = std::getenv("PATH");
  std::filesystem::current_path(std::filesystem::path(script).parent_path());
  for (const char* dot : {"", ".", "/nowhere:", "./"}) {
    ::setenv("PATH", dot, 1);
    EXPECT_THAT(Fault(exec), HasSubstr("cannot be started: ")) << dot;
    ::setenv("PATH", (std::string(dot) + ":" + path).c_str(), 1);
    EXPECT_THAT(Fault(exec), HasSubstr("in a folder of PATH that depends on the current directory")) << dot;
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(Fault(exec), HasSubstr("no such program in PATH"));
  EXPECT_EQ(scripts_.runs(), 0);
  ::setenv("PATH", (path + ":" + std::filesystem::path(script).parent_path().string()).c_str(), 1);
  transport_->Reply({});
  EXPECT_TRUE(Use(exec).Call(Get()).has_value());
  ::setenv("PATH", path.c_str(), 1);
  std::filesystem::current_path(before);
}

TEST_F(ExecTest, RefusesANulAtWhichTheSystemWouldCutTheTextOff) {
  const rest::ExecConfig good = scripts_.Plugin(kCountedToken);
  const std::string bad("a\0b", 3);
  rest::ExecConfig exec = good;
  exec.command += bad;
  EXPECT_THAT(client::CheckExec(exec).error().message(), HasSubstr("contains a NUL"));
  exec = good;
  exec.args = {bad};
  EXPECT_FALSE(client::CheckExec(exec).has_value());
  exec = good;
  exec.env = {{"NAME", bad}};
  EXPECT_FALSE(client::CheckExec(exec).has_value());
}

TEST_F(ExecTest, ReportsHowThePluginFailedWithoutItsSecrets) {
  rest::ExecConfig exec = scripts_.Plugin(R"(echo "secret output"
    printf 'session of %s expired\nlog in with %s and %s\n' "$KEY" "$2" "$3" >&2; exit 7)");
  exec.env = {{"KEY", "env-secret"}};
  exec.args = {"--client-secret", "arg-secret", "--refresh-token=flag-secret"};
  EXPECT_THAT(Fault(exec),
              AllOf(HasSubstr("failed with exit code 7; it wrote: session of (hidden) expired; log in with "
                              "(hidden) and --refresh-token=(hidden)"),
                    Not(HasSubstr("-secret expired")), Not(HasSubstr("secret output"))));
}

TEST_F(ExecTest, HidesTheCredentialThatAFailedPluginPrintedTwice) {
  EXPECT_THAT(Fault(scripts_.Plugin(R"(answer '"token":"printed-to-both"'; echo "got printed-to-both" >&2; exit 3)")),
              HasSubstr("failed with exit code 3; it wrote: got (hidden)"));
}

TEST_F(ExecTest, QuotesABoundedPartOfWhatThePluginWrote) {
  const std::string fault = Fault(scripts_.Plugin(
      "i=0; while [ $i -lt 3000 ]; do echo 'a line of words' >&2; i=$((i+1)); done; echo the last >&2; exit 1"));
  EXPECT_THAT(fault, HasSubstr("a line of words; the last"));
  EXPECT_LT(fault.size(), 6000u);
}

TEST_F(ExecTest, NamesTheSignalThatEndedThePlugin) {
  EXPECT_THAT(Fault(scripts_.Plugin("kill -TERM $$")), HasSubstr("was ended by signal TERM (15)"));
}

TEST_F(ExecTest, KillsAPluginThatPrintsWithoutEnd) {
  EXPECT_THAT(Fault(scripts_.Plugin("exec cat /dev/zero")), HasSubstr("its output is larger than 1048576 bytes"));
}

TEST_F(ExecTest, RefusesAPluginThatNeedsATerminalWhereThereIsNone) {
  rest::ExecConfig exec = scripts_.Plugin(kCountedToken);
  exec.interactive_mode = rest::ExecConfig::InteractiveMode::kAlways;
  exec.stdin_unavailable = true;
  EXPECT_THAT(Fault(exec), HasSubstr("it needs a terminal"));
  EXPECT_EQ(scripts_.runs(), 0);
}

TEST_F(ExecTest, FailsOverATransportThatCannotUseItsCertificate) {
  identity_ = {};
  WriteCertificate(*Must(CertificateAuthority::Make()), scripts_.Path("status"));
  EXPECT_THAT(Fault(scripts_.Plugin("answer \"$(cat $D/status)\"")),
              HasSubstr("returned a client certificate without a token, which a custom transport cannot use"));
}

TEST_F(ExecTest, RunsAgainAfterAFailure) {
  const Connection connection = Use(scripts_.Plugin("[ $(wc -l <$D/runs) -gt 1 ] || exit 1\nanswer '\"token\":\"t\"'"));
  EXPECT_FALSE(connection.Call(Get()).has_value());
  transport_->Reply({});
  EXPECT_TRUE(connection.Call(Get()).has_value());
}

TEST(ExecCredentialText, IsReadAndCheckedWithoutQuotingIt) {
  const auto parse = [](std::string status, std::string head = R"("kind":"ExecCredential","apiVersion":")" +
                                                               std::string(kV1) + '"') -> std::string {
    const auto parsed = client::ParseExecCredential("{" + head + R"(,"status":)" + status + "}", kV1);
    return parsed ? (*parsed)->token : parsed.error().message();
  };
  EXPECT_EQ(parse(R"({"token":"abc"})"), "abc");
  EXPECT_EQ(parse(R"({"token":"abc","expirationTimestamp":null,"novel":1})"), "abc");
  EXPECT_EQ(parse("null"), "its output has no status");
  EXPECT_EQ(parse("{}"), "its output has neither a token nor a client certificate");
  EXPECT_EQ(parse(R"({"token":7})"), "a member of its output's status is not a string");
  EXPECT_EQ(parse(R"({"token":"a\nb"})"), "its token contains control characters");
  EXPECT_EQ(parse(R"({"token":"abc","expirationTimestamp":"soon"})"),
            "its expirationTimestamp is not an RFC 3339 time");
  EXPECT_EQ(parse(R"({"clientCertificateData":"x"})"), "its output has clientCertificateData without clientKeyData");
  EXPECT_EQ(parse(R"({"token":"abc","clientKeyData":"x"})"),
            "its output has clientKeyData without clientCertificateData");
  EXPECT_THAT(parse(R"({"clientCertificateData":"x","clientKeyData":"y"})"), HasSubstr("contains no certificate"));
  EXPECT_EQ(parse(R"({"token":"abc"})", R"("kind":"Secret","apiVersion":"v1")"),
            "its output is not of kind ExecCredential");
  EXPECT_THAT(
      parse(R"({"token":"abc"})", R"("kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1")"),
      StartsWith("its output has another apiVersion"));
  EXPECT_EQ(client::ParseExecCredential(" \n", kV1).error().message(), "it printed nothing to standard output");
  EXPECT_EQ(client::ParseExecCredential("secret: [", kV1).error().message(),
            "its standard output is not a JSON object");
}

// --- Several connections

TEST_F(ExecTest, ConnectionsWithOnePluginShareItsRuns) {
  const rest::ExecConfig exec = scripts_.Plugin(kCountedToken);
  std::vector<Connection> connections;
  int answered = 0;
  for (int i = 0; i < 100; ++i) {
    config_.exec = exec;
    config_.host = "https://test:" + std::to_string(6443 + i);
    Settings settings = Defaults();
    settings.exec = ExecCredentials::For(config_, executor_, true);
    connections.push_back(MakeConnection(std::move(settings)));
    transport_->Reply({});
    connections.back().CallAsync(Get(), [&](Result<ApiResponse> response) { answered += response ? 1 : 0; });
  }
  executor_->Run();
  EXPECT_EQ(answered, 100);
  EXPECT_EQ(scripts_.runs(), 1);
}

TEST_F(ExecTest, SharesNothingBetweenPluginsWithAnotherInput) {
  config_.exec = scripts_.Plugin(kCountedToken);
  const auto first = ExecCredentials::For(config_, executor_, true);
  EXPECT_EQ(ExecCredentials::For(config_, executor_, true), first);
  EXPECT_NE(ExecCredentials::For(config_, executor_, false), first) << "it has no certificates";
  EXPECT_NE(ExecCredentials::For(config_, MakeShared<ManualExecutor>(), true), first);
  config_.exec.args = {"--other"};
  EXPECT_NE(ExecCredentials::For(config_, executor_, true), first);
  config_.exec.args = {};
  config_.host = "https://other";
  EXPECT_EQ(ExecCredentials::For(config_, executor_, true), first) << "it does not know the server";
  config_.exec.provide_cluster_info = true;
  const auto knows = ExecCredentials::For(config_, executor_, true);
  config_.host = "https://third";
  EXPECT_NE(ExecCredentials::For(config_, executor_, true), knows);
}

// --- Processes, in real time.

class ExecProcessTest : public test_support::Http2Test {
 protected:
  rest::Config Config(rest::ExecConfig exec) {
    rest::Config config = Http2Test::Config();
    config.exec = std::move(exec);
    return config;
  }
  Scripts scripts_;
};

TEST_F(ExecProcessTest, EndsACallAtItsDeadlineAndKillsThePluginThatNeverEnds) {
  Serve();
  const std::string alive = scripts_.Fifo("alive");
  const Connection connection =
      Must(Connection::Open(Config(scripts_.Plugin("exec 9>$D/alive; echo up >&9; sleep 1000"))));
  // A reader that is there before the plugin opens the FIFO, so that its own end shows.
  const int reader = ::open(alive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const Result<ApiResponse> response =
      connection.Call({.path = "/ok", .what = "get ok", .timeout = std::chrono::milliseconds(500)});
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code(), Code::kTimeout);
  EXPECT_THAT(response.error().ToString(), HasSubstr("credential plugin " + scripts_.Path("plugin.sh")));
  ::fcntl(reader, F_SETFL, 0);
  char piece[16];
  while (::read(reader, piece, sizeof piece) > 0) {  // ends when shell and sleep are gone
  }
  ::close(reader);
}

TEST_F(ExecProcessTest, EndsACallWhenItsStopIsRequested) {
  Serve();
  const std::string up = scripts_.Fifo("up");
  const Connection connection = Must(Connection::Open(Config(scripts_.Plugin("echo up >$D/up; sleep 1000"))));
  std::stop_source stop;
  test_support::Signal signal;
  bool done = false;
  connection.executor().Blocking("test", [&] {
    const Result<ApiResponse> response = connection.Call({.path = "/ok"}, stop.get_token());
    EXPECT_EQ(response.error().code(), Code::kCancelled);
    signal.Change([&] { done = true; });
  });
  EXPECT_EQ(Drain(up), "up\n");
  stop.request_stop();
  EXPECT_TRUE(signal.WaitFor([&] { return done; }));
}

TEST_F(ExecProcessTest, UsesTheClientCertificateOfThePluginAndItsSuccessor) {
  const auto authority = Must(CertificateAuthority::Make());
  Serve({.authority = authority, .client_certificate = true});
  const auto write = [&] { WriteCertificate(*authority, scripts_.Path("status")); };
  write();
  const Connection connection = Must(Connection::Open(Config(scripts_.Plugin("answer \"$(cat $D/status)\""))));
  const auto get = [&](std::string path) { return connection.Call({.path = std::move(path)}); };
  const auto first = get("/ok");
  ASSERT_TRUE(first.has_value()) << first.error();
  EXPECT_EQ(server_->connections(), 1u);
  write();
  EXPECT_EQ(get("/denied").error().code(), Code::kUnauthorized);
  EXPECT_EQ(server_->connections(), 2u) << "the new certificate is shown to the server by a new connection";
  EXPECT_EQ(scripts_.runs(), 2);
}

TEST_F(ExecProcessTest, InheritsNoFilesAndIgnoresChildrenThatOutliveThePlugin) {
  const std::string later = scripts_.Fifo("later");
  int leaked[2];
  ASSERT_EQ(::pipe(leaked), 0);
  // The process in the background keeps standard output open until the test lets it go.
  const rest::ExecConfig exec =
      scripts_.Plugin("cat $D/later & [ -e /proc/$$/fd/" + std::to_string(leaked[0]) + " ] && exit 3; echo done");
  const auto process = Must(client::Process::Make());
  const auto outcome = process->Run({.argv = {exec.command}});
  ASSERT_TRUE(outcome.has_value()) << outcome.error();
  EXPECT_EQ(outcome->output, "done\n");
  EXPECT_EQ(outcome->exit_code, 0);
  std::ofstream(later) << "go";
  ::close(leaked[0]);
  ::close(leaked[1]);
}

// Keeps the warnings, and lets the plugin go on as soon as there is one.
class CodeReader final : public Observer {
 public:
  explicit CodeReader(std::string go) : go_(std::move(go)) {}
  void OnLogged(const Logged& event) override {
    signal_.Change([&] {
      logged_.push_back(std::string(event.source) + ' ' + std::string(event.key) + ": " + std::string(event.message));
    });
    if (event.message.contains("enter the code")) std::ofstream(go_) << "go";
  }
  std::vector<std::string> logged() {
    return signal_.Look([&] { return logged_; });
  }

 private:
  const std::string go_;
  test_support::Signal signal_;
  std::vector<std::string> logged_;
};

TEST_F(ExecProcessTest, HidesTheCredentialInWhatItPassesOn) {
  Serve();
  rest::Config config =
      Config(scripts_.Plugin(R"(answer '"token":"printed-to-both"'; echo "got printed-to-both" >&2)"));
  const auto reader = MakeShared<CodeReader>(scripts_.Path("unused"));
  config.observer = reader;
  EXPECT_TRUE(Must(Connection::Open(config)).Call({.path = "/ok"}).has_value());
  EXPECT_THAT(reader->logged(), ElementsAre(HasSubstr(": got (hidden)")));
}

TEST_F(ExecProcessTest, PassesOnWhatThePluginWritesWhileItWaits) {
  Serve();
  const std::string go = scripts_.Fifo("go");
  rest::Config config =
      Config(scripts_.Plugin("printf 'open a browser\nand enter the code 12-34 for %s\n' \"$ME\" >&2; "
                             "cat $D/go >/dev/null; echo 'logged in' >&2; answer '\"token\":\"t\"'"));
  config.exec.env = {{"ME", "a-secret"}};
  const auto reader = MakeShared<CodeReader>(go);
  config.observer = reader;
  const auto response = Must(Connection::Open(config)).Call({.path = "/ok"});
  ASSERT_TRUE(response.has_value()) << response.error();
  const std::string who = "credential plugin " + scripts_.Path("plugin.sh") + ": ";
  EXPECT_THAT(reader->logged(),
              ::testing::ElementsAre(who + "open a browser; and enter the code 12-34 for (hidden)", who + "logged in"));
}

TEST_F(ExecProcessTest, DoesNotStartAPluginThatWasKilledBefore) {
  const rest::ExecConfig exec = scripts_.Plugin("true");
  const auto process = Must(client::Process::Make());
  process->Kill();
  EXPECT_EQ(process->Run({.argv = {exec.command}}).error().code(), Code::kCancelled);
  EXPECT_EQ(scripts_.runs(), 0);
}

TEST_F(ExecProcessTest, IsNotRunWhereThereIsATokenOrACertificate) {
  Serve();
  rest::Config config = Config(scripts_.Plugin("exit 1"));
  config.bearer_token = "mine";
  const auto response = Must(Connection::Open(config)).Call({.path = "/ok"});
  EXPECT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(scripts_.runs(), 0);
}

}  // namespace
}  // namespace kgen::testing
