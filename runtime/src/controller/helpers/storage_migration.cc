// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/controller/storage_migration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "client/request/pause.h"
#include "core/json/quote.h"
#include "core/json_path.h"
#include "kgen/client/dynamic_client.h"
#include "kgen/core/object_key.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/unstructured.h"

namespace kgen {
namespace {

constexpr int kMostRounds = 5;
constexpr int kMostExpired = 5;
constexpr int kMostAttempts = 6;  // of one update

// What a CRD says about its versions.
struct StorageState {
  Unstructured crd{};
  std::string storage{};  // the version
  std::string served{};   // the version in which objects are read and written
  std::string group{}, kind{}, plural{};
  Scope scope = Scope::kNamespaced;
  std::vector<std::string> stored{};
};

Result<StorageState> ReadState(Unstructured crd) {
  StorageState state;
  const auto text = [&](std::string_view path) {
    const Result<String> found = crd.GetString(path);
    return found ? std::string(std::string_view(*found)) : std::string();
  };
  state.group = text("spec.group");
  state.kind = text("spec.names.kind");
  state.plural = text("spec.names.plural");
  state.scope = text("spec.scope") == "Cluster" ? Scope::kCluster : Scope::kNamespaced;
  const Result<List<Json>> versions = crd.GetList("spec.versions");
  for (std::size_t i = 0; versions && i < versions->size(); ++i) {
    const std::string path = "spec.versions[" + std::to_string(i) + "].";
    const bool served = crd.GetBool(path + "served").value_or(false);
    const bool storage = crd.GetBool(path + "storage").value_or(false);
    if (storage) state.storage = text(path + "name");
    // Any served version will do: the server converts what it stores.
    if (served && (storage || state.served.empty())) state.served = text(path + "name");
  }
  if (const Result<List<Json>> stored = crd.GetList("status.storedVersions"); stored) {
    for (const Json& version : *stored) {
      state.stored.push_back(detail::StringOfJson(version.text()).value_or(""));
    }
  }
  if (state.storage.empty() || state.served.empty() || state.plural.empty()) {
    return Fail(Code::kInvalidArgument, "the CustomResourceDefinition has no storage version, or serves none");
  }
  state.crd = std::move(crd);
  return state;
}

class Migration {
 public:
  Migration(const Connection& connection, std::string_view crd, const MigrationOptions& options, std::stop_token stop)
      : connection_(connection.With(stop)),
        name_(crd),
        options_(options),
        stop_(std::move(stop)),
        dynamic_(connection_),
        crds_(dynamic_.ForResource({"apiextensions.k8s.io", "v1", "customresourcedefinitions"})) {}

  Result<MigrationReport> Run() {
    for (;;) {
      Result<StorageState> state = Read();
      if (!state) return Fail(std::move(state).error());
      if (report_.rounds == 0) report_.stored_versions = state->stored;
      report_.storage_version = state->storage;
      if (state->stored == std::vector{state->storage}) return report_;
      const std::string token = TokenFor(*state);
      if (token.empty() && settled_ != state->storage) {
        if (auto waited = Wait(options_.settle); !waited) return Fail(std::move(waited).error());
        settled_ = state->storage;
        continue;  // the CRD may have changed during the wait
      }
      ++report_.rounds;
      if (auto done = Pages(*state, token); !done) return Fail(std::move(done).error());
      Result<void> finished = Finish(*state);
      if (finished) return report_;
      if (finished.error().code() != Code::kConflict || report_.rounds == kMostRounds) {
        return Fail(std::move(finished).error());
      }
    }
  }

 private:
  Result<StorageState> Read() const {
    Result<Unstructured> crd = crds_.Get(name_);
    if (!crd) return Fail(std::move(crd).error());
    return ReadState(*std::move(crd));
  }

  Result<void> Wait(Nanos delay) const {
    if (delay <= Nanos::zero()) return {};
    return client::Pause(connection_.executor(), "the migration of " + name_, delay, stop_);
  }

  // The continue token of the call that is resumed; "" if there is none, or the CRD has changed since.
  std::string TokenFor(const StorageState& state) {
    const std::string resume = std::exchange(resume_, "");
    const std::size_t space = resume.find(' ');
    if (space == std::string::npos || resume.substr(0, space) != state.crd.metadata.resourceVersion) return "";
    return resume.substr(space + 1);
  }

