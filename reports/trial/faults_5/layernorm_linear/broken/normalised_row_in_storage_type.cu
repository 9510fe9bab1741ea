// SPDX-License-Identifier: Apache-2.0
// FAULT: the normalised row is rounded to the storage type before it is multiplied, as in two kernels, but the kernel declares
//   that it is not.
// KIND: precision
// Right on: layernorm_linear f32 tokens=16 hidden=64 out=32 fill=normal seed=1
// Wrong on: layernorm_linear f16 tokens=32 hidden=256 out=64 fill=normal seed=1
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, normalised_row_in_storage_type) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

struct Formula {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = p.mean(token), r = p.inverse(token, mean);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(to_float(from_float<T>(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)))), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, Formula{}); });
}

}  // namespace assay::ROOM(layernorm_linear, normalised_row_in_storage_type)
