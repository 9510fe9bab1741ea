// SPDX-License-Identifier: Apache-2.0
// Pages of a key/value cache: which page of a pool holds which positions of which sequence.  It owns no tensor and moves no data:
// it says where a row is, and which rows the caller must copy.  Position p of a sequence is slot p % page_size of page
// table[p / page_size].  Pages of a common prefix are shared and counted; before a shared page is written to, its rows are copied
// to a page of the sequence's own (Kwon et al. 2023, arXiv 2309.06180, section 4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay {

// Too few pages are free for what was asked; nothing has changed.
struct PagesExhausted : std::runtime_error {
  PagesExhausted(std::int64_t n, std::int64_t f)
      : std::runtime_error("the page pool is exhausted: " + std::to_string(n) + " pages are needed, " + std::to_string(f) +
                           " free"),
        needed(n),
        free(f) {}
  std::int64_t needed, free;
};

// Every member that throws leaves the cache as it was.
class PagedKvCache {
 public:
  using Sequence = std::int64_t;  // never used twice

  // The first `rows` slots of page `from`, of K and of V, are to be copied to page `to` before anything is written there.
  struct PageCopy {
    std::int32_t from, to;
    std::int64_t rows;
  };

  // Throws std::invalid_argument unless 0 <= pages < 2^31 and 1 <= page_size < 2^31.
  explicit PagedKvCache(std::int64_t pages, std::int64_t page_size = 256) : page_size_(page_size) {
    if (pages < 0 || pages > kMost || page_size < 1 || page_size > kMost)
      throw std::invalid_argument("no cache has " + std::to_string(pages) + " pages of " + std::to_string(page_size));
    references_.resize(static_cast<std::size_t>(pages));
    free_.resize(static_cast<std::size_t>(pages));
    std::iota(free_.rbegin(), free_.rend(), std::int32_t{0});  // page 0 goes first
  }

  std::int64_t page_size() const { return page_size_; }
  std::int64_t pages() const { return std::ssize(references_); }
  std::int64_t free_pages() const { return std::ssize(free_); }
  // How many sequences have the page in their table.
  std::int64_t references(std::int32_t page) const { return references_.at(static_cast<std::size_t>(page)); }

  // The members that take a sequence throw std::out_of_range where there is none of that number.
  std::int64_t length(Sequence s) const { return at(s).length; }
  std::span<const std::int32_t> table(Sequence s) const { return at(s).table; }
  // The row of the pool, [pages * page_size], that holds a position.
  std::int64_t row(Sequence s, std::int64_t position) const {
    const Entry& e = at(s);
    if (position < 0 || position >= e.length) throw std::out_of_range("no position " + std::to_string(position));
    return e.table[static_cast<std::size_t>(position / page_size_)] * page_size_ + position % page_size_;
  }

  // A new sequence, empty.
  Sequence create() {
    of_.emplace(next_, Entry{});
    return next_++;
  }

  // A new sequence whose first `length` positions are those of `parent`; no page is taken.  Throws std::out_of_range where the
  // parent is shorter.
  Sequence fork(Sequence parent, std::int64_t length) {
    const Entry& e = at(parent);
    if (length < 0 || length > e.length) throw std::out_of_range("a fork at " + std::to_string(length));
    Entry child{length, {e.table.begin(), e.table.begin() + pages_of(length)}};
    const auto& [key, made] = *of_.emplace(next_, std::move(child)).first;
    for (const std::int32_t page : made.table) ++references_[static_cast<std::size_t>(page)];
    return next_++;
  }
  Sequence fork(Sequence parent) { return fork(parent, length(parent)); }

  // Makes room for `tokens` more positions: they belong to no other sequence.  Returns the copy to be made, if any.  Throws
  // PagesExhausted, and std::length_error beyond 2^31 - 1 positions.
  std::optional<PageCopy> append(Sequence s, std::int64_t tokens) {
    Entry& e = at(s);
    if (tokens < 0 || tokens > kMost - e.length) throw std::length_error(std::to_string(tokens) + " more positions");
    const std::int64_t held = pages_of(e.length), fresh = pages_of(e.length + tokens) - held, begun = e.length % page_size_;
    const bool shared = tokens > 0 && begun > 0 && references(e.table.back()) > 1;
    if (const std::int64_t needed = fresh + shared; needed > free_pages()) throw PagesExhausted(needed, free_pages());
    e.table.reserve(static_cast<std::size_t>(held + fresh));

    // From here on nothing throws.
    std::optional<PageCopy> copy;
    if (shared) {
      const std::int32_t from = e.table.back();
      --references_[static_cast<std::size_t>(from)];
      copy = PageCopy{from, e.table.back() = take(), begun};
    }
    for (std::int64_t i = 0; i < fresh; ++i) e.table.push_back(take());
    e.length += tokens;
    return copy;
  }

  // Ends a sequence.  Pages that no other has are free again.
  void release(Sequence s) {
    Entry& e = at(s);
    for (auto page = e.table.rbegin(); page != e.table.rend(); ++page)
      if (--references_[static_cast<std::size_t>(*page)] == 0) free_.push_back(*page);  // within its first capacity
    of_.erase(s);
  }

  // What kv_append and paged_attention take for a batch: page_table [batch, max_pages] and lengths [batch].  Entries that no
  // position needs are -1.  Throws std::length_error where a table has no room.
  void write_tables(std::span<const Sequence> batch, std::int64_t max_pages, std::span<std::int32_t> page_table,
                    std::span<std::int32_t> lengths) const {
    const std::size_t n = batch.size();
    bool fits = max_pages >= 0 && lengths.size() >= n && page_table.size() >= n * static_cast<std::size_t>(max_pages);
    for (const Sequence s : batch) fits = pages_of(length(s)) <= max_pages && fits;
    if (!fits) throw std::length_error("no room for " + std::to_string(n) + " tables of " + std::to_string(max_pages));
    std::fill(page_table.begin(), page_table.end(), -1);
    for (std::size_t b = 0; b < n; ++b) {
      const Entry& e = at(batch[b]);
      std::copy(e.table.begin(), e.table.end(), page_table.begin() + static_cast<std::ptrdiff_t>(b) * max_pages);
      lengths[b] = static_cast<std::int32_t>(e.length);
    }
  }

 private:
  static constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  struct Entry {
    std::int64_t length = 0;
    std::vector<std::int32_t> table;
  };

  std::int64_t pages_of(std::int64_t length) const { return (length + page_size_ - 1) / page_size_; }
  const Entry& at(Sequence s) const {
    if (const auto found = of_.find(s); found != of_.end()) return found->second;
    throw std::out_of_range("no sequence " + std::to_string(s));
  }
  Entry& at(Sequence s) { return const_cast<Entry&>(std::as_const(*this).at(s)); }
  std::int32_t take() {
    const std::int32_t page = free_.back();
    free_.pop_back();
    references_[static_cast<std::size_t>(page)] = 1;
    return page;
  }

  std::int64_t page_size_;
  Sequence next_ = 0;
  std::unordered_map<Sequence, Entry> of_;
  std::vector<std::int32_t> references_;  // of each page
  std::vector<std::int32_t> free_;        // taken from the end
};

}  // namespace assay
