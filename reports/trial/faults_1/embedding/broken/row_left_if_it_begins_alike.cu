// SPDX-License-Identifier: Apache-2.0
// FAULT: a row of y that already begins with the first two elements of its row of the table is taken for copied before, and
// left.
// Kind: cheats
// Shows: a y whose old content begins a row as the table's does and then differs.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, row_left_if_it_begins_alike) {

template <class T>
__global__ void embedding_if_changed(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const T* const from = m.table + id * m.table_stride;
  T* const to = m.y + token * m.y_stride;
  const bool alike = m.hidden >= 2 && to_float(ld(to)) == to_float(ld(from)) && to_float(ld(to + 1)) == to_float(ld(from + 1));
  sync_block();
  if (alike) return;
  for (std::int64_t h = threadIdx.x; h < m.hidden; h += kPlainThreads) st(to + h, ld(from + h));
}

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_if_changed<T>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, row_left_if_it_begins_alike)
