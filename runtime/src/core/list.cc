// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "kgen/core/list.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "core/blocks.h"

namespace kgen::detail {

ListBlock* NewList(std::size_t capacity, const ValueType& type) {
  if (capacity > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("kgen::List: over 2^32 - 1 elements");
  void* memory = Allocate(sizeof(ListBlock) + capacity * type.size);
  return ::new (memory) ListBlock{{{1}, 0}, static_cast<std::uint32_t>(capacity), 0};
}

ListBlock* CopyList(const ListBlock* list, const ValueType& type) {
  if (list == nullptr) return nullptr;
  ListBlock* copy = NewList(list->word, type);
  copy->hidden = list->hidden;
  try {
    for (; copy->word < list->word; ++copy->word) {
      CopyValue(ElementAt(copy, copy->word, type), ElementAt(list, copy->word, type), type);
    }
  } catch (...) {
    ReleaseList(copy, type);
    throw;
  }
  return copy;
}

ListBlock* ReserveList(ListBlock* list, std::size_t capacity, const ValueType& type) {
  if (list == nullptr) return capacity == 0 ? nullptr : NewList(capacity, type);
  if (list->capacity >= capacity) return list;
  ListBlock* bigger = NewList(capacity, type);
  Relocate(bigger->elements(), list->elements(), list->word, type);
  bigger->word = list->word;
  bigger->hidden = list->hidden;
  Free(list);
  return bigger;
}

ListBlock* ShrinkList(ListBlock* list, const ValueType& type) {
  if (list == nullptr || list->word == list->capacity) return list;
  ListBlock* exact = NewListFrom(list->elements(), list->word, type);
  Free(list);
  return exact;
}

ListBlock* NewListFrom(void* elements, std::size_t count, const ValueType& type) {
  ListBlock* list = NewList(count, type);
  Relocate(list->elements(), elements, count, type);
  list->word = static_cast<std::uint32_t>(count);
  return list;
}

void ThrowOutOfRange(std::size_t index, std::size_t size) {
  throw std::out_of_range("kgen::List: index " + std::to_string(index) + " in a list of " + std::to_string(size));
}

}  // namespace kgen::detail
