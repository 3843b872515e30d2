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
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "generator/parse/conversion_patch.h"
#include "kgen/codec/yaml.h"

namespace kgen::generator::parse {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kEndings = {".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz"};

bool HasKnownEnding(std::string_view name) {
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

constexpr std::array<std::string_view, 3> kKustomizations = {"kustomization.yaml", "kustomization.yml",
                                                             "Kustomization"};

bool IsKustomization(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::regular &&
         std::find(kKustomizations.begin(), kKustomizations.end(), path.filename().native()) != kKustomizations.end();
}

// Returns whether kustomize would download a resource that is no path here.
bool IsUrl(std::string_view resource) {
  for (const char* part : {"//", "?ref=", "?version=", ".git/"}) {
    if (resource.find(part) != std::string_view::npos) return true;
  }
  return resource.ends_with(".git") || resource.starts_with("git@") || resource.starts_with("git::") ||
         resource.starts_with("github.com/");
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
    } else if (IsKustomization(path)) {
      const fs::path folder = fs::path(path).parent_path();
      LoadFolder(folder.empty() ? "." : folder.native());
    } else {
      LoadFile(path, /*found=*/false);
    }
  }

  std::vector<Source> Take() { return std::move(sources_); }

 private:
  void Fail(const std::string& name, std::string_view id, std::string message, std::string hint = {}) {
    diagnostics_.Error(id, Origin{diagnostics_.AddFile(name), 0, 0, 0}, std::move(message), {}, std::move(hint));
  }

  void LoadFolder(const std::string& folder) {
    std::vector<std::string> files;
    const std::size_t errors = diagnostics_.error_count();
    const std::size_t links = links_;
    if (!Walk(folder, files) || diagnostics_.error_count() != errors) return;
    if (files.empty()) {
      if (links_ != links) {
        Fail(folder, "input-empty", "the folder contains only links, which kgen does not follow",
             "pass the files or folders that they lead to");
      } else {
        Fail(folder, "input-empty", "the folder contains no file with a known extension",
             "known extensions: .yaml .yml .json, each also with .gz");
      }
      return;
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) LoadFile(file, /*found=*/true);
  }

