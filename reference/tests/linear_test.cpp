// SPDX-License-Identifier: Apache-2.0
// Tests the golden against values computed by hand; goldens_test.cpp tests it against the oracle.
#include "ops/linear.hpp"

#include <vector>

#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay::reference {
void golden(const linear::Args&, linear::Golden&, const Rows&);
}

namespace assay {

TEST_CASE("linear: matches values computed by hand", "[golden]") {
  // x = [1 2 3; -1 0 4], weight = [1 1 1; 2 -1 0], bias = [10, 20].
  std::vector<double> x{1, 2, 3, -1, 0, 4}, weight{1, 1, 1, 2, -1, 0}, bias{10, 20}, y(4), sum_abs(4), sum_sq(4);
  linear::Args a{.x = test::matrix(x, 2, 3),
                 .weight = test::matrix(weight, 2, 3),
                 .bias = test::vector_of(bias),
                 .y = test::matrix(y, 2, 2)};
  linear::Golden g{y, sum_abs, sum_sq};
  reference::golden(a, g, {.total = 2});
  CHECK(y == std::vector<double>{16, 20, 13, 18});
  CHECK(sum_abs == std::vector<double>{6, 4, 5, 2});
  CHECK(sum_sq == std::vector<double>{14, 8, 17, 4});
  a.bias = {};
  reference::golden(a, g, {.total = 2});
  CHECK(y == std::vector<double>{6, 0, 3, -2});
}

}  // namespace assay
