// SPDX-License-Identifier: Apache-2.0
// Tests every golden against the scalar oracle of its op.
#include "catch_shim.hpp"
#include "reference/tests/golden_testing.hpp"

namespace assay {

TEST_CASE("goldens agree with the oracles in f64", "[golden]") {
  for (const Op& op : ops()) {
    if (!op.hooks.oracle) continue;
    INFO(op.name);
    CHECK(test::golden_meets_oracle(op.name) > 10'000);
  }
}

}  // namespace assay
