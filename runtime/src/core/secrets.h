// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Secrets: what connections send to authenticate. Servers, and what is in between, may send it back: as a part of a
// header that they refuse, in a page that shows the request, or as a value that cannot be decoded. So it is hidden
// where text leaves the library, whichever way it came:
//
//   Error(), Error::FromStatus()     every message and Status
//   ThrottledObserver                the other texts of events
//   an excerpt of a response         before it is cut, so that no part of a secret remains
#ifndef KGEN_SRC_CORE_SECRETS_H_
#define KGEN_SRC_CORE_SECRETS_H_

#include <string>
#include <string_view>

namespace kgen::detail {

// While it exists, HideSecrets() hides this text. Any thread.
class Secret {
 public:
  explicit Secret(std::string text);  // "" is no secret
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  const std::string& text() const noexcept { return text_; }

 private:
  const std::string text_;
};

// Replaces each occurrence of each secret of the process. Any thread.
void HideSecrets(std::string& in);

// Replaces each occurrence of one secret; of a longer one also its beginning, where a text was cut in the middle of it.
// Does nothing for a "secret" that is too short to be one.
void HideSecret(std::string_view secret, std::string& in);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_SECRETS_H_
