// SPDX-License-Identifier: Apache-2.0
// Page manager of a key/value cache: maps positions of sequences to pages of a pool; position p of a sequence is in slot
// p % page_size of page table[p / page_size].  It owns no tensor and moves no data; it tells the caller which rows to copy.
// Sequences share the pages of a common prefix, with reference counts and copy-on-write (Kwon et al. 2023, arXiv 2309.06180, 4).
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

// Thrown if too few pages are free; the cache is unchanged.
struct PagesExhausted : std::runtime_error {
  PagesExhausted(std::int64_t n, std::int64_t f)
      : std::runtime_error("the page pool is exhausted: " + std::to_string(n) + " pages are needed, " + std::to_string(f) +
                           " free"),
        needed(n),
        free(f) {}
  std::int64_t needed, free;
};

// A member that throws leaves the cache unchanged.
class PagedKvCache {
 public:
  using Sequence = std::int64_t;  // an id, never reused

  // A copy that the caller must make in K and in V before writing to page `to`: the first `rows` slots of page `from`.
  struct PageCopy {
    std::int32_t from, to;
    std::int64_t rows;
  };

  // Throws std::invalid_argument unless 0 <= pages < 2^31 and 1 <= page_size < 2^31.
  explicit PagedKvCache(std::int64_t pages, std::int64_t page_size = 256) : page_size_(page_size) {
    if (pages < 0 || pages > kMost || page_size < 1 || page_size > kMost)
      throw std::invalid_argument("pages (" + std::to_string(pages) + ") must be 0 to 2^31 - 1, page_size (" +
                                  std::to_string(page_size) + ") 1 to 2^31 - 1");
    references_.resize(static_cast<std::size_t>(pages));
    free_.resize(static_cast<std::size_t>(pages));
    std::iota(free_.rbegin(), free_.rend(), std::int32_t{0});  // page 0 is taken first
  }

  std::int64_t page_size() const { return page_size_; }
  std::int64_t pages() const { return std::ssize(references_); }
  std::int64_t free_pages() const { return std::ssize(free_); }
  // Number of sequences that have the page in their table.
  std::int64_t references(std::int32_t page) const { return references_.at(static_cast<std::size_t>(page)); }

  // Members that take a sequence throw std::out_of_range if no sequence has that id.
  std::int64_t length(Sequence s) const { return at(s).length; }
  std::span<const std::int32_t> table(Sequence s) const { return at(s).table; }
  // The row of the pool, [pages * page_size], that holds a position; throws std::out_of_range beyond the sequence.
  std::int64_t row(Sequence s, std::int64_t position) const {
    const Entry& e = at(s);
    if (position < 0 || position >= e.length) throw std::out_of_range("no position " + std::to_string(position));
    return e.table[static_cast<std::size_t>(position / page_size_)] * page_size_ + position % page_size_;
  }

  // Adds an empty sequence.
  Sequence create() {
    of_.emplace(next_, Entry{});
    return next_++;
  }

  // Adds a sequence that shares the first `length` positions of `parent`; takes no page.  Throws std::out_of_range if the
  // parent is shorter.
  Sequence fork(Sequence parent, std::int64_t length) {
    const Entry& e = at(parent);
    if (length < 0 || length > e.length) throw std::out_of_range("cannot fork at " + std::to_string(length));
    Entry child{length, {e.table.begin(), e.table.begin() + pages_of(length)}};
    const auto& [key, made] = *of_.emplace(next_, std::move(child)).first;
    for (const std::int32_t page : made.table) ++references_[static_cast<std::size_t>(page)];
    return next_++;
  }
  Sequence fork(Sequence parent) { return fork(parent, length(parent)); }

  // Adds `tokens` positions on pages that no other sequence uses.  Returns the copy that the caller must make, if any.  Throws
  // PagesExhausted, and std::length_error beyond 2^31 - 1 positions.
  std::optional<PageCopy> append(Sequence s, std::int64_t tokens) {
    Entry& e = at(s);
    if (tokens < 0 || tokens > kMost - e.length) throw std::length_error("cannot append " + std::to_string(tokens));
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

  // Removes a sequence and frees the pages that no other sequence uses.
  void release(Sequence s) {
    Entry& e = at(s);
    for (auto page = e.table.rbegin(); page != e.table.rend(); ++page)
      if (--references_[static_cast<std::size_t>(*page)] == 0) free_.push_back(*page);  // never reallocates: capacity is pages()
    of_.erase(s);
  }

  // Writes the inputs of kv_append and paged_attention for a batch: page_table [batch, max_pages] and lengths [batch].  Unused
  // entries are -1.  Throws std::length_error if a table or a span is too small.
  void write_tables(std::span<const Sequence> batch, std::int64_t max_pages, std::span<std::int32_t> page_table,
                    std::span<std::int32_t> lengths) const {
    const std::size_t n = batch.size();
    bool fits = max_pages >= 0 && lengths.size() >= n && page_table.size() >= n * static_cast<std::size_t>(max_pages);
    for (const Sequence s : batch) fits = pages_of(length(s)) <= max_pages && fits;
    if (!fits) throw std::length_error("the batch does not fit " + std::to_string(n) + " tables of " + std::to_string(max_pages));
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
  std::vector<std::int32_t> references_;  // per page
  std::vector<std::int32_t> free_;        // a stack of free pages
};

}  // namespace assay
