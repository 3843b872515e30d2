// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// The templates of templates/, compiled into the program, and their engine. Only mustache.cc knows the library
// (llvm::mustache).
//
// The engine reports no errors: unknown names are empty, and an unclosed section swallows the rest. A test
// finds both in the templates.
#ifndef KGEN_GENERATOR_EMIT_RENDER_MUSTACHE_H_
#define KGEN_GENERATOR_EMIT_RENDER_MUSTACHE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generator/emit/render/view_value.h"

namespace kgen::generator::emit {

struct EmbeddedTemplate {
  std::string_view name;  // "types.h"
  std::string_view text;
};

// All of templates/*.mustache, by name. Defined by the build.
std::span<const EmbeddedTemplate> EmbeddedTemplates();

// Fills templates. Any template may use any other as a partial. Not thread-safe.
class TemplateEngine {
 public:
  TemplateEngine();
  ~TemplateEngine();
  TemplateEngine(const TemplateEngine&) = delete;
  TemplateEngine& operator=(const TemplateEngine&) = delete;

  // `name` must be one of EmbeddedTemplates(). No line of the result ends in white space.
  std::string Render(std::string_view name, const ViewMap& view);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kgen::generator::emit

#endif  // KGEN_GENERATOR_EMIT_RENDER_MUSTACHE_H_
