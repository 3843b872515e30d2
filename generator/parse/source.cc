// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/parse/source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <system_error>

namespace kgen::generator::parse {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kEndings = {".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz"};

bool HasKnownEnding(std::string_view name) {
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

// UTF-16 has a message of its own in the parser.
bool LooksLikeUtf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF") || bytes[0] == '\0' ||
         bytes.substr(1, 1) == std::string_view("\0", 1);
}

class Loader {
 public:
  Loader(Diagnostics& diagnostics, const SourceOptions& options) : diagnostics_(diagnostics), options_(options) {}

  void Load(const std::string& path) {
    if (path == "-") {
      LoadStandardInput();
      return;
    }
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
      LoadFolder(path);
    } else if (status.type() == fs::file_type::not_found) {
      Fail(path, "input-missing", "no such file or folder");
    } else {
      LoadFile(path);
    }
  }

  std::vector<Source> Take() { return std::move(sources_); }

 private:
  void Fail(const std::string& name, std::string_view id, std::string message, std::string hint = {}) {
    diagnostics_.Error(id, Origin{diagnostics_.AddFile(name), 0, 0, 0}, std::move(message), {}, std::move(hint));
  }

  void LoadFolder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      // Links are not followed: they may lead out of the folder.
      if (it->is_symlink(error) || !it->is_regular_file(error)) continue;
      if (HasKnownEnding(it->path().filename().native())) files.push_back(it->path().native());
    }
    if (error) {
      Fail(folder, "input-unreadable", "the folder cannot be read: " + error.message());
      return;
    }
    if (files.empty()) {
      Fail(folder, "input-empty", "the folder contains no file with a known extension",
           "known extensions: .yaml .yml .json, each also with .gz");
      return;
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) LoadFile(file);
  }

  void LoadFile(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (!error && !seen_.insert(canonical.native()).second) return;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      Fail(path, "input-unreadable", std::string("the file cannot be read: ") + std::strerror(errno));
      return;
    }
    ReadAll(in, path);
  }

  void LoadStandardInput() {
    if (!seen_.insert("-").second) return;
    ReadAll(options_.standard_input != nullptr ? *options_.standard_input : std::cin, "<stdin>");
  }

  void ReadAll(std::istream& in, const std::string& name) {
    std::string bytes;
    std::array<char, 64 << 10> buffer;
    while (in.read(buffer.data(), buffer.size()), in.gcount() > 0) {
      bytes.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
      if (bytes.size() > options_.max_bytes) break;
    }
    if (in.bad()) {
      Fail(name, "input-unreadable", "it could not be read to the end");
      return;
    }
    if (IsGzip(bytes)) {
      std::string reason;
      std::optional<std::string> text = Gunzip(bytes, options_.max_bytes, reason);
      if (!text) {
        Fail(name, "input-gzip", reason);
        return;
      }
      bytes = std::move(*text);
    }
    if (bytes.size() > options_.max_bytes) {
      Fail(name, "input-too-large", "more than " + std::to_string(options_.max_bytes) + " bytes");
    } else if (bytes.find_first_not_of(" \t\r\n") == std::string::npos) {
      Fail(name, "input-empty", "the file is empty");
    } else if (bytes.find('\0') != std::string::npos && !LooksLikeUtf16(bytes)) {
      Fail(name, "input-binary", "this is a binary file, neither YAML nor JSON");
    } else {
      sources_.push_back(Source{name, std::move(bytes), diagnostics_.AddFile(name)});
    }
  }

  Diagnostics& diagnostics_;
  const SourceOptions& options_;
  std::vector<Source> sources_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<Source> LoadSources(const std::vector<std::string>& paths, Diagnostics& diagnostics,
                                const SourceOptions& options) {
  Loader loader(diagnostics, options);
  for (const std::string& path : paths) loader.Load(path);
  return loader.Take();
}

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B"); }

std::optional<std::string> Gunzip(std::string_view bytes, std::size_t max_bytes, std::string& error) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) {
    error = "out of memory";
    return std::nullopt;
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, 64 << 10> buffer;
  int status = Z_OK;
  while (status == Z_OK || (status == Z_STREAM_END && stream.avail_in != 0)) {
    if (status == Z_STREAM_END) inflateReset(&stream);  // another member follows
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
    if (out.size() > max_bytes) break;
  }
  inflateEnd(&stream);
  if (out.size() > max_bytes) {
    error = "more than " + std::to_string(max_bytes) + " bytes when uncompressed";
    return std::nullopt;
  }
  if (status != Z_STREAM_END) {
    error = status == Z_BUF_ERROR ? "the compressed file is cut off" : "the compressed file is damaged";
    return std::nullopt;
  }
  return out;
}

}  // namespace kgen::generator::parse
