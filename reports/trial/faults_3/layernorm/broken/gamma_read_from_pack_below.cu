// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are read in packs if x and y allow it, and gamma and beta are then read from the pack below where they start.
// Kind: layout
// Shows: gamma or beta that do not start at a multiple of 16 bytes while x and y do.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, gamma_read_from_pack_below) {

template <class T, int N>
__global__ void layernorm_packs(Rows<T> m) {
  using Pack = Vec<T, N>;
  const auto* const x = reinterpret_cast<const Pack*>(m.x + blockIdx.x * m.x_stride);
  auto* const y = reinterpret_cast<Pack*>(m.y + blockIdx.x * m.y_stride);
  const auto down = [](const T* p) {
    return reinterpret_cast<const Pack*>(reinterpret_cast<std::uintptr_t>(p) / sizeof(Pack) * sizeof(Pack));
  };
  const Pack *const gamma = down(m.gamma), *const beta = down(m.beta);
  const std::int64_t packs = m.cols / N;
  float sum = 0, squares = 0;
  for (std::int64_t i = threadIdx.x; i < packs; i += kPlainThreads) {
    const Pack v = ld(x + i);
    for (int j = 0; j < N; ++j) sum += to_float(v[j]);
  }
  const float mean = block_sum(sum, shared_memory<float>()) / static_cast<float>(m.cols);
  for (std::int64_t i = threadIdx.x; i < packs; i += kPlainThreads) {
    const Pack v = ld(x + i);
    for (int j = 0; j < N; ++j) squares = fmaf(to_float(v[j]) - mean, to_float(v[j]) - mean, squares);
  }
  const float r = 1.0f / sqrtf(block_sum(squares, shared_memory<float>()) / static_cast<float>(m.cols) + m.epsilon);
  for (std::int64_t i = threadIdx.x; i < packs; i += kPlainThreads) {
    const Pack v = ld(x + i), g = ld(gamma + i), b = ld(beta + i);
    float out[N];
    for (int j = 0; j < N; ++j) out[j] = fmaf((to_float(v[j]) - mean) * r, to_float(g[j]), to_float(b[j]));
    st(y + i, from_floats<T>(out));
  }
}

KERNEL(layernorm){.dtypes = kEveryType,
                  .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
                  .numerics = {.accumulate = f32, .chain = {.lanes = kPlainThreads, .extra = 18}}};

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    if (a.x.shape[1] % N != 0 || !a.x.rows_aligned(16) || !a.y.rows_aligned(16)) return run_plain<Plain>(a, l);
    launch(layernorm_packs<T, N>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = row_norm::kScratchBytes}, l.stream,
           row_norm::matrices<T>(a));
  });
}

}  // namespace assay::ROOM(layernorm, gamma_read_from_pack_below)
