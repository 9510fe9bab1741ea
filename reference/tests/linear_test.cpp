// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand.
#include "ops/linear.hpp"

#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/golden_testing.hpp"
#include "reference/tests/solving.hpp"

namespace assay {

TEST_CASE("linear: matches values computed by hand", "[golden]") {
  // x = [1 2 3; -1 0 4], weight = [1 1 1; 2 -1 0], bias = [10, 20].
  std::vector<double> x{1, 2, 3, -1, 0, 4}, weight{1, 1, 1, 2, -1, 0}, bias{10, 20}, y(4);
  linear::Args a{.x = test::matrix(x, 2, 3),
                 .weight = test::matrix(weight, 2, 3),
                 .bias = test::vector_of(bias),
                 .y = dense(nullptr, f64, {2, 2}),
                 .has_bias = true};
  test::solve<linear>(a, {y});
  CHECK(y == std::vector<double>{16, 20, 13, 18});
  a.bias = {};
  a.has_bias = false;
  test::solve<linear>(a, {y});
  CHECK(y == std::vector<double>{6, 0, 3, -2});
}

}  // namespace assay
