// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CertificateWatcher: a server's certificate and key, and the authority of its clients, from files that may be replaced
// at any time. They are read again every 10 seconds. File notifications would miss the replacements of mounted Secrets,
// which are changes of symbolic links.
#ifndef KGEN_SRC_CONTROLLER_HTTP_CERTIFICATE_WATCHER_H_
#define KGEN_SRC_CONTROLLER_HTTP_CERTIFICATE_WATCHER_H_

#include <functional>
#include <optional>
#include <string>

#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/controller/metrics.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "kgen/core/result.h"
#include "net/tls.h"
#include "net/x509.h"

namespace kgen::controller {

// Where a certificate comes from.
struct CertificateSource {
  std::string who{};  // for messages: "the endpoint"
  // PEM files. Both are named, or none; then `identity` is used.
  std::string certificate_file{}, key_file{};
  net::Identity identity{};
  std::string client_ca_file{};  // "": clients need no certificate
};

// Thread safety: all members from any thread. None blocks, except Open().
class CertificateWatcher final : public SharedObject {
 public:
  using Report = std::function<void(const Error&)>;

  // Reads the files. Counts the reads in `metrics`, if given.
  // Errors: kConfig  a file cannot be read or used, or only one of the two is named
  static Result<Shared<CertificateWatcher>> Open(CertificateSource source, Shared<Executor> executor,
                                                 const std::optional<Metrics>& metrics);
  // The latest files that could be used together.
  Shared<net::TlsContext> Current();
  // The authority of clients in it, as PEM; "" if there is none.
  std::string client_ca();
  // Begins to watch, if there are files. `report` gets every failed read.
  void Start(Report report);
  void Stop();

  CertificateWatcher(CertificateSource source, Shared<Executor> executor)
      : source_(std::move(source)),
        executor_(std::move(executor)),
        timer_(executor_, executor_->MakeStrand(source_.who + "'s certificate")) {}

 private:
  Result<void> Count(Metrics metrics);
  Result<net::TlsContext::Server> ReadFiles() const;
  Result<void> Read();
  Result<void> Load();
  void Arm() noexcept;
  void OnTimer();
  void Poll();

  const CertificateSource source_;
  const Shared<Executor> executor_;
  Metrics::Counter reads_, errors_;
  Report report_;  // set before the first timer
  Mutex mutex_;
  Shared<net::TlsContext> current_ KGEN_GUARDED_BY(mutex_);
  std::string certificate_ KGEN_GUARDED_BY(mutex_);  // the text of it
  std::string client_ca_ KGEN_GUARDED_BY(mutex_);
  kgen::detail::PostTimer timer_ KGEN_GUARDED_BY(mutex_);
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_HTTP_CERTIFICATE_WATCHER_H_
