// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
#include "codec/list_decoder.h"

#include <utility>

#include "core/blocks.h"

namespace kgen::codec {
namespace {

// Names a refused item, such as "items[3] (default/web-0)", as far as its name can be read.
std::string NameOf(std::string_view item, std::size_t index) {
  const Identity identity = PeekIdentity(item);
  std::string name = "items[" + std::to_string(index) + ']';
  if (identity.name.empty()) return name;
  return name + " (" + (identity.namespace_.empty() ? "" : identity.namespace_ + '/') + identity.name + ')';
}

}  // namespace

ListDecoder::ListDecoder(const TypeTable& table, const DecodeOptions& options)
    : table_(table),
      field_(*table.Find("items")),
      options_(options),
      splitter_([this](std::string_view item) { return OnItem(item); }, options.max_bytes) {}

ListDecoder::~ListDecoder() {
  if (items_ != nullptr) detail::ReleaseList(items_, *field_.element());
}

Result<void> ListDecoder::OnItem(std::string_view item) {
  const ValueType& type = *field_.element();
  void* element = detail::AppendElement(items_, type);
  auto done = Interpreter(item, options_, nullptr, scratch_).Run(element, *type.table);
  if (!done) return Fail(done.error().With(NameOf(item, items_->word - 1)));
  return {};
}

Result<AnyRef> ListDecoder::Finish() {
  if (Result<meta::v1::ListMeta> metadata = splitter_.Finish(); !metadata) return Fail(std::move(metadata).error());
  detail::ObjectBlock* block = detail::NewObjectBlock(table_);
  detail::ConstructEmpty(block->object(), table_);
  AnyRef list = AnyRef::Adopt(block);
  if (auto done = Interpreter(envelope(), options_, nullptr, scratch_).Run(block->object(), table_); !done) {
    return Fail(std::move(done).error());
  }
  const ValueType& type = *field_.element();
  detail::ListBlock*& items = detail::ListOf(detail::MemberOf(block->object(), field_));
  if (items_ != nullptr) {
    items_ = detail::ShrinkList(items_, type);
    items = std::exchange(items_, nullptr);
  } else if (items == nullptr && !envelope().contains("\"items\":")) {
    items = detail::NewList(0, type);  // `[]` is present
  }
  return list;
}

}  // namespace kgen::codec
