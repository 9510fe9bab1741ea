// SPDX-License-Identifier: Apache-2.0
// One block per row, one thread per 16-byte pack of it, for rows so few that nothing hides what a thread waits for.  A thread
// asks for x, gamma, beta and residual at once, and its code is short, since each instruction is fetched for one use.  A sum
// takes one barrier: each warp stores its sum, and every thread adds all of them.
// Supports rows of at most 1024 packs, all whole, aligned to 16 bytes.
#include "cuda/layernorm_residual/one_pack.cuh"

namespace assay::ROOM(layernorm_residual, one_pack) {

using namespace layernorm_residual_room;

KERNEL(layernorm_residual) = one_pack_traits({f16, bf16, f32});

void run(const layernorm_residual::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_one_pack<T>(a, l); });
}

}  // namespace assay::ROOM(layernorm_residual, one_pack)
