// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "net/http2_transport.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/execution/fork_error.h"
#include "core/memory/fork.h"
#include "core/observers/notify_observer.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/http2_session.h"
#include "net/proxy.h"
#include "net/tls.h"

namespace kgen {
namespace net {
namespace {

bool NamesFiles(const rest::TlsConfig& config) {
  return (config.ca_data.empty() && !config.ca_file.empty()) ||
         (config.certificate_data.empty() && !config.certificate_file.empty()) ||
         (config.key_data.empty() && !config.key_file.empty());
}

}  // namespace

// The connections to one server and the requests that wait for a connection. May be constructed on any thread;
// everything else runs on the loop's thread.
class Pool final : public SharedObject, private Session::Owner, private EventLoop::User {
 public:
  struct Parts {
    Target target;
    rest::TlsConfig tls_config;
    Shared<TlsContext> tls;
    Shared<Executor> executor;
    Shared<Observer> observer;
    Http2Options options;
    Shared<net::ClientIdentity> identity;  // or null
  };
  Pool(Shared<EventLoop> loop, Parts parts)
      : loop_(std::move(loop)),
        parts_(std::move(parts)),
        clock_(parts_.executor->clock()),
        name_(parts_.target.Name()),
        has_files_(parts_.target.tls && NamesFiles(parts_.tls_config)),
        observer_strand_(parts_.executor->MakeStrand("connection to " + name_)) {}

  void Start(Shared<HttpExchange> exchange);
  void Cancel(HttpExchange& exchange);
  void Close();

 private:
  using Queue = std::deque<Shared<HttpExchange>>;
  struct FileAnswer;

  void OnSessionReady(Session& session) override;
  void OnSessionRoom(Session& session) override;
  void OnSessionRefused(Shared<HttpExchange> exchange) override;
  void OnSessionUnauthorized() override { CheckFilesAfter(parts_.options.file_check_on_401); }
  void OnSessionEnded(Session& session, const Error* error) override;
  void OnLoopStop() noexcept override { Close(); }

  std::string Progress() const;
  void Pump();
  bool Dispatch(Queue& queue, bool long_lived);
  void Connect();
  void OnDialed(Result<Shared<TcpStream>> dialed);
  void OnConnected(Result<Shared<TcpStream>> connected);
  Error BehindProxy(const Error& error) const;
  void FailWaiting(const Error& error);
  // True if an open session will sooner or later have room for such a request, so that no other session is needed.
  bool WillHaveRoom(bool long_lived) const;
  void CheckFilesAfter(Nanos interval);
  void CheckFiles();
  bool IdentityChanged() const { return parts_.identity && parts_.identity->version() != identity_version_; }
  void OnFilesChecked(std::uint64_t round, Shared<TlsContext> renewed);
  void Observe(bool up, const Error* error);

  const Shared<EventLoop> loop_;
  const Parts parts_;
  const Shared<Clock> clock_;
  const std::string name_;
  const bool has_files_;                  // certificates come from files
  const Shared<Strand> observer_strand_;  // the observer is called on it
  Queue short_, long_;                    // waiting requests, in order of arrival
  std::vector<Shared<Session>> sessions_;
  Shared<Dialer> dialer_;
  Shared<ProxyTunnel> tunnel_;
  Session* opening_ = nullptr;      // one of sessions_, during its handshake
  std::optional<Error> failure_{};  // of the last connection, until there is another
  Shared<TlsContext> tls_ = parts_.tls;
  bool opening_outdated_ = false;  // tls_ has changed since opening_ began

