// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/http/certificate_watcher.h"

#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "core/files/read_file.h"

namespace kgen::controller {
namespace {

constexpr Nanos kPoll = std::chrono::seconds(10);

}  // namespace

Result<Shared<CertificateWatcher>> CertificateWatcher::Open(CertificateSource source, Shared<Executor> executor,
                                                            const std::optional<Metrics>& metrics) {
  if (source.certificate_file.empty() != source.key_file.empty()) {
    return Fail(Code::kConfig, "only the file of the " + std::string(source.key_file.empty() ? "certificate" : "key") +
                                   " is named; name both, or none for a certificate that is made in memory");
  }
  auto watcher = MakeShared<CertificateWatcher>(std::move(source), std::move(executor));
  if (metrics) {
    if (auto counted = watcher->Count(*metrics); !counted) return Fail(counted.error());
  }
  if (auto read = watcher->Read(); !read) return Fail(read.error());
  return watcher;
}

Result<void> CertificateWatcher::Count(Metrics metrics) {
  auto reads = metrics.AddCounter("certwatcher_read_certificate_total", "Total number of certificate reads");
  if (!reads) return Fail(reads.error());
  auto errors =
      metrics.AddCounter("certwatcher_read_certificate_errors_total", "Total number of certificate read errors");
  if (!errors) return Fail(errors.error());
  reads_ = *std::move(reads);
  errors_ = *std::move(errors);
  return {};
}

Result<void> CertificateWatcher::Read() {
  reads_.Add();
  auto loaded = Load();
  if (!loaded) errors_.Add();
  return loaded;
}

Result<net::TlsContext::Server> CertificateWatcher::ReadFiles() const {
  // Clients that offer several protocols take HTTP/1.1 if the server selects none.
  net::TlsContext::Server server{
      .certificate_pem = source_.identity.certificate_pem, .key_pem = source_.identity.key_pem, .alpn = ""};
  const auto read = [](std::string_view what, const std::string& file, std::string& to) -> Result<void> {
    if (file.empty()) return {};
    auto text = detail::ReadFile(what, file);
    if (!text) return Fail(text.error());
    to = *std::move(text);
    return {};
  };
  if (auto done = read("server certificate", source_.certificate_file, server.certificate_pem); !done) {
    return Fail(done.error());
  }
  if (auto done = read("server key", source_.key_file, server.key_pem); !done) return Fail(done.error());
  if (auto done = read("client authority", source_.client_ca_file, server.client_ca_pem); !done) {
    return Fail(done.error());
  }
  if (!source_.client_ca_file.empty() && server.client_ca_pem.empty()) {
    return Fail(Code::kConfig, "client authority " + source_.client_ca_file + ": is empty");
  }
  return server;
}

Result<void> CertificateWatcher::Load() {
  auto server = ReadFiles();
  if (!server) return Fail(server.error());
  {
    // A new key comes with a new certificate, because the certificate contains the public key.
    const MutexLock lock(mutex_);
    if (current_ && server->certificate_pem == certificate_ && server->client_ca_pem == client_ca_) return {};
  }
  auto context = net::TlsContext::ForServer(*server);
  if (!context) {
    std::string files = source_.certificate_file;
    if (!files.empty()) files += ", " + source_.key_file;
    if (!source_.client_ca_file.empty()) files += (files.empty() ? "" : ", ") + source_.client_ca_file;
    return files.empty() ? Fail(context.error()) : Fail(context.error().With(files));
  }
  const MutexLock lock(mutex_);
  current_ = *std::move(context);
  certificate_ = std::move(server->certificate_pem);
  client_ca_ = std::move(server->client_ca_pem);
  return {};
}

Shared<net::TlsContext> CertificateWatcher::Current() {
  const MutexLock lock(mutex_);
  return current_;
}

std::string CertificateWatcher::client_ca() {
  const MutexLock lock(mutex_);
  return client_ca_;
}

void CertificateWatcher::Start(Report report) {
  report_ = std::move(report);
  if (!source_.certificate_file.empty() || !source_.client_ca_file.empty()) Arm();
}

void CertificateWatcher::Arm() noexcept {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  timer_.After(kPoll, TimerKind::kHousekeeping, [self = Shared<CertificateWatcher>(this)] { self->OnTimer(); });
}

void CertificateWatcher::OnTimer() {
  try {
    executor_->BlockingShort("read the certificate of " + source_.who,
                             [self = Shared<CertificateWatcher>(this)] { self->Poll(); });
  } catch (const std::bad_alloc&) {
    Arm();  // tries again later
  }
}

void CertificateWatcher::Poll() {
  try {
    if (auto read = Read(); !read) report_(read.error());
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next timer tries again
  }
  Arm();
}

void CertificateWatcher::Stop() {
  const MutexLock lock(mutex_);
  stopped_ = true;
  timer_.Cancel();
}

}  // namespace kgen::controller
