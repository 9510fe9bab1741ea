// SPDX-License-Identifier: Apache-2.0
// FAULT: ids are kept in 16 bits in shared memory.
// Kind: offsets
// Shows: ids from 65536 on.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, ids_of_16_bits) {

inline constexpr int kTogether = 32;

template <class T>
__global__ void embedding_short_ids(Rows<T> m, std::int64_t tokens) {
  auto* const ids = shared_memory<std::uint16_t>();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTogether;
  const int count = static_cast<int>(tokens - first < kTogether ? tokens - first : kTogether);
  if (static_cast<int>(threadIdx.x) < count) st(ids + threadIdx.x, static_cast<std::uint16_t>(ld(m.ids + first + threadIdx.x)));
  sync_block();
  for (int t = 0; t < count; ++t) {
    const std::int64_t id = ld(ids + t);
    for (std::int64_t h = threadIdx.x; h < m.hidden; h += kPlainThreads)
      st(m.y + (first + t) * m.y_stride + h, ld(m.table + id * m.table_stride + h));
  }
}

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_short_ids<T>,
           {.grid = dim3(ceil_div(tokens, kTogether)), .block = dim3(kPlainThreads), .shared_bytes = kTogether * 2}, l.stream, m,
           tokens);
  });
}

}  // namespace assay::ROOM(embedding, ids_of_16_bits)
