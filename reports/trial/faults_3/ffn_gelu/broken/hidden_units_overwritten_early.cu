// SPDX-License-Identifier: Apache-2.0
// FAULT: a block makes 128 units of h at a time in shared memory, and begins the next ones before all warps have used the last.
// Kind: concurrency
// Shows: ffn above 128.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, hidden_units_overwritten_early) {

inline constexpr int kUnits = 128, kThreads = 128;

template <class T>
__global__ void ffn_gelu_chunks(const T* x, const T* w1, const T* b1, const T* w2, const T* b2, T* y, std::int64_t hidden,
                                std::int64_t ffn, std::int64_t x_stride, std::int64_t w1_stride, std::int64_t w2_stride,
                                std::int64_t y_stride, bool erf_form) {
  float* const h = shared_memory<float>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  float sum = 0;
  for (std::int64_t first = 0; first < ffn; first += kUnits) {
    if (const std::int64_t f = first + threadIdx.x; f < ffn) {
      float z = 0;
      for (std::int64_t c = 0; c < hidden; ++c) z = fmaf(to_float(ld(x + c)), to_float(ld(w1 + f * w1_stride + c)), z);
      if (b1 != nullptr) z += to_float(ld(b1 + f));
      st(h + threadIdx.x, erf_form ? gelu_erf(z) : gelu_tanh(z));
    }
    sync_block();
    const std::int64_t units = ffn - first < kUnits ? ffn - first : kUnits;
    for (std::int64_t u = 0; o < hidden && u < units; ++u)
      sum = fmaf(ld(h + u), to_float(ld(w2 + o * w2_stride + first + u)), sum);
  }
  if (o < hidden) st(y + o, from_float<T>(b2 != nullptr ? sum + to_float(ld(b2 + o)) : sum));
}

KERNEL(ffn_gelu){.dtypes = kEveryType,
                 .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kThreads), tile(Axis::ffn, kUnits)},
                 .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(ffn_gelu_chunks<T>,
           {.grid = dim3(a.x.shape[0], ceil_div(a.x.shape[1], kThreads)), .block = dim3(kThreads),
            .shared_bytes = kUnits * sizeof(float)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), a.x.shape[1],
           a.w1.shape[0], a.x.stride[0], a.w1.stride[0], a.w2.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(ffn_gelu, hidden_units_overwritten_early)
