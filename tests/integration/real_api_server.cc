// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "tests/integration/real_api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace kgen::integration {
namespace {

[[noreturn]] void Fail(std::string_view what) {
  std::cerr << "real API server: " << what << "\n";
  std::abort();
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) Fail(std::string(name) + " is not set; run ./dev integration");
  return value;
}

// The port of http://127.0.0.1:PORT.
std::uint16_t ControlPort() {
  const std::string address = Environment("KGEN_TEST_APISERVER");
  return static_cast<std::uint16_t>(std::strtoul(address.c_str() + address.rfind(':') + 1, nullptr, 10));
}

// One HTTP/1.0 request on a connection of its own: the other end closes it after the answer.
std::string Exchange(const std::string& request) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  if (connection < 0) Fail("no socket");
  const timeval patience{.tv_sec = 180, .tv_usec = 0};  // a start may take a minute and a half
  ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(ControlPort());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    Fail("the control endpoint refuses the connection");
  }
  for (std::size_t sent = 0; sent < request.size();) {
    const ssize_t count = ::write(connection, request.data() + sent, request.size() - sent);
    if (count <= 0) Fail("the control endpoint closed the connection");
    sent += static_cast<std::size_t>(count);
  }
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = ::read(connection, buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(connection);
  return answer;
}

void Post(const std::string& path) {
  const std::string answer = Exchange("POST " + path + " HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
  if (answer.find(" 200 ") != std::string::npos) return;
  Fail(path + ": " + answer);
}

}  // namespace

bool RealApiServer::Present() { return std::getenv("KGEN_TEST_APISERVER") != nullptr; }
std::string RealApiServer::Kubeconfig() { return Environment("KGEN_TEST_KUBECONFIG"); }
void RealApiServer::Kill() { Post("/kill"); }
void RealApiServer::Start() { Post("/start"); }
void RealApiServer::Restart(bool compact) { Post(compact ? "/restart?compact=true" : "/restart"); }
void RealApiServer::RestartWithWatchCache(bool enabled) {
  Post(enabled ? "/restart?watch-cache=true" : "/restart?watch-cache=false");
}
void RealApiServer::RestartWithFlags(std::string_view flags) {
  std::string path = "/restart?flags=";
  for (const char c : flags) path += c == ' ' ? '+' : c;
  Post(path);
}
void RealApiServer::Compact() { Post("/compact"); }
void RealApiServer::Save() { Post("/save"); }
void RealApiServer::Restore() { Post("/restore"); }

std::string RealApiServer::Kubectl(std::string_view arguments) {
  const std::string command = Environment("KGEN_TEST_KUBECTL") + " " + std::string(arguments) + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) Fail("no shell for kubectl");
  std::string output;
  char buffer[4096];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, count);
  ::pclose(pipe);
  return output;
}

}  // namespace kgen::integration
