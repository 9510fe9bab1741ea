// SPDX-License-Identifier: Apache-2.0
// Tests the page tables against a model that keeps each sequence's values in a vector, over random histories: with rapidcheck,
// which shrinks a failing history, if installed; else with a seeded loop.
#include "ops/core/paged_kv_cache.hpp"

#include <map>
#include <set>

#include "catch_shim.hpp"

#if defined(ASSAY_RAPIDCHECK)
#include <rapidcheck.h>
#endif

using namespace assay;

namespace {

// A cache, its pool of numbers, and the values that each sequence should hold.
struct Trial {
  Trial(std::int64_t pages, std::int64_t page_size)
      : cache(pages, page_size), pool(static_cast<std::size_t>(pages * page_size), -1) {}

  // Runs one step of a history; returns what went wrong, empty if nothing.
  std::string step(std::uint32_t word) {
    const std::uint32_t kind = word % 8, amount = word >> 16 & 0xff;
    if (kind == 0 || model.empty()) {
      model[cache.create()];
      return {};
    }
    auto it = std::next(model.begin(), static_cast<std::ptrdiff_t>((word >> 8 & 0xff) % model.size()));
    const auto length = static_cast<std::int64_t>(it->second.size());
    if (kind == 1) {
      cache.release(it->first);
      model.erase(it);
    } else if (kind == 2) {
      const std::int64_t prefix = amount % (length + 1);
      model[cache.fork(it->first, prefix)].assign(it->second.begin(), it->second.begin() + prefix);
    } else {
      return append(it->first, it->second, amount % (2 * cache.page_size() + 3));
    }
    return {};
  }

  std::string append(PagedKvCache::Sequence s, std::vector<int>& values, std::int64_t tokens) {
    // Pages needed: those that the new positions start, and one for a copy if the last page is shared.
    const std::int64_t size = cache.page_size(), length = static_cast<std::int64_t>(values.size());
    std::int64_t needed = tokens > 0 && length % size && cache.references(cache.table(s).back()) > 1 ? 1 : 0;
    for (std::int64_t p = length; p < length + tokens; ++p) needed += p % size == 0;
    const bool fits = needed <= cache.free_pages();
    try {
      if (const auto copy = cache.append(s, tokens))
        for (std::int64_t i = 0; i < copy->rows; ++i) pool[at(copy->to * size + i)] = pool[at(copy->from * size + i)];
    } catch (const PagesExhausted& e) {
      if (fits) return "exhausted with pages to spare";
      return e.needed == needed && e.free == cache.free_pages() ? "" : "the error tells wrong numbers";
    }
    if (!fits) return "more pages than there are";
    for (std::int64_t p = length; p < length + tokens; ++p) {
      values.push_back(++written);
      pool[at(cache.row(s, p))] = written;
    }
    return {};
  }

  // The first difference from the model; empty if there is none.
  std::string difference() const {
    std::map<std::int32_t, std::int64_t> references;
    for (const auto& [s, values] : model) {
      if (cache.length(s) != static_cast<std::int64_t>(values.size())) return "a length is wrong";
      for (std::size_t p = 0; p < values.size(); ++p)
        if (pool[at(cache.row(s, static_cast<std::int64_t>(p)))] != values[p]) return "a value is lost";
      const auto held = (cache.length(s) + cache.page_size() - 1) / cache.page_size();
      if (static_cast<std::int64_t>(cache.table(s).size()) != held) return "a table has not the pages of its length";
      for (const std::int32_t page : cache.table(s)) ++references[page];
    }
    for (std::int32_t page = 0; page < cache.pages(); ++page) {
      const auto found = references.find(page);
      if (cache.references(page) != (found == references.end() ? 0 : found->second)) return "a reference count is wrong";
    }
    if (cache.free_pages() != cache.pages() - static_cast<std::int64_t>(references.size())) return "pages are lost";
    return {};
  }

  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }
  PagedKvCache cache;
  std::vector<int> pool;
  std::map<PagedKvCache::Sequence, std::vector<int>> model;
  int written = 0;
};

std::string misbehaviour(std::int64_t pages, std::int64_t page_size, const std::vector<std::uint32_t>& history) {
  Trial trial(pages, page_size);
  for (const std::uint32_t word : history) {
    if (const std::string wrong = trial.step(word); !wrong.empty()) return wrong;
    if (const std::string wrong = trial.difference(); !wrong.empty()) return wrong;
  }
  while (!trial.model.empty()) {
    trial.cache.release(trial.model.begin()->first);
    trial.model.erase(trial.model.begin());
  }
  return trial.cache.free_pages() == pages ? "" : "pages are lost at the end";
}

}  // namespace

TEST_CASE("paged_kv_cache: any history of create, append, fork and release keeps every value") {
#if defined(ASSAY_RAPIDCHECK)
  CHECK(rc::check([] {
    const auto pages = *rc::gen::inRange(0, 12), page_size = *rc::gen::inRange(1, 9);
    const auto history = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::noShrink(rc::gen::arbitrary<std::uint32_t>()));
    RC_ASSERT(misbehaviour(pages, page_size, history) == "");
  }));
