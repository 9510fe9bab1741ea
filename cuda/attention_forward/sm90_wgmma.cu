// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies (hopper_flash.cuh): tiles of 128 queries, or of 192 with narrow heads, against blocks of 128 keys.
// Windows, softcap and packed sequences have an instance of their own.  With rope, a kernel before it rotates q and k.
#include "cuda/attention_forward/hopper_flash.cuh"
#include "cuda/attention_forward/turned_rows.cuh"

namespace assay::ROOM(attention_forward, sm90_wgmma) {

std::size_t workspace_bytes(const attention_forward::Args& a) { return a.rope.rotary(a.q.shape[3]) ? turned_bytes(a) : 0; }

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
    const auto with = [&]<int kDim, int kGroups, bool kGeneral, bool kSpread = false>() {
      launch_hopper<HopperShape<kDim, kGroups, kGeneral, kSpread>, HopperSteps, T>(
          a.rope.rotary(a.q.shape[3]) ? turned<T>(a, l) : a, l);
    };
    const bool wide = a.q.shape[3] > 64;
    // Note: separate instances, since windows, softcap and packed sequences need registers that the common case lacks, and since
    // with a mask what spreads tiles takes up to 2.5 % longer.
    const bool general = a.softcap > 0 || a.window != 0 || a.packed, masked = a.mask != attention_forward::Mask::none;
    // Note: of short causal sequences, tiles of 192 queries leave too much hidden.
    const bool narrow = a.k.shape[1] <= 1024;
    if (general) wide ? with.template operator()<128, 2, true>() : with.template operator()<64, 2, true>();
    else if (!masked) wide ? with.template operator()<128, 2, false, true>() : with.template operator()<64, 3, false, true>();
    else if (wide) with.template operator()<128, 2, false>();
    else narrow ? with.template operator()<64, 2, false>() : with.template operator()<64, 3, false>();
  });
}

}  // namespace assay::ROOM(attention_forward, sm90_wgmma)
