// SPDX-License-Identifier: Apache-2.0
// FAULT: the exponents of the frequencies are fractions of the whole head, also where only a part of it is rotated.
// Kind: algorithm
// Shows: a rotary_dim below head_dim, or an odd head_dim.
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, partial_frequencies_of_whole_head) {

template <class T>
struct WholeHead : Plain<T> {
  static void change(Problem<T>& p) { p.step = p.step * p.rotary / p.dim; }
};
KERNEL_FROM(rope, plain, WholeHead);

}  // namespace assay::ROOM(rope, partial_frequencies_of_whole_head)
