// SPDX-License-Identifier: Apache-2.0
// sm90_grown without turns: a warpgroup issues its products as soon as it has their operands.
#include "cuda/attention_forward/hopper_flash.cuh"
#include "cuda/attention_forward/turned_rows.cuh"

namespace assay::ROOM(attention_forward, sm90_free) {

std::size_t workspace_bytes(const attention_forward::Args& a) { return a.rope.rotary(a.q.shape[3]) ? turned_bytes(a) : 0; }

struct Free : HopperSteps {
  static constexpr bool kTurns = false;
  __device__ static bool rescales(bool grown) { return any(grown); }
};

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .only_arch = 90,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, 128)},
    .numerics = kHopperNumerics,
    .supports = fits_boxes,
    .workspace_bytes = workspace_bytes,
};

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
    const auto with = [&]<int kDim, int kGroups, bool kGeneral>() {
      launch_hopper<HopperShape<kDim, kGroups, kGeneral, 2, true>, Free, T>(
          a.rope.rotary(a.q.shape[3]) ? turned<T>(a, l) : a, l);
    };
    // Note: a separate instance, since windows, softcap and packed sequences need registers that the common case lacks.
    const bool general = a.softcap > 0 || a.window != 0 || a.packed;
    // Note: of short causal sequences, tiles of 192 queries leave too much hidden.
    const bool narrow = a.mask != attention_forward::Mask::none && a.k.shape[1] <= 1024;
    if (a.q.shape[3] > 64) general ? with.template operator()<128, 2, true>() : with.template operator()<128, 2, false>();
    else if (general) with.template operator()<64, 2, true>();
    else narrow ? with.template operator()<64, 2, false>() : with.template operator()<64, 3, false>();
  });
}

}  // namespace assay::ROOM(attention_forward, sm90_free)
