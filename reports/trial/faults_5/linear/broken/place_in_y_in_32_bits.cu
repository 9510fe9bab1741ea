// SPDX-License-Identifier: Apache-2.0
// FAULT: the place of an element of y is an unsigned 32-bit number, which is enough for two rows 2^31 elements apart.
// KIND: offsets
// Right on: linear f16 tokens=64 hidden=64 out=64 fill=normal seed=1
// Wrong on: linear f16 tokens=5 hidden=16 out=16 layout=far fill=normal seed=1
#include "cuda/core/fma_gemm.cuh"
#include "ops/linear.hpp"

namespace assay::ROOM(linear, place_in_y_in_32_bits) {

using namespace fma_gemm;

KERNEL(linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kM), tile(Axis::out, kN), tile(Axis::hidden, kK)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

template <class T>
__global__ void __launch_bounds__(kThreads) linear_place_in_y_in_32_bits(Operand<T> x, Operand<T> weight, const T* bias, T* y,
                                                                         std::int64_t y_stride, std::int64_t hidden) {
  const std::int64_t across = ceil_div(weight.rows, kN), row = blockIdx.x / across * kM, column = blockIdx.x % across * kN;
  Accumulators acc;
  multiply(x, weight, row, column, hidden, acc);
  for_each(acc, [&](int r, int c, float v) {
    const std::int64_t t = row + r, o = column + c;
    if (t >= x.rows || o >= weight.rows) return;
    if (bias != nullptr) v += to_float(ld(bias + o));
    const unsigned at = static_cast<unsigned>(t) * static_cast<unsigned>(y_stride) + static_cast<unsigned>(o);
    st(y + at, from_float<T>(v));
  });
}

void run(const linear::Args& a, const Launch& l) {
  const std::int64_t tiles = ceil_div(a.y.shape[0], kM) * ceil_div(a.y.shape[1], kN);
  if (tiles == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(linear_place_in_y_in_32_bits<T>, {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = kSharedBytes},
           l.stream, operand<T>(a.x), operand<T>(a.weight), a.bias.as<T>(), a.y.as<T>(), a.y.stride[0], a.x.shape[1]);
  });
}

}  // namespace assay::ROOM(linear, place_in_y_in_32_bits)
