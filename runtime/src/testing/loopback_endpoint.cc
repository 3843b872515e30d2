// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "testing/loopback_endpoint.h"

#include <utility>

#include "kgen/core/quantity.h"
#include "testing/http2_server.h"

namespace kgen::testing {
namespace {

constexpr std::uint32_t kInternalError = 2;  // INTERNAL_ERROR of HTTP/2

// Delivers the response to one request from the ApiServer to the ResponseWriter. Runs on its own strand.
class Delivery final : public SharedObject {
 public:
  Delivery(Shared<ApiServer> server, Shared<Executor> executor, Shared<ResponseWriter> writer, Reply reply)
      : server_(std::move(server)),
        executor_(std::move(executor)),
        strand_(executor_->MakeStrand("server: answer")),
        writer_(std::move(writer)),
        reply_(std::move(reply)) {}

  void Start() {
    if (reply_.stall) return writer_->OnClosed([] {});
    if (reply_.refuse) return writer_->Reset(kInternalError);
    if (reply_.delay <= Nanos::zero()) return Post();
    timer_ = executor_->clock()->After(reply_.delay, TimerKind::kProgress,
                                       [self = Shared<Delivery>(this)] { self->Post(); });
  }

 private:
  void Post() {
    executor_->Post(strand_, [self = Shared<Delivery>(this)] { self->Step(); });
  }

  void Step() {
    if (!started_) Head();
    if (done_) return;
    bool last = !reply_.watch;
    bool cut = false;
    // Bytes that the network cannot take yet stay in the ApiServer, where a fault can still cut them.
    if (reply_.watch && writer_->backlog() == 0) {
      const ApiServer::Taken taken = server_->Take(*reply_.watch);
      reply_.body += taken.bytes;
      last = taken.ended;
      cut = taken.cut;
    }
    if (reply_.cut_after_bytes && sent_ + reply_.body.size() >= *reply_.cut_after_bytes) {
      reply_.body.resize(*reply_.cut_after_bytes - sent_);
      cut = true;
    }
    sent_ += reply_.body.size();
    if (!reply_.body.empty()) writer_->Write(std::exchange(reply_.body, {}));
    if (!cut && !last) return;
    done_ = true;
    cut && !reply_.ends_well ? writer_->Reset(kInternalError) : writer_->End();
  }

  void Head() {
    started_ = true;
    const Shared<Delivery> self(this);
    if (reply_.watch) {  // before anything is sent, so as not to miss a drained buffer
      writer_->OnDrained([self] { self->Post(); });
      // Breaks the reference cycle between this delivery and the watch.
      writer_->OnClosed([self] { self->server_->CloseWatch(*self->reply_.watch); });
    }
    writer_->Head(reply_.status, reply_.headers);
    if (reply_.watch) server_->OnWake(*reply_.watch, [self] { self->Post(); });
  }

  const Shared<ApiServer> server_;
  const Shared<Executor> executor_;
  const Shared<Strand> strand_;
  const Shared<ResponseWriter> writer_;
  Reply reply_;
  Timer timer_;
  bool started_ = false, done_ = false;
  std::size_t sent_ = 0;
};

class Handler final : public HttpHandler {
 public:
  Handler(Shared<ApiServer> server, Shared<Executor> executor)
      : server_(std::move(server)), executor_(std::move(executor)) {}

  void OnRequest(ServerRequest request, Shared<ResponseWriter> writer) override {
    HttpRequest plain;
    plain.method = std::move(request.method);
    plain.path = std::move(request.path);
    plain.headers = std::move(request.headers);
    plain.body = std::move(request.body);
    const auto deliver = [server = server_, executor = executor_, writer](Reply reply) {
      MakeShared<Delivery>(server, executor, writer, std::move(reply))->Start();
    };
    if (auto reply = server_->Handle(plain, deliver)) deliver(*std::move(reply));
  }

 private:
  const Shared<ApiServer> server_;
  const Shared<Executor> executor_;
};

class ServedEndpoint final : public LoopbackEndpoint {
 public:
  explicit ServedEndpoint(Shared<Http2Server> http) : http_(std::move(http)) {}
  ~ServedEndpoint() override { http_->Stop(); }

  std::string Kubeconfig() const override {
    const std::string ca(Bytes::Of(http_->ca_pem()).base64());
    return "apiVersion: v1\nkind: Config\nclusters:\n- name: memory\n  cluster:\n    server: " + http_->url() +
           "\n    certificate-authority-data: " + ca +
           "\nusers:\n- name: tester\n  user:\n    token: tester\n"
           "contexts:\n- name: memory\n  context:\n    cluster: memory\n    user: tester\n    namespace: default\n"
           "current-context: memory\n";
  }
  void Cut() override { http_->CutNow(); }

 private:
  const Shared<Http2Server> http_;
};

}  // namespace

Result<Shared<LoopbackEndpoint>> LoopbackEndpoint::Open(Shared<ApiServer> server, Shared<Executor> executor,
                                                        std::uint16_t port) {
  auto http =
      Http2Server::Start({.port = port, .http1 = true}, MakeShared<Handler>(std::move(server), std::move(executor)));
  if (!http) return http.error();
  return Shared<LoopbackEndpoint>(MakeShared<ServedEndpoint>(*std::move(http)));
}

}  // namespace kgen::testing