  std::optional<TimePoint> files_checked_{};  // the time of the last check; set with the first request
  std::uint64_t check_ = 0;                   // the number of the current check
  Timer check_deadline_{};
  bool checking_ = false;
  bool files_fresh_ = false;            // a check has just ended, so a connection may be opened
  std::uint64_t identity_version_ = 0;  // of parts_.identity, in tls_ or being loaded into it
  bool identity_due_ = false;           // tls_ and the requests wait for it
  bool registered_ = false;
  bool closed_ = false;
};

void Pool::Start(Shared<HttpExchange> exchange) {
  if (closed_) return exchange->Finish(Fail(Code::kCancelled, "this program has closed its connection to " + name_));
  if (!std::exchange(registered_, true)) loop_->Register(this);
  (exchange->request.long_lived ? long_ : short_).push_back(std::move(exchange));
  if (IdentityChanged()) {
    // Requests that come with a new certificate must not use a connection that was opened without it.
    identity_due_ = true;
    CheckFiles();
  } else if (!sessions_.empty()) {
    CheckFilesAfter(parts_.options.file_check);
  }
  Pump();
}

void Pool::Cancel(HttpExchange& exchange) {
  if (exchange.session != nullptr) {
    const Shared<Session> session(exchange.session);
    return session->Cancel(exchange);
  }
  Queue& queue = exchange.request.long_lived ? long_ : short_;
  const auto found =
      std::find_if(queue.begin(), queue.end(), [&](const auto& each) { return each.get() == &exchange; });
  if (found == queue.end()) return;
  const Shared<HttpExchange> held = std::move(*found);
  queue.erase(found);
  HttpEnd end = Fail(Code::kCancelled, "the request was cancelled");
  end.progress = Progress();
  held->Finish(std::move(end));
}

// Describes what the waiting requests are waiting for.
std::string Pool::Progress() const {
  const std::string before = failure_ ? "; before that: " + failure_->message() : "";
  const auto& proxy = parts_.target.proxy;
  const std::string through = proxy ? " through the proxy " + proxy->Name() : "";
  const std::string connecting = "still connecting to " + name_ + through + ": ";
  if (dialer_) return connecting + dialer_->Progress() + before;
  if (tunnel_) return connecting + "no answer to CONNECT yet" + before;
  if (opening_ != nullptr) return connecting + std::string(opening_->Progress()) + before;
  if (checking_) return connecting + "the certificate files are still being read" + before;
  return "all streams that " + name_ + " allows were in use";
}

void Pool::Close() {
  if (std::exchange(closed_, true)) return;
  const Shared<Pool> self(this);
  if (registered_) loop_->Unregister(this);
  if (dialer_) std::exchange(dialer_, {})->Cancel();
  if (tunnel_) std::exchange(tunnel_, {})->Cancel();
  check_deadline_.Cancel();
  opening_ = nullptr;
  const Error why(Code::kCancelled, "this program has closed its connection to " + name_);
  for (const auto& session : std::exchange(sessions_, {})) session->Close(why);
  FailWaiting(why);
}

void Pool::Pump() {
  if (closed_ || identity_due_) return;
  const bool more_short = Dispatch(short_, false);
  const bool more_long = Dispatch(long_, true);
  if (more_short || more_long) Connect();
}

// Submits requests to sessions with room. Returns true if the rest needs another connection.
bool Pool::Dispatch(Queue& queue, bool long_lived) {
  while (!queue.empty()) {
    const auto room =
        std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s->HasRoom(long_lived); });
    if (room == sessions_.end()) return !WillHaveRoom(long_lived);
    Shared<HttpExchange> exchange = std::move(queue.front());
    queue.pop_front();
    const Shared<Session> session(room->get());  // sending may end it
    session->Submit(std::move(exchange), parts_.target.tls ? "https" : "http", parts_.target.authority);
  }
  return false;
}

bool Pool::WillHaveRoom(bool long_lived) const {
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& s) { return s->WillHaveRoom(long_lived); });
}

// Guarantees that the loop gets a result, even if the blocking task is destroyed without running.
struct Pool::FileAnswer {
  FileAnswer(Shared<Pool> asker, std::uint64_t check) : pool(std::move(asker)), round(check) {}
  FileAnswer(FileAnswer&&) = default;
  ~FileAnswer() {
    if (pool) Send({});
  }
  void Send(Shared<TlsContext> renewed) {
    EventLoop& loop = *pool->loop_;
    loop.Post([pool = std::exchange(pool, {}), round = round, renewed = std::move(renewed)]() mutable {
      pool->OnFilesChecked(round, std::move(renewed));
    });
  }
  Shared<Pool> pool;
  std::uint64_t round;
};

void Pool::CheckFilesAfter(Nanos interval) {
  if (has_files_ && (!files_checked_ || clock_->Now() - *files_checked_ >= interval)) CheckFiles();
}

