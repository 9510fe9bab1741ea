// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/kv_append.hpp"

#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/solving.hpp"
#include "validate/problem/typed/op_adapter.hpp"

namespace assay {
namespace {

using Pool = std::vector<double>;

struct Appended {
  Pool k_pool, v_pool;
  std::string why;
};
// Pools of pages of two slots, one head of one channel; K = 1, 2, ... and V = -1, -2, ..., row by row.
Appended append(Pool pool, std::int64_t batch, std::int64_t rows, std::vector<std::int32_t> table,
                std::vector<std::int32_t> lengths) {
  std::vector<double> k, v, copy = pool;
  for (std::int64_t i = 1; i <= batch * rows; ++i) {
    k.push_back(static_cast<double>(i));
    v.push_back(-static_cast<double>(i));
  }
  const std::int64_t pages = static_cast<std::int64_t>(pool.size()) / 2,
                     entries = static_cast<std::int64_t>(table.size()) / batch;
  const auto of = [&](Pool& p, std::int64_t a, std::int64_t b) {
    return Tensor{.data = p.data(), .dtype = f64, .rank = 4, .shape = {a, b, 1, 1}, .stride = {b, 1, 1, 1}};
  };
  const kv_append::Args a{
      .k = of(k, batch, rows),
      .v = of(v, batch, rows),
      .page_table = {.data = table.data(), .dtype = i32, .rank = 2, .shape = {batch, entries}, .stride = {entries, 1}},
      .lengths = {.data = lengths.data(), .dtype = i32, .rank = 1, .shape = {batch}, .stride = {1}},
      .k_pool = of(pool, pages, 2),
      .v_pool = of(copy, pages, 2)};
  Appended out{Pool(pool.size(), -7), Pool(pool.size(), -7), legal_arguments<kv_append>(a).why};
  if (out.why.empty()) test::solve<kv_append>(a, {out.k_pool, out.v_pool});
  return out;
}

}  // namespace

TEST_CASE("kv_append: matches values computed by hand", "[golden]") {
  // The first sequence gets rows at positions 1, 2, 3 on pages 2 and 0; the second one row at position 0 on page 1, and its two
  // rows at negative positions are skipped.
  const Appended s = append({10, 20, 30, 40, 50, 60}, 2, 3, {2, 0, 1, -1}, {4, 1});
  CHECK(s.k_pool == Pool{2, 3, 6, 40, 50, 1});
  CHECK(s.v_pool == Pool{-2, -3, -6, 40, 50, -1});
  // A first page that two sequences share and do not write to: each writes its own row to a page of its own.
  CHECK(append({10, 20, 30, 0, 30, 0, 0, 0}, 2, 1, {0, 1, 0, 2}, {4, 4}).k_pool == Pool{10, 20, 30, 1, 30, 2, 0, 0});
  CHECK(append({10, 20}, 1, 0, {0}, {2}).k_pool == Pool{10, 20});
  CHECK(append({10, 20}, 1, 5, {99}, {0}).k_pool == Pool{10, 20});
}

TEST_CASE("kv_append: illegal arguments are named", "[golden]") {
  CHECK(append({0, 0, 0, 0}, 2, 1, {0, 1, 0, 1}, {2, 2}).why == "slot 1 of page 0 is written to twice");
  CHECK(append({0, 0, 0, 0}, 2, 1, {0, 1, 0, 0}, {4, 1}).why.empty());  // pages that are only read may be shared
  CHECK(append({0, 0, 0, 0}, 1, 1, {0, 2}, {3}).why == "page_table[0, 1] is 2, not one of 0 ... 1");
  CHECK(append({0, 0, 0, 0}, 1, 1, {0, 1}, {5}).why == "lengths[0] is 5, not one of 0 ... 4");
}

}  // namespace assay
