// SPDX-License-Identifier: Apache-2.0
// FAULT: 16-bit rows with even strides are copied in words of two elements, and the last element of an odd row is left out.
// Kind: combinations
// Shows: f16 and bf16 with an odd hidden and even strides of table and y.
#include "cuda/embedding/broken/plain.cuh"

namespace assay::ROOM(embedding, half_of_last_word_not_copied) {

template <class T>
__global__ void embedding_words(Rows<T> m) {
  const std::int64_t token = blockIdx.x, id = ld(m.ids + token);
  const auto* const from = reinterpret_cast<const unsigned*>(m.table + id * m.table_stride);
  auto* const to = reinterpret_cast<unsigned*>(m.y + token * m.y_stride);
  for (std::int64_t i = threadIdx.x; i < m.hidden * static_cast<std::int64_t>(sizeof(T)) / 4; i += kPlainThreads)
    st(to + i, ld(from + i));
}

KERNEL(embedding) = plain_traits<Plain>();

void run(const embedding::Args& a, const Launch& l) {
  const std::int64_t tokens = a.y.shape[0], hidden = a.y.shape[1];
  if (tokens * hidden == 0) return;
  if (!a.y.rows_aligned(4) || !a.table.rows_aligned(4)) return run_plain<Plain>(a, l);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const Rows<T> m{a.table.as<T>(), a.ids.as<std::int32_t>(), a.y.as<T>(), hidden, a.table.stride[0], a.y.stride[0]};
    launch(embedding_words<T>, {.grid = dim3(tokens), .block = dim3(kPlainThreads)}, l.stream, m);
  });
}

}  // namespace assay::ROOM(embedding, half_of_last_word_not_copied)