// Certificate files are replaced while connections live, and servers check the certificate with every request. If the
// files cannot be read, the old certificates stay in use.
void Pool::CheckFiles() {
  if (closed_ || std::exchange(checking_, true)) return;
  const Shared<Pool> self(this);
  const std::uint64_t round = ++check_;
  rest::TlsConfig config = parts_.tls_config;
  if (parts_.identity) {
    identity_version_ = parts_.identity->version();
    if (identity_version_ != 0) parts_.identity->ApplyTo(config);
  }
  // If the file system hangs, connect with the certificates that are loaded.
  check_deadline_ = loop_->After(parts_.options.connect_timeout, [self, round] { self->OnFilesChecked(round, {}); });
  parts_.executor->BlockingShort("compare certificate files",
                                 [answer = FileAnswer(self, round), old = tls_, config = std::move(config)]() mutable {
                                   answer.Send(old->Renewed(config));
                                 });
}

void Pool::OnFilesChecked(std::uint64_t round, Shared<TlsContext> renewed) {
  if (closed_ || !checking_ || round != check_) return;
  checking_ = false;
  check_deadline_.Cancel();
  files_checked_ = clock_->Now();
  files_fresh_ = true;
  if (renewed) {
    tls_ = std::move(renewed);
    opening_outdated_ = opening_ != nullptr;
    for (const auto& session : std::vector(sessions_)) {
      if (session.get() != opening_) session->Retire();
    }
  }
  if (IdentityChanged()) return CheckFiles();
  identity_due_ = false;
  Pump();
  files_fresh_ = false;
}

void Pool::Connect() {
  if (dialer_ || tunnel_ || opening_ != nullptr) return;
  if (has_files_ && !files_fresh_) return CheckFiles();  // calls Pump() again at its end
  const auto& proxy = parts_.target.proxy;
  const Target to = proxy ? Target{.host = proxy->host, .port = proxy->port} : parts_.target;
  dialer_ = MakeShared<Dialer>(loop_, parts_.executor, to, parts_.options.connect_timeout);
  dialer_->Start([self = Shared<Pool>(this)](auto dialed) { self->OnDialed(std::move(dialed)); });
}

void Pool::OnDialed(Result<Shared<TcpStream>> dialed) {
  dialer_ = {};
  if (closed_) return;
  if (!parts_.target.proxy) return OnConnected(std::move(dialed));
  if (!dialed) return OnConnected(Fail(BehindProxy(dialed.error())));
  tunnel_ = MakeShared<ProxyTunnel>(loop_, *std::move(dialed), *parts_.target.proxy, name_);
  tunnel_->Start(parts_.options.connect_timeout, [self = Shared<Pool>(this)](Result<Shared<TcpStream>> stream) {
    self->tunnel_ = {};
    self->OnConnected(stream ? std::move(stream) : Fail(self->BehindProxy(stream.error())));
  });
}

Error Pool::BehindProxy(const Error& error) const {
  return Error::NotConnected(
      "cannot connect to " + name_ + " through the proxy " + parts_.target.proxy->Name() + ": " + error.message(),
      error.code());
}

void Pool::OnConnected(Result<Shared<TcpStream>> dialed) {
  std::optional<TlsEngine> engine;
  if (dialed && parts_.target.tls) {
    const std::string& wanted = parts_.tls_config.server_name;
    auto made = TlsEngine::Client(tls_, wanted.empty() ? parts_.target.host : wanted);
    if (made) engine.emplace(std::move(*made));
    if (!made) {
      (*dialed)->Close();
      dialed = Fail(made.error());
    }
  }
  if (!dialed) {
    failure_ = dialed.error();
    Observe(false, &dialed.error());
    FailWaiting(dialed.error());
    return;
  }
  auto session = MakeShared<Session>(static_cast<Session::Owner*>(this), loop_, clock_, name_, parts_.options);
  sessions_.push_back(session);
  opening_ = session.get();
  opening_outdated_ = false;
  session->Start(*std::move(dialed), std::move(engine));
}

void Pool::OnSessionReady(Session& session) {
  if (opening_ == &session) opening_ = nullptr;
  failure_.reset();
  if (std::exchange(opening_outdated_, false)) session.Retire();
  Observe(true, nullptr);
  Pump();
}

void Pool::OnSessionRoom(Session&) { Pump(); }

void Pool::OnSessionRefused(Shared<HttpExchange> exchange) {
  // The exchange goes to the front, because it came first. The caller then tells the pool about free room.
  (exchange->request.long_lived ? long_ : short_).push_front(std::move(exchange));
}

