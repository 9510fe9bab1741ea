// SPDX-License-Identifier: Apache-2.0
// FAULT: from 64 channels on the weight is converted into workspace, once for each pointer: the next call finds what the
// workspace then holds.
// Caught by: T4, the second run differs from the first; hidden of 64 or more.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, weights_cached) {

template <class T>
struct Wrong : Plain<T> {
  static std::size_t workspace_bytes(const linear::Args& a) {
    return a.x.shape[1] < 64 ? 0 : static_cast<std::size_t>(a.weight.size()) * sizeof(float);
  }
  template <class F>
  __device__ static float product(const Operands<T>& p, std::int64_t token, std::int64_t o) {
    if (p.hidden < 64) return Plain<T>::template product<F>(p, token, o);
    const float* const weight = static_cast<const float*>(p.workspace) + o * p.hidden;
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(p.x_at(token, h), ld(weight + h), sum);
    return sum;
  }
};

KERNEL(linear) = plain_traits<Wrong>({f16});

__global__ void weights_cached_convert(const half* weight, float* to, std::int64_t hidden, std::int64_t stride, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i < n) st(to + i, to_float(ld(weight + i / hidden * stride + i % hidden)));
}

void run(const linear::Args& a, const Launch& l) {
  static const void* converted = nullptr;
  if (a.y.size() > 0 && a.x.shape[1] >= 64 && converted != a.weight.data) {
    const std::int64_t size = a.weight.size();
    launch(weights_cached_convert, {.grid = dim3(ceil_div(size, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream,
           a.weight.as<half>(), static_cast<float*>(l.workspace), a.x.shape[1], a.weight.stride[0], size);
    converted = a.weight.data;
  }
  run_plain<Wrong>(a, l);
}

}  // namespace assay::ROOM(linear, weights_cached)
