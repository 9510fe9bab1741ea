// SPDX-License-Identifier: Apache-2.0
// Tests what formulas give in parts, with products by Eigen, against the same evaluated whole, term by term.
#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay {

TEST_CASE("goldens agree with their evaluation term by term", "[golden]") {
  for (const Op& op : ops()) {
    if (!op.formula.oracle) continue;
    INFO(op.name);
    CHECK(test::golden_meets_oracle(op.name) > 10'000);
  }
}

}  // namespace assay
