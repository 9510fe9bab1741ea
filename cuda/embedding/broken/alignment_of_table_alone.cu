// SPDX-License-Identifier: Apache-2.0
// FAULT: packs of 16 bytes are taken where the rows of the table are aligned; nobody asks whether those of y are.
// Kind: layout
// Caught by: misaligned, with layout=mixed (f16), in edges alone.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, alignment_of_table_alone) {

KERNEL(embedding) = plain_traits<Plain>();

template <class T, int N>
__global__ void copy_rows(Rows<T> m) {
  using Pack = Vec<T, N>;
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const auto* const from = reinterpret_cast<const Pack*>(m.table + id * m.table_stride);
  auto* const to = reinterpret_cast<Pack*>(m.y + token * m.y_stride);
  for (std::int64_t i = threadIdx.x; i < m.hidden / N; i += kPlainThreads) st(to + i, ld(from + i));
}

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    constexpr int N = 16 / sizeof(T);
    if (!a.table.rows_aligned(16) || hidden % N != 0) return run_plain<Plain>(a, l);
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(copy_rows<T, N>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, alignment_of_table_alone)
