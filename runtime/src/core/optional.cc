// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/optional.h"

#include "core/blocks.h"

namespace kgen::detail {

BoxBlock* NewBox(const TypeTable& table, bool accessed) {
  BoxBlock* box = ::new (Allocate(sizeof(BoxBlock) + table.size)) BoxBlock{{{1}, accessed ? 1u : 0u}};
  ConstructEmpty(box->object(), table);
  return box;
}

BoxBlock* CopyBox(const BoxBlock* box, const TypeTable& table) {
  if (!BoxHasValue(box, table)) return nullptr;
  void* memory = Allocate(sizeof(BoxBlock) + table.size);
  BoxBlock* copy = ::new (memory) BoxBlock{{{1}, box->word}};
  try {
    CopyStruct(copy->object(), box->object(), table);
  } catch (...) {
    Free(memory);
    throw;
  }
  return copy;
}

}  // namespace kgen::detail
