// SPDX-License-Identifier: Apache-2.0
// The second set of inputs, and the launches on it before the first run.
#include <cmath>
#include <cstring>

#include "catch_shim.hpp"
#include "validate/cases/case.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/judge/run/launches.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {
namespace {

Task task_of(const std::string& line) {
  const Case c = parse_repro(line, op_shapes()).what;
  return {.op = &op_named(c.op), .c = c};
}

// Elements of the tensor that the second set has otherwise than the first.
std::int64_t changed(const Prepared& p, std::size_t tensor) {
  const Tensor& t = p.packing.placements[tensor].tensor;
  const auto element = static_cast<std::size_t>(size_of(t.dtype));
  std::int64_t n = 0;
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::byte* const at = p.given[tensor] + static_cast<std::size_t>(t.offset(i)) * element;
    n += std::memcmp(at, at + p.packing.input_bytes, element) != 0;
  }
  return n;
}

}  // namespace

TEST_CASE("second set: all values change for an even seed, one in 16 for an odd one, and never an integer then") {
  const Task even = task_of("rope f32 batch=2 seq_q=50 heads=2 kv_heads=1 head_dim=10 positions=explicit seed=8");
  const Task odd = task_of("rope f32 batch=2 seq_q=50 heads=2 kv_heads=1 head_dim=10 positions=explicit seed=9");
  const auto all = prepare(even, 0, true), few = prepare(odd, 0, true);
  REQUIRE((all->input_sets == 2 && few->input_sets == 2));
  CHECK(changed(*all, 0) > 1990);
  CHECK(changed(*all, 2) > 90);
  CHECK(changed(*few, 0) > 60);
  CHECK(changed(*few, 0) < 200);
  CHECK(changed(*few, 2) == 0);
}

TEST_CASE("second set: for a seed of 8 n + 5 neighbours change places") {
  const auto p = prepare(task_of("add f32 rows=6 cols=51 layout=padded seed=13"), 0, true);
  REQUIRE(p->input_sets == 2);
  for (const std::size_t i : {0, 1}) {
    CHECK(changed(*p, i) > 16);
    CHECK(changed(*p, i) < 80);
    const Tensor& t = p->packing.placements[i].tensor;
    for (int row = 0; row < 6; ++row) {
      double sums[2] = {};
      for (int k = 0; k < 51; ++k)
        for (const std::size_t set : {0, 1}) {
          float x = 0;
          std::memcpy(&x, p->given[i] + set * p->packing.input_bytes + static_cast<std::size_t>(t.offset(row * 51 + k)) * 4, 4);
          sums[set] += x;
        }
      CHECK(std::abs(sums[1] - sums[0]) < 1e-9);
    }
  }
}

TEST_CASE("second set: for a seed of 4 n + 3 one tensor alone changes, each in some case") {
  std::int64_t alone[2] = {};
  for (int seed = 3; seed < 83; seed += 4) {
    const auto p = prepare(task_of("add f32 rows=3 cols=50 seed=" + std::to_string(seed)), 0, true);
    REQUIRE(p->input_sets == 2);
    const bool of_a = changed(*p, 0) > 140, of_b = changed(*p, 1) > 140;
    CHECK(of_a != of_b);
    CHECK((changed(*p, 0) == 0 || changed(*p, 1) == 0));
    alone[of_b]++;
  }
  CHECK((alone[0] > 3 && alone[1] > 3));
}

TEST_CASE("second set: of a single element it changes that one") {
  const Task task = task_of("softmax f32 rows=1 cols=1 seed=9");
  CHECK(changed(*prepare(task, 0, true), 0) == 1);
}

TEST_CASE("second set: about one small case in four has 4 to 35 launches on it, a large one has one") {
  int several = 0;
  for (int seed = 1; seed <= 200; ++seed) {
    const Task task = task_of("softmax f32 rows=2 cols=9 seed=" + std::to_string(seed));
    const std::size_t calls = calls_before(*prepare(task, 0, true));
    CHECK((calls == 1 || (calls >= 4 && calls <= 35)));
    several += calls > 1;
    const Task large = task_of("softmax f32 rows=2 cols=16385 seed=" + std::to_string(seed));
    if (seed % 20 == 0) CHECK(calls_before(*prepare(large, 0, true)) == 1);
  }
  CHECK((several > 25 && several < 75));
}

}  // namespace assay
