// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "core/secrets.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <utility>

#include "core/memory/fork.h"
#include "core/memory/mutex.h"

namespace kgen::detail {
namespace {

struct Secrets {
  Mutex mutex;
  std::map<std::string, std::size_t, std::less<>> counts KGEN_GUARDED_BY(mutex);
  std::atomic<std::size_t> size{0};  // of `counts`, so that nobody takes the lock while there are none

  static Secrets& Get() {
    static Secrets& secrets = *new Secrets();  // outlives connections in static variables
    return secrets;
  }
};

}  // namespace

Secret::Secret(std::string text) : text_(std::move(text)) {
  if (text_.empty()) return;
  Secrets& secrets = Secrets::Get();
  const MutexLock lock(secrets.mutex);
  ++secrets.counts[text_];
  secrets.size = secrets.counts.size();
}

Secret::~Secret() {
  if (text_.empty()) return;
  Secrets& secrets = Secrets::Get();
  const MutexLock lock(secrets.mutex);
  const auto found = secrets.counts.find(text_);
  if (--found->second == 0) secrets.counts.erase(found);
  secrets.size = secrets.counts.size();
}

void HideSecrets(std::string& in) {
  Secrets& secrets = Secrets::Get();
  if (secrets.size == 0) return;
  // The fork may have come in the middle of a change of the map. No server has answered since.
  if (ForkedChild()) return;
  const MutexLock lock(secrets.mutex);
  for (const auto& [secret, count] : secrets.counts) HideSecret(secret, in);
}

void HideSecret(std::string_view secret, std::string& in) {
  constexpr std::size_t kShortest = 4;  // "1", "yes": not secret
  constexpr std::size_t kBeginning = 16;
  constexpr std::string_view kHidden = "(hidden)";
  if (secret.size() < kShortest) return;
  const std::string_view beginning = secret.substr(0, kBeginning);
  for (std::size_t at = 0; (at = in.find(beginning, at)) != std::string::npos; at += kHidden.size()) {
    const auto text = in.begin() + static_cast<std::ptrdiff_t>(at);
    const auto rest = std::mismatch(text, in.end(), secret.begin(), secret.end()).second;
    in.replace(at, static_cast<std::size_t>(rest - secret.begin()), kHidden);
  }
}

}  // namespace kgen::detail
