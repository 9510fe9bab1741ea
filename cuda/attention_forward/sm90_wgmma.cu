// SPDX-License-Identifier: Apache-2.0
// wgmma and tensor copies (hopper_flash.cuh): tiles of 128 queries, or of 192 with narrow heads, against blocks of 128 keys.
// Packed sequences, windows and softcap have instances of their own.  With rope, a kernel before it rotates q and k.  With packed
// sequences, one before it sorts them.
#include "cuda/attention_forward/hopper_flash.cuh"
#include "cuda/attention_forward/turned_rows.cuh"

namespace assay::ROOM(attention_forward, sm90_wgmma) {

// Workspace: what rope makes, then the order of packed tiles.
std::size_t turned_room(const attention_forward::Args& a) {
  return a.rope.rotary(a.q.shape[3]) ? whole_pieces(turned_bytes(a)) : 0;
}
std::size_t workspace_bytes(const attention_forward::Args& a) { return turned_room(a) + order_bytes(a); }

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
    const auto with = [&]<int kDim, int kGroups, Does does>() {
      launch_hopper<HopperShape<kDim, kGroups, does>, T>(a.rope.rotary(a.q.shape[3]) ? turned<T>(a, l) : a, l,
                                                         static_cast<unsigned char*>(l.workspace) + turned_room(a));
    };
    const bool masked = a.mask != attention_forward::Mask::none, wide = a.q.shape[3] > 64;
    // Note: separate instances, since each ability needs registers and instructions that the common case lacks, and since with a
    // mask what spreads tiles takes up to 2.5 % longer.
    const auto either = [&]<Does does>() {
      wide ? with.template operator()<128, 2, does>() : with.template operator()<64, 2, does>();
    };
    if (a.softcap > 0) either.template operator()<Does::softcaps>();
    else if (a.window != 0) either.template operator()<Does::windows>();
    else if (a.packed) wide ? with.template operator()<128, 2, Does::packed>() : with.template operator()<64, 3, Does::packed>();
    // Note: of short causal sequences, tiles of 192 queries leave too much hidden.
    else if (masked && (wide || a.k.shape[1] <= 1024)) either.template operator()<Does::masks>();
    else if (masked) with.template operator()<64, 3, Does::masks>();
    else wide ? with.template operator()<128, 2, Does::no_mask>() : with.template operator()<64, 3, Does::no_mask>();
  });
}

}  // namespace assay::ROOM(attention_forward, sm90_wgmma)