  Result<void> Pages(const StorageState& state, std::string token) {
    const ResourceMapping mapping{.kind = {state.group, state.served, state.kind},
                                  .resource = {state.group, state.served, state.plural},
                                  .scope = state.scope};
    const DynamicResource objects = dynamic_.ForMapping(mapping);
    refused_ = 0;
    for (int expired = 0;;) {
      Result<UnstructuredList> page = objects.List({.limit = options_.page_size, .continue_ = token});
      if (!page && page.error().code() == Code::kExpired && !token.empty() && ++expired <= kMostExpired) {
        // The server may say how to go on without the state of the first page. What has been created since then is
        // stored in the new version already.
        const meta::v1::Status* status = page.error().status();
        token = status != nullptr ? std::string(std::string_view(status->metadata.continue_)) : std::string();
        continue;
      }
      if (!page) return Fail(std::move(page).error());
      for (const Unstructured& object : page->items) {
        if (auto done = Write(objects, object); !done) return done;
      }
      ++report_.pages;
      token = std::string(std::string_view(page->metadata.continue_));
      if (token.empty()) break;
      if (options_.progress) {
        const std::string version(std::string_view(state.crd.metadata.resourceVersion));
        options_.progress({report_.pages, report_.updated, report_.skipped, version + " " + token});
      }
    }
    if (refused_ == 0) return {};
    return Fail(Code::kInvalid, "the server refuses " + std::to_string(refused_) +
                                    " objects, so they stay stored as they are; change them, and migrate again. The "
                                    "first one: " +
                                    first_refused_);
  }

  // Writes an object as it was read.
  Result<void> Write(const DynamicResource& objects, const Unstructured& object) {
    const auto interval =
        std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(1 / options_.updates_per_second));
    Nanos pause = std::chrono::seconds(1);
    for (int attempt = 1;; ++attempt) {
      if (auto waited = Wait(next_ - connection_.clock().Now()); !waited) return waited;
      next_ = std::max(next_, connection_.clock().Now()) + interval;
      const Result<Unstructured> updated = objects.Update(object);
      if (updated) return ++report_.updated, Result<void>();
      switch (updated.error().code()) {
        case Code::kConflict:
        case Code::kNotFound:
          return ++report_.skipped, Result<void>();
        case Code::kInvalid:
          if (refused_++ == 0) first_refused_ = updated.error().ToString();
          return {};
        case Code::kUnavailable:
        case Code::kTimeout:
        case Code::kTooManyRequests:
        case Code::kServer:
          if (attempt == kMostAttempts) return Fail(updated.error());
          break;
        default:
          return Fail(updated.error());
      }
      if (auto waited = Wait(pause); !waited) return waited;
      pause *= 2;
    }
  }

  Result<void> Finish(StorageState& state) const {
    auto set = state.crd.Set("status.storedVersions", Json("[" + detail::QuoteJson(state.storage) + "]"));
    if (!set) return set;
    return Discard(crds_.UpdateStatus(state.crd));
  }

  const Connection connection_;
  const std::string name_;
  const MigrationOptions& options_;
  const std::stop_token stop_;
  const DynamicClient dynamic_;
  const DynamicResource crds_;
  MigrationReport report_{};
  std::string resume_ = options_.resume;
  std::string settled_{};  // the storage version that all servers know
  TimePoint next_{};       // when the next update may be sent
  std::size_t refused_ = 0;
  std::string first_refused_{};
};

}  // namespace

std::string MigrationReport::str() const {
  return "stored in " + storage_version + ": " + std::to_string(updated) + " objects written, " +
         std::to_string(skipped) + " written or deleted by others, " + std::to_string(rounds) +
         (rounds == 1 ? " round" : " rounds");
}

Result<MigrationReport> MigrateStorage(const Connection& connection, std::string_view crd,
                                       const MigrationOptions& options, std::stop_token stop) {
  if (!(options.updates_per_second > 0) || options.page_size <= 0 || options.settle < Nanos::zero()) {
    return Fail(Code::kInvalidArgument, "migrate " + std::string(crd) +
                                            ": updates_per_second and page_size must be positive, and settle must not "
                                            "be negative");
  }
  Result<MigrationReport> report = Migration(connection, crd, options, std::move(stop)).Run();
  if (!report) return Fail(report.error().With("migrate " + std::string(crd)));
  return report;
}

}  // namespace kgen
