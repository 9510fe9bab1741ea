// SPDX-License-Identifier: Apache-2.0
// Golden difference, in f64.
#include "ops/difference.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"

namespace assay::reference {

void golden(const difference::Args& a, difference::Golden& g, const Rows&) {
  Eigen::Map<Eigen::ArrayXd>(g.y.data(), a.y.size()) = load(a.a, 0, a.a.size()) - load(a.b, 0, a.b.size());
}

double scratch(const difference::Args& a, const Rows&) { return 2 * 8 * static_cast<double>(a.a.size()); }

static const LinkedGolden<difference> linked_difference(golden, scratch);

}  // namespace assay::reference
