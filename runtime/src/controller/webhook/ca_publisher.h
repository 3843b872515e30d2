// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// CaPublisher: reads what webhook configurations and CRDs trust, and writes the caBundle into them.
//
//   Read() --publications()--> NextStep(); Write(), Install() --patch, if unchanged since Read()--> API server
#ifndef KGEN_SRC_CONTROLLER_WEBHOOK_CA_PUBLISHER_H_
#define KGEN_SRC_CONTROLLER_WEBHOOK_CA_PUBLISHER_H_

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "controller/webhook/certificate_plan.h"
#include "controller/webhook/webhook_manifests.h"
#include "kgen/client/connection.h"
#include "kgen/core/result.h"

namespace kgen::controller {

struct CaPublisherOptions {
  std::vector<std::string> configurations{}, crds{};
  std::vector<WebhookManifest> install{};
  WebhookSurroundings around{};
  std::string field_manager{};
};

// Thread safety: one thread at a time. All members with a stop token block while they call the server.
class CaPublisher {
 public:
  CaPublisher(Connection connection, CaPublisherOptions options);

  // Reads every configuration and CRD; what has not changed since the last call is not transferred again.
  // Errors: the first of the server's. Then publications() must not be used.
  Result<void> Read(const std::stop_token& stop);
  // What those that exist publish.
  Publications publications() const;
  // What does not exist, and what else is wrong with what was read: for people.
  std::vector<std::string> problems() const;

  // Writes the bundle into what has another one. True: something was written, so read again.
  // Errors: the first of the server's; kConflict if one was changed since Read(). The others are written all the same.
  Result<bool> Write(const std::string& bundle, const std::stop_token& stop);
  // Applies the manifests with the bundle. True: something was made, so read and call it again, until installed().
  // Errors: as Write()
  Result<bool> Install(const std::string& bundle, const std::stop_token& stop);
  bool installed() const noexcept { return installed_; }

 private:
  // A member `clientConfig` that gets the bundle.
  struct Place {
    std::string pointer{};  // RFC 6901
    std::string bundle{};   // PEM
    std::vector<std::string> certificates{};
  };
  struct Target {
    std::string collection{};  // "/apis/.../mutatingwebhookconfigurations"
    std::string kind{};        // for messages
    std::string name{};
    std::string resource_version{};  // "": it does not exist, or is not known
    bool exists = false;
    bool installs = false;  // has a manifest
    std::vector<Place> places{};
    std::string problem{};
  };

  Target& Add(const std::string& kind, const std::string& name);
  Result<void> Read(Target& target, const std::stop_token& stop);
  void Learn(Target& target, const nlohmann::json& object) const;
  Result<bool> Write(Target& target, const std::string& bundle, const std::stop_token& stop);
  Result<bool> Install(const WebhookManifest& manifest, const std::string& bundle, const std::stop_token& stop);
  Result<ApiResponse> Send(ApiRequest request, const Target& target, std::string_view doing,
                           const std::stop_token& stop) const;

  const Connection connection_;
  const CaPublisherOptions options_;
  std::vector<Target> targets_;
  bool installed_ = false;
};

}  // namespace kgen::controller

#endif  // KGEN_SRC_CONTROLLER_WEBHOOK_CA_PUBLISHER_H_
