// SPDX-License-Identifier: Apache-2.0
// FAULT: one block a token keeps h in shared memory, and nobody waits for it before the second product. Right on one warp.
// Caught by: simt, where the threads of a block come in several orders: units that nobody wrote are NaN.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, missing_barrier) {

inline constexpr int kThreads = 128;

Legality supports(const ffn_gelu::Args& a) {
  if (a.w1.shape[0] > 8192) return Legality::no("more than 8192 units");
  return Legality::yes();
}

KERNEL(ffn_gelu){
    .dtypes = kEveryType,
    .tiles = {tile(Axis::hidden, kThreads), tile(Axis::ffn, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .supports = supports,
};

template <class T>
__global__ void missing_barrier(const T* x, const T* w1, const T* b1, const T* w2, const T* b2, T* y, std::int64_t hidden,
                                std::int64_t ffn, std::int64_t x_stride, std::int64_t w1_stride, std::int64_t w2_stride,
                                std::int64_t y_stride, Unit unit) {
  float* const h = shared_memory<float>();
  x += blockIdx.x * x_stride;
  y += blockIdx.x * y_stride;
  for (std::int64_t f = threadIdx.x; f < ffn; f += kThreads) {
    float z = 0;
    for (std::int64_t i = 0; i < hidden; ++i) z = fmaf(to_float(ld(x + i)), to_float(ld(w1 + f * w1_stride + i)), z);
    st(h + f, unit(z, b1 != nullptr ? to_float(ld(b1 + f)) : 0.0f));
  }
  for (std::int64_t o = threadIdx.x; o < hidden; o += kThreads) {
    float sum = 0;
    for (std::int64_t f = 0; f < ffn; ++f) sum = fmaf(ld(h + f), to_float(ld(w2 + o * w2_stride + f)), sum);
    st(y + o, from_float<T>(b2 != nullptr ? sum + to_float(ld(b2 + o)) : sum));
  }
}

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(missing_barrier<T>,
           {.grid = dim3(tokens), .block = dim3(kThreads), .shared_bytes = static_cast<std::size_t>(ffn) * sizeof(float)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), a.x.shape[1], ffn,
           a.x.stride[0], a.w1.stride[0], a.w2.stride[0], a.y.stride[0], Unit{a.form});
  });
}

}  // namespace assay::ROOM(ffn_gelu, missing_barrier)