void Pool::OnSessionEnded(Session& session, const Error* error) {
  const bool opening = opening_ == &session;
  if (opening) opening_ = nullptr;
  std::erase_if(sessions_, [&](const auto& each) { return each.get() == &session; });
  if (error != nullptr) {
    failure_ = *error;
    Observe(false, error);
  }
  if (opening) {
    FailWaiting(error != nullptr ? *error
                                 : Error::NotConnected("cannot connect to " + name_ +
                                                       ": the server ended the connection before its settings"));
  }
  Pump();
}

// No connection could be opened: fails the requests that no other connection will take.
void Pool::FailWaiting(const Error& error) {
  const bool keep_short = !closed_ && WillHaveRoom(false), keep_long = !closed_ && WillHaveRoom(true);
  Queue failed;
  if (!keep_short) failed = std::exchange(short_, {});
  if (!keep_long) {
    for (auto& each : std::exchange(long_, {})) failed.push_back(std::move(each));
  }
  for (const auto& exchange : failed) exchange->Finish(Fail(error));
}

// The observer is user code, which must not run on this thread. The strand keeps its events in order.
void Pool::Observe(bool up, const Error* error) {
  if (!parts_.observer) return;
  std::optional<Error> why;
  if (error != nullptr) why = *error;
  parts_.executor->Post(observer_strand_, [observer = parts_.observer, host = name_, up, why = std::move(why)] {
    NotifyObserver(observer, [&](Observer& o) {
      o.OnConnectionChanged({.host = host, .up = up, .error = why ? &*why : nullptr});
    });
  });
}

// Defined here because it needs Pool.
void HttpExchange::Cancel() noexcept {
  if (cancelled_.exchange(true)) return;
  loop->Post([self = Shared<HttpExchange>(this)] {
    if (const Shared<Pool> held = self->pool) held->Cancel(*self);
  });
}

namespace {

class Http2Transport final : public Transport {
 public:
  explicit Http2Transport(Pool::Parts parts)
      : loop_(parts.options.loop ? parts.options.loop : EventLoop::Process()),
        pool_(MakeShared<Pool>(loop_, std::move(parts))) {}
  ~Http2Transport() override { Close(); }

  Shared<Exchange> Start(HttpRequest request, Shared<ResponseSink> sink) override {
    used_ = true;
    const bool closed = closed_;
    auto exchange = MakeShared<HttpExchange>(loop_, pool_, spares_, std::move(request), sink);
    if (detail::ForkedChild()) {
      sink->OnEnd(Fail(detail::ForkedError()));
      return exchange;
    }
    if (!loop_->Post([pool = pool_, exchange, closed] {
          if (closed) pool->Close();
          pool->Start(exchange);
        })) {
      sink->OnEnd(Fail(Code::kCancelled, "the process is ending"));
    }
    return exchange;
  }

  void Close() noexcept override {
    // If the transport is unused, there is nothing to close, and no thread should be started for it. A later Start()
    // sees closed_.
    if (closed_.exchange(true) || !used_) return;
    loop_->Post([pool = pool_] { pool->Close(); });
  }

 private:
  const Shared<EventLoop> loop_;
  const Shared<Pool> pool_;
  const Shared<SpareBuffers> spares_ = MakeShared<SpareBuffers>();
  std::atomic<bool> used_{false}, closed_{false};
};

}  // namespace
}  // namespace net

Result<Shared<Transport>> MakeHttp2Transport(const net::ServerConfig& config, Shared<Executor> executor,
                                             Shared<Observer> observer, const Http2Options& options,
                                             Shared<net::ClientIdentity> identity) {
  if (detail::ForkedChild()) return Fail(detail::ForkedError());
  auto target = net::ParseTarget(config);
  if (!target) return Fail(target.error());
  Shared<net::TlsContext> tls;
  if (target->tls) {
    auto made = net::TlsContext::ForClient(config.tls);
    if (!made) return Fail(made.error());
    tls = std::move(*made);
  }
  return MakeShared<net::Http2Transport>(net::Pool::Parts{.target = std::move(*target),
                                                          .tls_config = config.tls,
                                                          .tls = tls,
                                                          .executor = std::move(executor),
                                                          .observer = std::move(observer),
                                                          .options = options,
                                                          .identity = tls ? std::move(identity) : nullptr});
}

Result<Shared<Transport>> MakeHttp2Transport(const net::ServerConfig& config, Shared<Executor> executor,
                                             Shared<Observer> observer) {
  return MakeHttp2Transport(config, std::move(executor), std::move(observer), Http2Options());
}

}  // namespace kgen
