// SPDX-License-Identifier: Apache-2.0
// FAULT: a token with the id of the token before it copies that token's row of y, which another block may not have written yet.
// Kind: concurrency
// Shows: neighbouring tokens with equal ids.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, repeated_id_copies_neighbour) {

template <class T>
__global__ void embedding_from_neighbour(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const bool again = token > 0 && ld(m.ids + token - 1) == id;
  const T* const from = again ? m.y + (token - 1) * m.y_stride : m.table + id * m.table_stride;
  for (std::int64_t h = threadIdx.x; h < m.hidden; h += kPlainThreads) st(m.y + token * m.y_stride + h, ld(from + h));
}

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_from_neighbour<T>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, repeated_id_copies_neighbour)
