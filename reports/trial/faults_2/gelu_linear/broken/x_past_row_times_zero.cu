// SPDX-License-Identifier: Apache-2.0
// FAULT: tiles of 16 channels: beyond the end of a row of x the next row is read, as the weights there are zero; an infinity or
// NaN of that row makes the sum NaN.
// Kind: concurrency
// Shows: hidden not a multiple of 16, with a NaN or an infinity at the beginning of the next row, or nothing mapped between
// rows.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, x_past_row_times_zero) {

inline constexpr int kSide = 16;

template <class T>
__global__ void tiled(Operands<T> p, std::int64_t across) {
  float* const x = shared_memory<float>();
  float* const w = x + kSide * kSide;
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const std::int64_t first_token = blockIdx.x / across * kSide, first_o = blockIdx.x % across * kSide;
  const std::int64_t token = first_token + row, o = first_o + column, loaded = first_o + row;
  float sum = 0;
  for (std::int64_t k = 0; k < p.hidden; k += kSide) {
    const std::int64_t h = k + column;
    const bool readable = token + 1 < p.tokens || (token < p.tokens && h < p.hidden);
    st(x + row * kSide + column, readable ? p.x_at(token, h) : 0.0f);
    st(w + row * kSide + column, loaded < p.out && h < p.hidden ? p.weight_at(loaded, h) : 0.0f);
    sync_block();
#pragma unroll
    for (int i = 0; i < kSide; ++i) sum = fmaf(ld(x + row * kSide + i), ld(w + column * kSide + i), sum);
    sync_block();
  }
  if (token < p.tokens && o < p.out)
    st(p.y + token * p.y_stride + o, from_float<T>(Plain<T>::gelu(p, Plain<T>::add_bias(p, sum, o), o)));
}

KERNEL(gelu_linear) = {.dtypes = kEveryType,
                       .tiles = {tile(Axis::tokens, kSide), tile(Axis::out, kSide), tile(Axis::hidden, kSide)},
                       .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const gelu_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),   a.weight.as<T>(), a.bias.as<T>(),     a.y.as<T>(),   a.y.shape[0], a.x.shape[1],
                        a.y.shape[1],  a.x.stride[0],    a.weight.stride[0], a.y.stride[0], a.form == Activation::gelu_erf};
    const std::int64_t across = ceil_div(p.out, kSide);
    launch(tiled<T>,
           {.grid = dim3(ceil_div(p.tokens, kSide) * across),
            .block = dim3(kSide, kSide),
            .shared_bytes = 2 * kSide * kSide * sizeof(float)},
           l.stream, p, across);
  });
}

}  // namespace assay::ROOM(gelu_linear, x_past_row_times_zero)
