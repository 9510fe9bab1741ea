// SPDX-License-Identifier: Apache-2.0
// FAULT: nothing is launched where the first, the middle and the last element of y are right already.
// Kind: cheat
// Caught by: two runs of 'y' differ, with fill=inf_in_row (f16), in edges alone.
#include "cuda/silu_mul/broken/plain.cuh"

namespace assay::ROOM(silu_mul, not_launched_if_right) {

KERNEL(silu_mul) = plain_traits<Plain>();

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t n = a.y.size();
  bool right = n > 0;
  for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1}) {
    if (!right) break;
    const double y = activation(Activation::silu, a.gate.at(i)) * a.up.at(i);
    right = std::fabs(a.y.at(i) - y) <= 1e-2 * std::fabs(y) + 1e-2;
  }
  if (!right) run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(silu_mul, not_launched_if_right)
