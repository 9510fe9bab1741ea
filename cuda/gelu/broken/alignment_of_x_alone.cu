// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are taken where the rows of x are aligned; nobody asks whether those of y are.
// Kind: layout
// Caught by: misaligned, with layout=mixed (f16), in edges alone.
#include "cuda/gelu/broken/plain.cuh"

namespace assay::ROOM(gelu, alignment_of_x_alone) {

KERNEL(gelu) = plain_traits();

template <class T, int N>
__global__ void gelu_packs(const T* x, T* y, std::int64_t packs, std::int64_t across, std::int64_t x_stride,
                           std::int64_t y_stride, bool erf_form) {
  using Pack = Vec<T, N>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPlainThreads + threadIdx.x;
  if (i >= packs) return;
  const Pack z = ld(reinterpret_cast<const Pack*>(x + i / across * x_stride) + i % across);
  float v[N];
  for (int j = 0; j < N; ++j) v[j] = plain_gelu(to_float(z[j]), erf_form);
  st(reinterpret_cast<Pack*>(y + i / across * y_stride) + i % across, from_floats<T>(v));
}

void run(const gelu::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows * cols == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    if (!a.x.rows_aligned(16) || cols % N != 0) return run_plain(a, l);
    const std::int64_t across = cols / N, packs = rows * across;
    launch(gelu_packs<T, N>, {.grid = dim3(ceil_div(packs, kPlainThreads)), .block = dim3(kPlainThreads)}, l.stream, a.x.as<T>(),
           a.y.as<T>(), packs, across, a.x.stride[0], a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(gelu, alignment_of_x_alone)
