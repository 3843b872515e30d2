// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// rest::TlsConfig: the certificates of a client, and how it checks the server's.
#ifndef KGEN_NET_TLS_CONFIG_H_
#define KGEN_NET_TLS_CONFIG_H_

#include <string>

namespace kgen::rest {

// The certificates and keys of a connection, as PEM. Data takes precedence over the file of the same name. Files may be
// replaced while a connection lives: they are read by Connection::Open(), before every TCP connection, with a request
// when the last read was a minute ago, and after a 401. Once their content has changed, new requests use a new TCP
// connection, running requests end on the old one, and watches end as if the server had ended them. A file that cannot
// be read or used leaves the previous content in use.
struct TlsConfig {
  // PEM of the authorities that may sign the certificate of the server.
  std::string ca_data{};
  std::string ca_file{};  // neither: the system's roots
  std::string certificate_data{};
  std::string certificate_file{};
  std::string key_data{};
  std::string key_file{};
  // The name for SNI and for the check of the certificate, if it is not the host. Names are compared as by kubectl: a
  // certificate for "*.example.com" covers each name with one more label, and a dot at the end of the name does not
  // matter.
  std::string server_name{};
  bool insecure_skip_verify = false;
};

}  // namespace kgen::rest

#endif  // KGEN_NET_TLS_CONFIG_H_
