// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Proxies: which one is used, and CONNECT through a small proxy on loopback.
#include "net/proxy.h"

#include <atomic>
#include <map>
#include <optional>

#include "kgen/client/connection.h"
#include "net/dial.h"
#include "tests/runtime/client/client_fixture.h"
#include "tests/support/http2_harness.h"

namespace kgen::testing {
namespace {

using net::ChooseProxy;
using net::IsExempt;
using net::Proxy;
using net::ProxyVariables;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Parsed(std::string_view url) {
  const Result<Proxy> proxy = net::ParseProxy(url, "proxy-url");
  if (!proxy) return proxy.error().message();
  return proxy->Name() + (proxy->authorization.empty() ? "" : " " + proxy->authorization);
}

TEST(ProxyUrl, HasHostPortAndCredentials) {
  EXPECT_EQ(Parsed("http://proxy"), "http://proxy:80");
  EXPECT_EQ(Parsed("proxy:3128"), "http://proxy:3128");
  EXPECT_EQ(Parsed("HTTP://[::1]:8080/ignored"), "http://[::1]:8080");
  EXPECT_EQ(Parsed("http://bob:p%40ss@proxy:3128"), "http://proxy:3128 Basic Ym9iOnBAc3M=");
  EXPECT_EQ(Parsed("http://bob@proxy"), "http://proxy:80 Basic Ym9iOg==");
}

TEST(ProxyUrl, IsRefusedWithoutBeingQuoted) {
  EXPECT_EQ(Parsed("https://bob:secret@proxy"), "proxy-url: https:// proxies are not supported, only http:// ones");
  EXPECT_EQ(Parsed("socks5://bob:secret@proxy"), "proxy-url: SOCKS proxies are not supported, only http:// ones");
  EXPECT_EQ(Parsed("ftp://bob:secret@proxy"), "proxy-url: the scheme of the proxy's URL is not http");
  EXPECT_EQ(Parsed("http://bob:secret@"), "proxy-url: the proxy's URL has no valid host and port");
  EXPECT_EQ(Parsed("http://bob:secret@a b"), "proxy-url: the proxy's URL has no valid host and port");
  EXPECT_EQ(Parsed("http://bob:secret@proxy:0"), "proxy-url: the proxy's URL has no valid host and port");
  EXPECT_THAT(Parsed("http://bob:sec%zzret@proxy"), HasSubstr("is not percent-encoded"));
}

TEST(NoProxy, ExcludesTheSameHostsAsGo) {
  const auto exempt = [](std::string_view rules, std::string_view host, std::uint16_t port = 443) {
    return IsExempt(rules, host, port);
  };
  EXPECT_TRUE(exempt("*", "anything"));
  EXPECT_TRUE(exempt(" a.example , b.example", "b.example"));
  EXPECT_TRUE(exempt("Example.com", "API.example.COM"));
  EXPECT_TRUE(exempt("example.com", "example.com"));
  EXPECT_FALSE(exempt("example.com", "notexample.com"));
  EXPECT_TRUE(exempt(".example.com", "api.example.com"));
  EXPECT_FALSE(exempt(".example.com", "example.com"));
  EXPECT_TRUE(exempt("*.example.com", "api.example.com"));
  EXPECT_FALSE(exempt("*.example.com", "example.com"));
  EXPECT_TRUE(exempt("example.com:6443", "example.com", 6443));
  EXPECT_FALSE(exempt("example.com:6443", "example.com", 443));
  EXPECT_TRUE(exempt("10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(exempt("10.0.0.1:443", "10.0.0.1"));
  EXPECT_FALSE(exempt("10.0.0.1", "10.0.0.11"));
  EXPECT_TRUE(exempt("10.0.0.0/8", "10.200.0.1"));
  EXPECT_FALSE(exempt("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(exempt("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(exempt("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(exempt("fd00::/8", "fd12::1"));
  EXPECT_FALSE(exempt("fd00::/8", "fe80::1"));
  EXPECT_TRUE(exempt("[::2]:443", "::2"));
  EXPECT_TRUE(exempt("::2", "0:0::2"));
  EXPECT_FALSE(exempt("", "a"));
  EXPECT_FALSE(exempt(",, /, 10.0.0.0/33, [", "10.0.0.1"));
}

TEST(ProxyChoice, UsesTheConfigThenTheEnvironment) {
  const ProxyVariables variables{.https = "http://secure", .http = "http://plain", .none = "inside.example"};
  const auto choose = [&](std::string_view configured, bool tls, std::string_view host) -> std::string {
    const auto proxy = ChooseProxy(configured, tls, host, 443, variables);
    if (!proxy) return proxy.error().message();
    return *proxy ? (*proxy)->Name() : "none";
  };
  EXPECT_EQ(choose("", true, "api.example"), "http://secure:80");
  EXPECT_EQ(choose("", false, "api.example"), "http://plain:80");
  EXPECT_EQ(choose("", true, "inside.example"), "none");
  for (const char* host : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) EXPECT_EQ(choose("", true, host), "none");
  EXPECT_EQ(choose("http://own", true, "inside.example"), "http://own:80") << "NO_PROXY is about the environment's";
  EXPECT_EQ(choose("http://own", true, "localhost"), "http://own:80");
  EXPECT_EQ(ChooseProxy("", true, "x", 443, {.https = "socks5://a:b@c"}).error().message(),
            "HTTPS_PROXY: SOCKS proxies are not supported, only http:// ones");
}

// A proxy on loopback: answers each CONNECT with `answer`, and with a 200 passes everything on to the target.
class SmallProxy {
 public:
  // `interim` comes first, at once.
  explicit SmallProxy(std::string answer, std::string interim = "")
      : answer_(std::move(answer)), interim_(std::move(interim)) {
    listener_ = Must(loop_->Listen({"127.0.0.1", 0}, [this](Shared<net::TcpStream> stream) {
      auto client = MakeShared<Client>(this, std::move(stream));
      clients_.push_back(client);
      client->near_->Attach(client.get());
    }));
  }
  ~SmallProxy() {
    loop_->Post([this] {
      listener_->Close();
      for (const auto& client : clients_) client->Close();
    });
    loop_->Stop();
  }
  std::string url(std::string user = "") const {
    return "http://" + user + "127.0.0.1:" + std::to_string(listener_->port());
  }
  // What the clients have asked.
  std::vector<std::string> requests() {
    return signal_.Look([&] { return requests_; });
  }

 private:
  struct Client final : SharedObject, net::TcpStream::User {
    Client(SmallProxy* owner, Shared<net::TcpStream> stream) : owner_(owner), near_(std::move(stream)) {}
    void OnTcpRead(std::string_view bytes) override {
      if (far_ != nullptr && connected_) return far_->Write(std::string(bytes));
      head_ += bytes;
      if (head_.ends_with("\r\n\r\n")) owner_->OnConnect(*this);
    }
    void OnTcpDrained() override {}
    void OnTcpClosed(std::string_view) override { Close(); }
    void Close() {
      near_->Close();
      if (far_ != nullptr) far_->Close();
    }
    // The other side.
    struct Back final : net::TcpStream::User {
      void OnTcpRead(std::string_view bytes) override { client->near_->Write(std::string(bytes)); }
      void OnTcpDrained() override {}
      void OnTcpClosed(std::string_view) override { client->Close(); }
      Client* client = nullptr;
    };
    SmallProxy* const owner_;
    const Shared<net::TcpStream> near_;
    Shared<net::TcpStream> far_;
    Back back_;
    std::string head_;
    bool connected_ = false;
  };

  void OnConnect(Client& client) {
    signal_.Change([&] { requests_.push_back(client.head_); });
    if (!interim_.empty()) client.near_->Write(interim_);
    if (!answer_.starts_with("HTTP/1.1 200")) return client.near_->Write(answer_);
    const std::string target = client.head_.substr(8, client.head_.find(" HTTP/") - 8);
    const std::size_t colon = target.rfind(':');
    const net::Address to{target.substr(0, colon), static_cast<std::uint16_t>(std::stoi(target.substr(colon + 1)))};
    client.back_.client = &client;
    client.far_ = loop_->Connect(to, [this, held = Shared<Client>(&client)](std::string_view error) {
      if (!error.empty()) return held->near_->Write("HTTP/1.1 502 Bad Gateway\r\n\r\n");
      held->near_->Write(answer_);
      held->connected_ = true;
      held->far_->Attach(&held->back_);
    });
  }

  const std::string answer_, interim_;
  const Shared<net::EventLoop> loop_ = net::EventLoop::Make();
  Shared<net::TcpListener> listener_;
  std::vector<Shared<Client>> clients_;
  test_support::Signal signal_;
  std::vector<std::string> requests_;
};

constexpr const char* kEstablished = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";

class ProxyTest : public test_support::Http2Test {
 protected:
  Result<ApiResponse> Through(const SmallProxy& proxy, std::string user = "") {
    rest::Config config = Config();
    config.proxy_url = proxy.url(std::move(user));
    return Must(Connection::Open(config)).Call({.path = "/ok", .what = "get ok"});
  }
  std::string Fault(const SmallProxy& proxy, std::string user = "") {
    const auto response = Through(proxy, std::move(user));
    if (response) return "no fault";
    EXPECT_EQ(response.error().code(), Code::kUnavailable);
    return response.error().ToString();
  }
  std::string Authority() const { return "127.0.0.1:" + std::to_string(server_->port()); }
};

TEST_F(ProxyTest, OpensATunnelWithConnect) {
  Serve();
  SmallProxy proxy(kEstablished);
  const auto response = Through(proxy);
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(response->body, "fine");
  ASSERT_EQ(proxy.requests().size(), 1u);
  EXPECT_EQ(proxy.requests()[0], "CONNECT " + Authority() + " HTTP/1.1\r\nHost: " + Authority() + "\r\n\r\n");
}

// Without TLS the server speaks at once, so that its first bytes may come together with the proxy's answer.
TEST_F(ProxyTest, WaitsForTheResponseBehindInterimOnes) {
  Serve();
  for (const char* interim : {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\nVia: test\r\n\r\n",
                              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n"}) {
    SmallProxy proxy(kEstablished, interim);
    const auto response = Through(proxy);
    ASSERT_TRUE(response.has_value()) << response.error();
    EXPECT_EQ(response->body, "fine");
  }
  SmallProxy refuses("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\n\r\n");
  EXPECT_THAT(Fault(refuses), HasSubstr("the proxy refused: 403 Forbidden"));
}

TEST_F(ProxyTest, BoundsTheHeadsOfTheResponse) {
  Serve();
  SmallProxy large("HTTP/1.1 200 OK\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n", "");
  EXPECT_THAT(Fault(large), HasSubstr("the head of the proxy's response is larger than 16384 bytes"));
  std::string endless;
  for (int i = 0; i < 1000; ++i) endless += "HTTP/1.1 100 Continue\r\n\r\n";
  SmallProxy many(endless);
  EXPECT_THAT(Fault(many), HasSubstr("the head of the proxy's response is larger than 16384 bytes"));
}

TEST_F(ProxyTest, ShowsNoCredentialsThatTheProxySendsBack) {
  Serve();
  SmallProxy proxy("HTTP/1.1 407 bad dXNlcjpwYXNz here, that is user and pass\r\n\r\n");
  EXPECT_THAT(Fault(proxy, "user:pass@"),
              HasSubstr("the proxy refused: 407 bad (hidden) here, that is user and (hidden)"));
}

TEST_F(ProxyTest, ReachesAPlainServerToo) {
  Serve({.tls = false});
  SmallProxy proxy(kEstablished);
  const auto response = Through(proxy);
  ASSERT_TRUE(response.has_value()) << response.error();
  EXPECT_EQ(proxy.requests().size(), 1u);
}

TEST_F(ProxyTest, SendsItsCredentialsOnlyToTheProxy) {
  Serve();
  SmallProxy proxy(kEstablished);
  ASSERT_TRUE(Through(proxy, "bob:hunter2@").has_value());
  EXPECT_THAT(proxy.requests()[0], HasSubstr("\r\nProxy-Authorization: Basic Ym9iOmh1bnRlcjI=\r\n"));
  rest::Config config = Config();
  config.proxy_url = proxy.url("bob:hunter2@");
  EXPECT_THAT(config.ToString(), AllOf(HasSubstr("proxy_url: http://(hidden)@127.0.0.1:"), Not(HasSubstr("hunter2"))));
}

TEST_F(ProxyTest, ReportsTheRefusalOfTheProxyAndWhatToDo) {
  Serve();
  SmallProxy wants("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
  EXPECT_THAT(Fault(wants),
              StartsWith("get ok: cannot connect to " + Authority() + " through the proxy " + wants.url() +
                         ": the proxy refused: 407 Proxy Authentication Required; give user and password"));
  EXPECT_THAT(Fault(wants, "bob:hunter2@"),
              AllOf(HasSubstr("it does not accept the user and password"), Not(HasSubstr("hunter2"))));
  SmallProxy bad("HTTP/1.1 502 Bad \x1b[31mGateway\r\n\r\n");
  EXPECT_THAT(Fault(bad), HasSubstr("the proxy refused: 502 Bad ?[31mGateway"));
  SmallProxy other("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_THAT(Fault(other), HasSubstr("the proxy's response is not HTTP/1.1"));
}

TEST_F(ProxyTest, ReportsThatTheProxyCannotBeReached) {
  Serve();
  rest::Config config = Config();
  {
    const SmallProxy gone(kEstablished);
    config.proxy_url = gone.url("bob:hunter2@");
  }
  const auto response = Must(Connection::Open(config)).Call({.path = "/ok"});
  ASSERT_FALSE(response.has_value());
  EXPECT_THAT(response.error().message(), AllOf(HasSubstr("through the proxy http://127.0.0.1:"),
                                                HasSubstr("Connection refused"), Not(HasSubstr("hunter2"))));
}

TEST_F(ProxyTest, TimesOutOnASilentProxy) {
  Serve();
  SmallProxy silent("");
  net::ServerConfig config = Target();
  config.proxy_url = silent.url();
  Connect(config, {.connect_timeout = std::chrono::milliseconds(200)});
  const auto end = test_support::Get(*transport_, "/ok").sink->WaitEnd();
  ASSERT_FALSE(end.has_value());
  EXPECT_THAT(end.error().message(), HasSubstr("the proxy did not answer in time"));
}

TEST_F(ProxyTest, RefusesABadProxyWhenTheConnectionIsOpened) {
  const Result<Connection> opened = Connection::Open({.host = "https://x", .proxy_url = "socks5://bob:hunter2@proxy"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code(), Code::kConfig);
  EXPECT_THAT(opened.error().ToString(), AllOf(HasSubstr("SOCKS"), Not(HasSubstr("hunter2"))));
}

}  // namespace
}  // namespace kgen::testing
