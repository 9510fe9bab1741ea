// SPDX-License-Identifier: Apache-2.0
// One thread per channel walks through the steps.
#include "cuda/core/kernel.cuh"
#include "gated_scan.hpp"

namespace assay::ROOM(gated_scan, naive) {

inline constexpr int kThreads = 128;

KERNEL(gated_scan){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(gated_scan::channels, kThreads)},
    .numerics = {.accumulate = f32},
};

struct Strides {
  std::int64_t batch, step;
};

template <class T>
__global__ void gated_scan_naive(const T* gate, const T* x, const float* first, T* y, float* last, std::int64_t steps,
                                 std::int64_t channels, Strides of_gate, Strides of_x, Strides of_y, std::int64_t first_stride,
                                 std::int64_t last_stride) {
  const std::int64_t b = blockIdx.x, channel = static_cast<std::int64_t>(blockIdx.y) * kThreads + threadIdx.x;
  if (channel >= channels) return;
  float h = ld(first + b * first_stride + channel);
  for (std::int64_t t = 0; t < steps; ++t) {
    const float open = to_float(ld(gate + b * of_gate.batch + t * of_gate.step + channel));
    h = open * h + to_float(ld(x + b * of_x.batch + t * of_x.step + channel));
    st(y + b * of_y.batch + t * of_y.step + channel, from_float<T>(h));
  }
  st(last + b * last_stride + channel, h);
}

void run(const gated_scan::Args& a, const Launch& l) {
  const std::int64_t batch = a.y.shape[0], steps = a.y.shape[1], channels = a.y.shape[2];
  if (batch * channels == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const auto strides = [](const Tensor& t) { return Strides{t.stride[0], t.stride[1]}; };
    launch(gated_scan_naive<T>, {.grid = dim3(batch, ceil_div(channels, kThreads)), .block = dim3(kThreads)}, l.stream,
           a.gate.as<T>(), a.x.as<T>(), a.first.as<float>(), a.y.as<T>(), a.last.as<float>(), steps, channels, strides(a.gate),
           strides(a.x), strides(a.y), a.first.stride[0], a.last.stride[0]);
  });
}

}  // namespace assay::ROOM(gated_scan, naive)
