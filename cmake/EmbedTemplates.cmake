# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#
# cmake -DTEMPLATES=a.mustache|b.mustache -DOUT=embedded.cc -P EmbedTemplates.cmake
#
# Writes kgen::generator::emit::EmbeddedTemplates(), with the text of each file under its name without ".mustache".
string(REPLACE "|" ";" files "${TEMPLATES}")
list(SORT files)
set(rows "")
foreach(file IN LISTS files)
  cmake_path(GET file STEM LAST_ONLY name)
  file(READ "${file}" text)
  # A raw string, so that the text needs no escaping.
  string(FIND "${text}" ")kgen\"" found)
  if(NOT found EQUAL -1)
    message(FATAL_ERROR "${file}: holds the end of a raw string")
  endif()
  string(APPEND rows "    {\"${name}\", R\"kgen(${text})kgen\"},\n")
endforeach()
set(source "// Made from templates/ by cmake/EmbedTemplates.cmake.
#include \"generator/emit/render/mustache.h\"

namespace kgen::generator::emit {
namespace {

constexpr EmbeddedTemplate kTemplates[] = {
${rows}};

}  // namespace

std::span<const EmbeddedTemplate> EmbeddedTemplates() { return kTemplates; }

}  // namespace kgen::generator::emit
")
file(WRITE "${OUT}" "${source}")
