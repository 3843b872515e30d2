// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "controller/serve/certificate_watcher.h"

#include <chrono>
#include <new>
#include <utility>

#include "core/files/read_file.h"

namespace kgen::controller {
namespace {

constexpr Nanos kPoll = std::chrono::seconds(10);

}  // namespace

Result<Shared<CertificateWatcher>> CertificateWatcher::Open(TlsFiles files, Shared<Executor> executor,
                                                            const std::optional<Metrics>& metrics) {
  auto watcher = MakeShared<CertificateWatcher>(std::move(files), std::move(executor));
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

Result<void> CertificateWatcher::Load() {
  auto certificate = detail::ReadFile("server certificate", files_.certificate_file);
  if (!certificate) return Fail(certificate.error());
  auto key = detail::ReadFile("server key", files_.key_file);
  if (!key) return Fail(key.error());
  {
    // A new key comes with a new certificate, because the certificate contains the public key.
    const MutexLock lock(mutex_);
    if (*certificate == certificate_) return {};
  }
  // Clients that offer several protocols take HTTP/1.1 if the server selects none.
  auto context = net::TlsContext::ForServer({.certificate_pem = *certificate, .key_pem = *std::move(key), .alpn = ""});
  if (!context) return Fail(context.error().With(files_.certificate_file + ", " + files_.key_file));
  const MutexLock lock(mutex_);
  current_ = *std::move(context);
  certificate_ = *std::move(certificate);
  return {};
}

Shared<net::TlsContext> CertificateWatcher::Current() {
  const MutexLock lock(mutex_);
  return current_;
}

void CertificateWatcher::Start(Report report) {
  report_ = std::move(report);
  Arm();
}

void CertificateWatcher::Arm() noexcept {
  const MutexLock lock(mutex_);
  if (stopped_) return;
  timer_.After(kPoll, TimerKind::kHousekeeping, [self = Shared<CertificateWatcher>(this)] { self->OnTimer(); });
}

void CertificateWatcher::OnTimer() {
  try {
    executor_->BlockingShort("read the endpoint's certificate",
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
