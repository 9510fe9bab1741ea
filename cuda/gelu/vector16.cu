// SPDX-License-Identifier: Apache-2.0
// 16-byte packs, four in flight per thread; a contiguous matrix is processed as one row.  Falls back to single elements where
// rows are not 16-byte aligned.  Computes x sigmoid(v) and x/2 erfc, which do not cancel, without a division: in 16 bits the
// instructions of activate() take longer than the memory.
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "ops/gelu.hpp"

namespace assay::ROOM(gelu, vector16) {

KERNEL(gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, pointwise::kThreads)},
    .numerics = {.accumulate = f32, .quotient_error = kFastQuotientError, .flushes_subnormals = true},
};

template <Activation kForm>
struct Gelu {
  __device__ float operator()(float z) const { return activate_fast<kForm>(z); }
};

void run(const gelu::Args& a, const Launch& l) {
  if (a.x.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_gelu(a.form, [&]<Activation kForm>(std::integral_constant<Activation, kForm>) {
      pointwise::unary<T>({a.x.as<T>(), a.x.stride[0]}, a.y.as<T>(), a.y.stride[0], a.y.shape[0], a.y.shape[1], Gelu<kForm>{},
                          l.stream);
    });
  });
}

}  // namespace assay::ROOM(gelu, vector16)
