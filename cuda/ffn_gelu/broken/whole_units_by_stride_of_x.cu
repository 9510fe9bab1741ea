// SPDX-License-Identifier: Apache-2.0
// FAULT: the rows of h are as far apart as those of x.
// Caught by: T4 on simt (out_of_bounds), fewer units than x has channels; T1, more of them and two tokens.
#include "cuda/ffn_gelu/broken/whole.cuh"

namespace assay::ROOM(ffn_gelu, whole_units_by_stride_of_x) {

struct Wrong : WholeSums {
  static Tensor units(const ffn_gelu::Args& a, void* workspace) {
    Tensor h = WholeSums::units(a, workspace);
    h.stride[0] = a.x.stride[0];
    return h;
  }
};
KERNEL_FROM(ffn_gelu, whole, Wrong);

}  // namespace assay::ROOM(ffn_gelu, whole_units_by_stride_of_x)
