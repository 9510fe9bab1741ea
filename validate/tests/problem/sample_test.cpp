// SPDX-License-Identifier: Apache-2.0
// Sampled goldens: which rows are chosen, that they are answered as in the full golden, and that only they are judged.
#include "validate/problem/sample.hpp"

#include <algorithm>

#include "catch_shim.hpp"
#include "validate/judge/compare.hpp"
#include "validate/problem/image.hpp"
#include "validate/values/tensor_bits.hpp"

namespace assay {
namespace {

struct Made {
  explicit Made(std::int64_t rows) : c{.op = "layernorm_residual", .dtype = f16, .seed = 3} {
    c.dims[Axis::rows] = rows;
    c.dims[Axis::cols] = 33;
    placements = place(*op, c);
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      images.emplace_back(placements[i].bytes);
      fill_image(*op, c, static_cast<int>(i), placements[i], images.back().data(), std::byte{0x5a});
      pointers.push_back(images.back().data());
    }
    attach(*problem, c, placements, pointers);
  }
  const Op* op = find_op("layernorm_residual");
  Case c;
  std::vector<Placement> placements;
  std::unique_ptr<Problem> problem = op->make();
  std::vector<std::vector<std::byte>> images;
};

}  // namespace

TEST_CASE("sample: none where the golden is cheap; ends, tile edges and seeded rows where it is not") {
  Made m(5000);
  CHECK(sampled_rows(*m.op, m.c, *m.problem).empty());
  const double flops = m.problem->cost().flops;
  const auto rows = sampled_rows(*m.op, m.c, *m.problem, flops / 50);
  CHECK(rows.size() == 100);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  CHECK(rows.front() == 0);
  CHECK(rows.back() == 4999);
  CHECK(std::count_if(rows.begin(), rows.end(), [](std::int64_t r) { return r % 64 == 0; }) > 10);
  CHECK(std::count_if(rows.begin(), rows.end(), [](std::int64_t r) { return r % 64 == 63; }) > 5);
  CHECK(rows == sampled_rows(*m.op, m.c, *m.problem, flops / 50));
  m.c.seed = 4;
  CHECK(rows != sampled_rows(*m.op, m.c, *m.problem, flops / 50));
}

TEST_CASE("sample: the sampled rows' golden and bound are those of the full golden, and only they are judged") {
  Made m(300);
  m.problem->solve();
  const auto all = m.problem->golden(0);
  const std::vector<double> full(all.begin(), all.end());
  m.problem->solve({7, 128, 299});
  for (const std::int64_t row : {7, 128, 299})
    for (std::int64_t i = row * 33; i < row * 33 + 33; ++i) {
      CHECK(m.problem->golden(0)[static_cast<std::size_t>(i)] == full[static_cast<std::size_t>(i)]);
      CHECK(m.problem->bound({}, 0, i) > 0);
    }
  CHECK(m.problem->golden(0)[0] == 0);

  Tensor y = m.placements.back().tensor;
  y.data = m.images.back().data();
  for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, full[static_cast<std::size_t>(i)]);
  y.set(5, 1e4);  // in a row that nobody checks
  CHECK(compare(*m.problem, {}, 0, y, false).wrong == 0);
  CHECK(compare(*m.problem, {}, 0, y, false).compared == 99);
  y.set(128 * 33 + 1, 1e4);
  CHECK(compare(*m.problem, {}, 0, y, false).wrong == 1);
}

TEST_CASE("digest: equal for equal elements, whatever lies between them and whichever NaN they are") {
  float a[] = {1, 2, 3, 4}, b[] = {1, 2, 99, 3, 4};
  const Tensor ta{a, f32, 2, {2, 2}, {2, 1}}, tb{b, f32, 2, {2, 2}, {3, 1}};
  CHECK(digest(ta, 0) == digest(tb, 0));
  CHECK(digest(ta, 0) != digest(ta, 1));
  a[3] = -0.0f;
  b[4] = 0.0f;
  CHECK(digest(ta, 0) != digest(tb, 0));
  a[3] = std::bit_cast<float>(0x7fc00001u);
  b[4] = std::bit_cast<float>(0xffffffffu);
  CHECK(digest(ta, 0) == digest(tb, 0));
}

}  // namespace assay
