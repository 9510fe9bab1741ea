// SPDX-License-Identifier: Apache-2.0
// FAULT: frequencies are kept from call to call by rotary_dim alone: a call with another base gets those of the first.
// Kind: earlier_calls
// Caught by: the bound, with fill=far_positions (f16).
#include "cuda/rope/broken/plain.cuh"

#include <map>

namespace assay::ROOM(rope, frequency_cached_by_width) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Problem<T>& p) {
    static std::map<int, double> steps;
    p.step = steps.try_emplace(p.rotary, p.step).first->second;
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, frequency_cached_by_width)
