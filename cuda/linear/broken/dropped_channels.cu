// SPDX-License-Identifier: Apache-2.0
// FAULT: channels beyond the last multiple of 8 are not added.
// Caught by: the bound and the exact probes, where hidden is no multiple of 8.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, dropped_channels) {

template <class T>
struct Wrong : Plain<T> {
  static void change(Operands<T>& p) { p.hidden = p.hidden / 8 * 8; }
};
KERNEL_FROM(linear, plain, Wrong);

}  // namespace assay::ROOM(linear, dropped_channels)
