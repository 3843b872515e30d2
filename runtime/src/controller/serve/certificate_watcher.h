// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CertificateWatcher: a server's certificate and key from files that may be replaced at any time. They are read again
// every 10 seconds. File notifications would miss the replacements of mounted Secrets, which are changes of symbolic
// links.
#ifndef KGEN_SRC_CONTROLLER_SERVE_CERTIFICATE_WATCHER_H_
#define KGEN_SRC_CONTROLLER_SERVE_CERTIFICATE_WATCHER_H_

#include <functional>
#include <optional>
#include <string>

#include "core/execution/post_timer.h"
#include "core/memory/mutex.h"
#include "kgen/controller/endpoint.h"
#include "kgen/controller/metrics.h"
#include "kgen/core/clock.h"
#include "kgen/core/executor.h"
#include "net/tls.h"

namespace kgen::controller {

// Thread safety: all members from any thread. None blocks, except Open().
class CertificateWatcher final : public SharedObject {
 public:
  using Report = std::function<void(const Error&)>;

  // Reads the files. Counts the reads in `metrics`, if given.
  // Errors: kConfig  a file cannot be read or used
  static Result<Shared<CertificateWatcher>> Open(TlsFiles files, Shared<Executor> executor,
                                                 const std::optional<Metrics>& metrics);
  // The latest pair that could be used.
  Shared<net::TlsContext> Current();
  // Begins to watch. `report` gets every failed read.
  void Start(Report report);
  void Stop();

  CertificateWatcher(TlsFiles files, Shared<Executor> executor)
      : files_(std::move(files)),
        executor_(std::move(executor)),
        timer_(executor_, executor_->MakeStrand("the endpoint's certificate")) {}

 private:
  Result<void> Count(Metrics metrics);
  Result<void> Read();
  Result<void> Load();
  void Arm() noexcept;
  void OnTimer();
  void Poll();

  const TlsFiles files_;
  const Shared<Executor> executor_;
  Metrics::Counter reads_, errors_;
  Report report_;  // set before the first timer
  Mutex mutex_;
  Shared<net::TlsContext> current_ KGEN_GUARDED_BY(mutex_);
  std::string certificate_ KGEN_GUARDED_BY(mutex_);  // the text of it
  kgen::detail::PostTimer timer_ KGEN_GUARDED_BY(mutex_);
  bool stopped_ KGEN_GUARDED_BY(mutex_) = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_SERVE_CERTIFICATE_WATCHER_H_
