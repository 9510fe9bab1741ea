// SPDX-License-Identifier: Apache-2.0
// FAULT: rows are copied in whole packs where there is room for them, so what lies between the rows of y is overwritten.
// Kind: layout
// Shows: y and table with padded rows and a hidden size that is no multiple of a pack.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, pads_of_y_overwritten) {

template <class T, int N>
__global__ void embedding_whole_packs(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const auto* const from = reinterpret_cast<const Vec<T, N>*>(m.table + id * m.table_stride);
  auto* const to = reinterpret_cast<Vec<T, N>*>(m.y + token * m.y_stride);
  for (std::int64_t i = threadIdx.x; i < ceil_div(m.hidden, N); i += kPlainThreads) st(to + i, ld(from + i));
}

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    const std::int64_t padded = ceil_div(hidden, N) * N;
    const bool room = a.y.stride[0] >= padded && a.table.stride[0] >= padded;
    if (!room || tokens == 1 || !a.y.rows_aligned(16) || !a.table.rows_aligned(16)) return run_plain<Plain>(a, l);
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_whole_packs<T, N>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, pads_of_y_overwritten)
