// SPDX-License-Identifier: Apache-2.0
// FAULT: the output is written by the strides of the input. Right in place, and where both lie alike.
// Kind: layout
// Caught by: out_of_bounds, with layout=mixed (f16).
#include "cuda/rope/broken/plain.cuh"

namespace assay::ROOM(rope, output_by_strides_of_input) {

template <class T>
struct Wrong : Plain<T> {
  static void along(Side<T>& s) {
    s.y_batch = s.x_batch;
    s.y_token = s.x_token;
    s.y_head = s.x_head;
  }
  static void change(Problem<T>& p) {
    along(p.q);
    along(p.k);
  }
};
KERNEL_FROM(rope, plain, Wrong);

}  // namespace assay::ROOM(rope, output_by_strides_of_input)
