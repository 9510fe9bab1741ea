// SPDX-License-Identifier: Apache-2.0
// sm90_wgmma of one shape: heads of up to 64 channels, by the instance that does all but rope.
#include "cuda/attention_forward/hopper_flash.cuh"

namespace assay::ROOM(attention_forward, hopper) {

using Narrow = HopperShape<64, 2, Does::softcaps>;

KERNEL(attention_forward){
    .dtypes = {f16},
    .only_arch = 90,
    .tiles = {tile(Axis::seq_q, Narrow::kQueries), tile(Axis::seq_k, Narrow::kKeys)},
    .numerics = kHopperNumerics,
    .supports =
        [](const attention_forward::Args& a) {
          if (a.q.shape[3] > Narrow::kDim) return Legality::no("head_dim exceeds 64");
          const Legality rotated = without_rope(a);
          return rotated ? fits_boxes(a) : rotated;
        },
    .workspace_bytes = order_bytes,
};

void run(const attention_forward::Args& a, const Launch& l) {
  if (!nothing_to_do(a)) launch_hopper<Narrow, half>(a, l, l.workspace);
}

}  // namespace assay::ROOM(attention_forward, hopper)
