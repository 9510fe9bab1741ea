// SPDX-License-Identifier: Apache-2.0
// FAULT: units go in chunks of 96, and those after the last whole chunk are summed up by 32 lanes, one unit each.
// Kind: offsets
// Shows: ffn mod 96 above 32.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, remaining_units_by_one_warp) {

inline constexpr int kUnits = 96;

// y of one element a warp, from h in workspace.
template <class T>
__global__ void ffn_gelu_second(const float* h, const T* w2, const T* b2, T* y, std::int64_t ffn,
                                std::int64_t w2_stride, std::int64_t y_stride) {
  const std::int64_t token = blockIdx.x, o = blockIdx.y;
  h += token * ffn, w2 += o * w2_stride;
  const std::int64_t whole = ffn / kUnits * kUnits, lane = lane_id();
  float sum = 0;
  for (std::int64_t f = 0; f < whole; f += kUnits)
#pragma unroll
    for (int i = 0; i < kUnits / kWarp; ++i) {
      const std::int64_t u = f + i * kWarp + lane;
      sum = fmaf(ld(h + u), to_float(ld(w2 + u)), sum);
    }
  if (whole + lane < ffn) sum = fmaf(ld(h + whole + lane), to_float(ld(w2 + whole + lane)), sum);
  for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
  if (lane == 0) st(y + token * y_stride + o, from_float<T>(b2 != nullptr ? sum + to_float(ld(b2 + o)) : sum));
}

KERNEL(ffn_gelu){.dtypes = kEveryType,
                 .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, 1), tile(Axis::ffn, kUnits)},
                 .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
                 .workspace_bytes = plain_workspace};

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    float* const h = static_cast<float*>(l.workspace);
    const Plain<T> steps{a.form};
    const Shape first{tokens, ffn, hidden, a.x.stride[0], a.w1.stride[0], ffn, ceil_div(ffn, kPlainOut)};
    launch(ffn_gelu_plain<T, T, float, Unit<Plain<T>>>,
           {.grid = dim3(ceil_div(tokens, kPlainTokens) * first.blocks_across), .block = dim3(kPlainOut, kPlainTokens)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), h, first, Unit<Plain<T>>{steps});
    launch(ffn_gelu_second<T>, {.grid = dim3(tokens, hidden), .block = dim3(kWarp)}, l.stream, h, a.w2.as<T>(), a.b2.as<T>(),
           a.y.as<T>(), ffn, a.w2.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(ffn_gelu, remaining_units_by_one_warp)