  // Adds the files of a folder and of those below it, or what its kustomization names. Returns false after an error.
  bool Walk(const std::string& folder, std::vector<std::string>& files) {
    std::error_code error;
    const fs::path canonical = fs::canonical(folder, error);
    if (!error && !walked_.insert(canonical.native()).second) return true;  // kustomizations may name each other
    for (const std::string_view name : kKustomizations) {
      const fs::path path = fs::path(folder) / name;
      if (IsKustomization(path)) return Follow(path, files);
    }
    error.clear();
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->is_symlink(error)) {
        NoteLink(it->path());
        continue;
      }
      if (it->is_directory(error)) {
        if (!Walk(it->path().native(), files)) return false;
      } else if (it->is_regular_file(error) && HasKnownEnding(it->path().filename().native())) {
        files.push_back(it->path().native());
      }
    }
    if (error) Fail(folder, "input-unreadable", "the folder cannot be read: " + error.message());
    return !error;
  }

  // Links are not followed: they may lead out of the folder, or back into it. One that leads to a file of the folder
  // adds nothing, since that file is read anyway.
  void NoteLink(const fs::path& link) {
    std::error_code error;
    const fs::file_status target = fs::status(link, error);
    if (!fs::is_directory(target) && !HasKnownEnding(link.filename().native())) return;
    ++links_;
    const bool exists = fs::exists(target);
    diagnostics_.Note("skipped", Origin{diagnostics_.AddFile(link.native()), 0, 0, 0},
                      std::string("skipped: this is a link, and ") +
                          (exists ? "kgen follows no links in a folder; pass the link itself if its target is an input"
                                  : "its target does not exist or is the link itself"));
  }

  // Adds a kustomization and the files that it names. What is wrong inside of it is shown when it is parsed.
  bool Follow(const fs::path& path, std::vector<std::string>& files) {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    const auto stream = yaml::Parse(text.str());
    if (!stream) {
      const std::uint32_t file = diagnostics_.AddFile(path.native());
      diagnostics_.Error("syntax", Origin{file, stream.error().mark.line, stream.error().mark.column, 0},
                         stream.error().message, {}, stream.error().hint);
      return false;
    }
    files.push_back(path.native());  // an input of the run, though no CRD
    const std::uint32_t file = diagnostics_.AddFile(path.native());
    for (const yaml::Node& document : stream->documents()) {
      for (const char* key : {"resources", "bases", "components", "crds"}) {
        const yaml::Node* list = document.Find(key);
        if (list == nullptr) continue;
        for (const yaml::Node& item : list->items()) {
          const Origin origin{file, item.mark().line, item.mark().column, 0};
          if (item.is_string() && !Add(path.parent_path(), item.text(), origin, files)) return false;
        }
      }
      NoteOthers(document, file);
      for (std::string& name : ConvertedByPatches(document, path.parent_path()))
        converted_[path.native()].push_back(std::move(name));
    }
    return true;
  }

  bool Add(const fs::path& folder, std::string_view resource, Origin origin, std::vector<std::string>& files) {
    std::error_code error;
    const fs::path path = (folder / resource).lexically_normal();
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::is_directory(status)) return Walk(path.native(), files);
    if (fs::is_regular_file(status)) {
      if (HasKnownEnding(path.filename().native())) files.push_back(path.native());
      return true;
    }
    if (IsUrl(resource)) {
      diagnostics_.Info("skipped", origin, "skipped " + Quote(resource, 200) + ": kgen does not use the network");
      return true;
    }
    const char* what = fs::is_symlink(status) ? "a link; kgen follows no links in a folder" : "no file or folder";
    diagnostics_.Error("input-missing", origin,
                       "the kustomization names " + Quote(resource, 200) + ", which is " + what, {},
                       "correct the path, or pass the files themselves in place of the folder");
    return false;
  }

  // What may change the CRDs of a kustomization, or make more of them.
  void NoteOthers(const yaml::Node& document, std::uint32_t file) {
    for (const char* key : {"patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "transformers",
                            "generators", "helmCharts"}) {
      const yaml::Entry* entry = document.FindEntry(key);
      if (entry == nullptr || entry->value.items().empty()) continue;
      diagnostics_.Note("skipped", Origin{file, entry->mark.line, entry->mark.column, 0},
                        "skipped: " + Quote(key) +
                            " of this kustomization; pipe the output of `kustomize build` into "
                            "kgen if they change or make CRDs");
    }
  }

  void LoadFile(const std::string& path, bool found) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (!error && !seen_.insert(canonical.native()).second) return;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      Fail(path, "input-unreadable", std::string("the file cannot be read: ") + std::strerror(errno));
      return;
    }
    ReadAll(in, path, found);
  }

  void LoadStandardInput() {
    if (!seen_.insert("-").second) return;
    ReadAll(options_.standard_input != nullptr ? *options_.standard_input : std::cin, "<stdin>", /*found=*/false);
  }

  void ReadAll(std::istream& in, const std::string& name, bool found) {
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
      if (found) return;
      Fail(name, "input-empty", "the file is empty");
    } else if (bytes.find('\0') != std::string::npos && !LooksLikeUtf16(bytes)) {
      Fail(name, "input-binary", "this is a binary file, neither YAML nor JSON");
    } else {
      sources_.push_back(Source{name, std::move(bytes), diagnostics_.AddFile(name), found, converted_[name]});
    }
  }

  Diagnostics& diagnostics_;
  const SourceOptions& options_;
  std::vector<Source> sources_;
  std::set<std::string> seen_;                                 // files
  std::set<std::string> walked_;                               // folders
  std::map<std::string, std::vector<std::string>> converted_;  // by kustomization: names of CRDs
  std::size_t links_ = 0;                                      // in folders, which were not followed
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
