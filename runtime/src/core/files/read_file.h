// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// ReadFile(): the content of a small file, such as a token or a certificate.
#ifndef KGEN_SRC_CORE_FILES_READ_FILE_H_
#define KGEN_SRC_CORE_FILES_READ_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "kgen/core/result.h"

namespace kgen::detail {

// Reads a whole regular file. Blocks. Errors: kConfig, with `what` and the path; also for a FIFO, a socket or a device,
// since reading those might never end.
Result<std::string> ReadFile(std::string_view what, const std::string& path, std::size_t max_bytes = 16u << 20);

}  // namespace kgen::detail

#endif  // KGEN_SRC_CORE_FILES_READ_FILE_H_