#endif
  std::uint64_t state = 2026;
  const auto next = [&] {  // Knuth's MMIX generator
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state >> 32);
  };
  for (int n = 0; n < 400; ++n) {
    const std::int64_t pages = next() % 40, page_size = 1 + next() % 20;
    std::vector<std::uint32_t> history(next() % 120);
    for (std::uint32_t& word : history) word = next();
    INFO(n << ": " << pages << " pages of " << page_size);
    REQUIRE(misbehaviour(pages, page_size, history) == "");
  }
}

TEST_CASE("paged_kv_cache: a prefix is shared until one of its sequences writes to its last page") {
  PagedKvCache cache(4, 16);
  const auto a = cache.create();
  CHECK(!cache.append(a, 20));
  const auto b = cache.fork(a);
  CHECK(cache.free_pages() == 2);
  CHECK((cache.references(0) == 2 && cache.references(1) == 2));
  const auto copy = cache.append(b, 1);
  REQUIRE(copy);
  CHECK((copy->from == 1 && copy->to == 2 && copy->rows == 4));
  CHECK((cache.row(a, 19) == 1 * 16 + 3 && cache.row(b, 19) == 2 * 16 + 3 && cache.row(b, 20) == 2 * 16 + 4));
  CHECK((cache.references(0) == 2 && cache.references(1) == 1 && cache.references(2) == 1));
  CHECK(!cache.append(a, 1));  // its last page is no longer shared
  cache.release(a);
  CHECK((cache.free_pages() == 2 && cache.references(0) == 1));
  const auto c = cache.fork(b, 16);
  CHECK(!cache.append(c, 1));  // a full page stays shared
  CHECK(cache.table(c)[0] == cache.table(b)[0]);
}

TEST_CASE("paged_kv_cache: PagesExhausted is thrown and leaves the cache unchanged") {
  PagedKvCache cache(3, 16);
  const auto a = cache.create();
  cache.append(a, 40);
  const auto b = cache.fork(a);
  // One page would be copied and one added; none is free.
  try {
    cache.append(b, 20);
    FAIL("nothing was thrown");
  } catch (const PagesExhausted& e) {
    CHECK((e.needed == 2 && e.free == 0));
    CHECK(std::string(e.what()) == "the page pool is exhausted: 2 pages are needed, 0 free");
  }
  CHECK((cache.length(b) == 40 && cache.references(2) == 2 && cache.table(b).size() == 3));
  cache.release(a);
  CHECK(!cache.append(b, 8));
  CHECK_THROWS_AS(cache.append(b, 1), PagesExhausted);
  CHECK(cache.length(b) == 48);
}

TEST_CASE("paged_kv_cache: tables as kernels take them") {
  PagedKvCache cache(5, 2);
  const auto a = cache.create(), b = cache.create(), c = cache.create();
  cache.append(a, 3), cache.append(b, 5);
  std::vector<std::int32_t> table(12, 77), lengths(3, 77);
  const std::vector<PagedKvCache::Sequence> batch{b, c, a};
  cache.write_tables(batch, 4, table, lengths);
  CHECK(table == std::vector<std::int32_t>{2, 3, 4, -1, -1, -1, -1, -1, 0, 1, -1, -1});
  CHECK(lengths == std::vector<std::int32_t>{5, 0, 3});
  CHECK_THROWS_AS(cache.write_tables(batch, 2, table, lengths), std::length_error);
  CHECK_THROWS_AS(cache.write_tables(batch, 5, table, lengths), std::length_error);
}

TEST_CASE("paged_kv_cache: unknown sequences and positions are refused, and rows are 64-bit") {
  CHECK_THROWS_AS(PagedKvCache(-1, 16), std::invalid_argument);
  CHECK_THROWS_AS(PagedKvCache(1, 0), std::invalid_argument);
  CHECK_THROWS_AS(PagedKvCache(std::int64_t{1} << 31, 16), std::invalid_argument);
  PagedKvCache cache(3, std::int64_t{1} << 30);
  const auto a = cache.create();
  cache.append(a, (std::int64_t{1} << 31) - 1);
  CHECK(cache.row(a, (std::int64_t{1} << 31) - 2) == (std::int64_t{1} << 31) - 2);
  const auto b = cache.create();
  cache.append(b, 7);
  CHECK(cache.row(b, 6) == (std::int64_t{1} << 31) + 6);
  CHECK_THROWS_AS(cache.append(a, 1), std::length_error);
  CHECK_THROWS_AS(cache.append(b, -1), std::length_error);
  CHECK_THROWS_AS(cache.row(b, 7), std::out_of_range);
  CHECK_THROWS_AS(cache.fork(b, 8), std::out_of_range);
  cache.release(b);
  CHECK_THROWS_AS(cache.release(b), std::out_of_range);
  CHECK_THROWS_AS(cache.length(b), std::out_of_range);
}
