// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Pages<L>: a large list, page by page, as a range for range-for.
#ifndef KGEN_CLIENT_PAGES_H_
#define KGEN_CLIENT_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kgen/client/options.h"
#include "kgen/client/raw_resource.h"
#include "kgen/core/ref.h"
#include "kgen/core/result.h"

namespace kgen {

struct UnstructuredList;

namespace detail {

// Detects that the continue tokens of a list repeat, so that following them would never end. Remembers one token
// (Brent's algorithm): finds the same token twice in a row at once, and a cycle of n tokens after at most 3 n pages.
class TokenCycle {
 public:
  // Errors: kDecode  the tokens repeat
  Result<void> Follow(std::string_view token);

 private:
  std::string remembered_;
  std::uint64_t steps_ = 0, limit_ = 1;  // since remembered_ was chosen, and how many until the next choice
};

// The type-erased state of the paging: which page comes next, and whether a continue token has expired.
class PageCursor {
 public:
  static constexpr std::int64_t kDefaultLimit = 500;
  PageCursor(RawResource resource, ListOptions options);
  // Returns the next page, a list of that table and of the resource's kind. After the first page, resourceVersion and
  // its match are not sent; if the token of a later page has expired, one full list follows, once. Errors: the call's;
  // kDecode if the response is not a list, or if the tokens repeat.
  Result<AnyRef> Fetch(const TypeTable& table);
  void Advance(std::string_view continue_token);  // from the page's metadata
  bool done() const noexcept { return done_; }

 private:
  Result<AnyRef> FetchPage(const TypeTable& table);

  RawResource resource_;
  ListOptions options_;
  TokenCycle tokens_;
  std::optional<Error> repeats_{};  // what the next page fails with
  std::string original_version_;
  std::string original_match_;
  bool first_ = true;
  bool full_ = false;  // the one full list after an expired token was requested
  bool done_ = false;
};

// Moves the value out of a list to which there is no other reference.
template <typename L>
Result<L> TakeList(Result<AnyRef> list) {
  if (!list) return Fail(std::move(list).error());
  return std::move(*const_cast<L*>(static_cast<const L*>(list->object())));
}

}  // namespace detail

// The pages of a list as a single-pass input range of Result<L>. An error is the last element. begin() and ++ block.
//
// When a continue token expires, a full list follows, which contains the items of earlier pages again.
// Thread safety: one thread.
template <typename L>
class Pages {
 public:
  // ResourceClient::Pages() calls this. Sends nothing.
  Pages(RawResource resource, ListOptions options) : cursor_(std::move(resource), std::move(options)) {}

  // An input iterator, which requests a page when it is made and when it advances.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Result<L>;
    using difference_type = std::ptrdiff_t;
    using reference = const Result<L>&;
    using pointer = const Result<L>*;

    // begin() calls this.
    explicit Iterator(Pages* pages) : pages_(pages) { pages_->Load(); }
    reference operator*() const { return pages_->page_; }
    pointer operator->() const { return &pages_->page_; }
    Iterator& operator++() {
      pages_->Load();
      return *this;
    }
    void operator++(int) { ++*this; }
    // Says whether there are no more pages.
    bool AtEnd() const noexcept { return pages_->end_; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.AtEnd(); }

   private:
    Pages* pages_;
  };

  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  void Load() {
    if (cursor_.done()) {
      end_ = true;
      return;
    }
    page_ = detail::TakeList<L>(cursor_.Fetch(L::kTable));
    cursor_.Advance(page_ ? std::string_view(page_->metadata.continue_) : std::string_view());
  }

  detail::PageCursor cursor_;
  Result<L> page_{};
  bool end_ = false;
};

}  // namespace kgen

#endif  // KGEN_CLIENT_PAGES_H_
