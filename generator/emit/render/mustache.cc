// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "generator/emit/render/mustache.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Support/Allocator.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Mustache.h>
#include <llvm/Support/StringSaver.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <stdexcept>

namespace kgen::generator::emit {
namespace {

namespace json = llvm::json;

json::Value ToJson(const ViewValue& view) {
  struct Visitor {
    json::Value operator()(bool truth) const { return truth; }
    json::Value operator()(const std::string& text) const { return llvm::StringRef(text); }
    json::Value operator()(const ViewList& list) const {
      json::Array array;
      array.reserve(list.size());
      for (const ViewValue& element : list) array.push_back(ToJson(element));
      return array;
    }
    json::Value operator()(const ViewMap& map) const {
      json::Object object;
      for (const auto& [name, value] : map) object[llvm::StringRef(name)] = ToJson(value);
      return object;
    }
  };
  return std::visit(Visitor(), view.value);
}

std::string TrimLineEnds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '\n') {
      while (!out.empty() && out.back() == ' ') out.pop_back();
    }
    out += c;
  }
  return out;
}

}  // namespace

// The engine keeps references into allocator and context, which live as long as the templates.
struct TemplateEngine::Impl {
  struct Loaded {
    Loaded(std::string_view text) : saver(allocator), context(allocator, saver), body(llvm::StringRef(text), context) {
      for (const EmbeddedTemplate& partial : EmbeddedTemplates()) {
        body.registerPartial(std::string(partial.name), std::string(partial.text));
      }
      body.overrideEscapeCharacters(llvm::DenseMap<char, std::string>());
    }
    llvm::BumpPtrAllocator allocator;
    llvm::StringSaver saver;
    llvm::mustache::MustacheContext context;
    llvm::mustache::Template body;
  };
  std::map<std::string, std::unique_ptr<Loaded>, std::less<>> loaded;
};

TemplateEngine::TemplateEngine() : impl_(std::make_unique<Impl>()) {}
TemplateEngine::~TemplateEngine() = default;

std::string TemplateEngine::Render(std::string_view name, const ViewMap& view) {
  auto found = impl_->loaded.find(name);
  if (found == impl_->loaded.end()) {
    for (const EmbeddedTemplate& embedded : EmbeddedTemplates()) {
      if (embedded.name != name) continue;
      found = impl_->loaded.emplace(name, std::make_unique<Impl::Loaded>(embedded.text)).first;
    }
    if (found == impl_->loaded.end()) throw std::logic_error("no template " + std::string(name));
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  found->second->body.render(ToJson(view), stream);
  stream.flush();
  return TrimLineEnds(text);
}

}  // namespace kgen::generator::emit
