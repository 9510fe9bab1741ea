// SPDX-License-Identifier: Apache-2.0
// Launch of the split kernels: selects the instance for head_dim, alignment and number of queries.
#pragma once

#include "cuda/paged_attention/split.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

inline Legality split_supports(const paged_attention::Args& a) {
  if (a.q.shape[3] > kMostChannels) return Legality::no("head_dim exceeds 256");
  return extents_fit(a);
}

// Whether rows of the pools consist of whole 16-byte packs.
inline bool packed(const paged_attention::Args& a) {
  return a.k_pool.rows_aligned(16) && a.v_pool.rows_aligned(16) && a.q.shape[3] * size_of(a.q.dtype) % 16 == 0;
}
// Queries per block: those that share a key/value head, up to eight; up to four if rows are not packed, a slow case anyway.
inline int split_rows(const paged_attention::Args& a) {
  const std::int64_t rows = a.q.shape[1] * (a.q.shape[2] / a.k_pool.shape[2]);
  return !packed(a) ? 4 : rows == 1 ? 1 : rows <= 4 ? 4 : 8;
}
inline std::int64_t split_chunks(const paged_attention::Args& a) {
  return ceil_div(a.q.shape[1] * (a.q.shape[2] / a.k_pool.shape[2]), split_rows(a));
}

template <class T, int kDim, int kRows, bool kPacked>
void launch_split(const paged_attention::Args& a, const Launch& l, const Splits& splits) {
  const Problem<T> p = problem<T>(a);
  const double scale_log2e = a.scale_used() * 1.4426950408889634;
  launch(paged_attention_split<T, kDim, kRows, kPacked>,
         {.grid = dim3(std::int64_t{p.batches} * p.kv_heads * splits.chunks * splits.count),
          .block = dim3(kSplitThreads),
          .shared_bytes = kSplitWarps * kRows * (kDim + 2) * sizeof(float)},
         l.stream, p, splits, static_cast<float>(scale_log2e));
  if (splits.parts == nullptr) return;
  launch(paged_attention_join<T>, {.grid = dim3(std::int64_t{p.batches} * p.queries * p.heads), .block = dim3(kSplitThreads)},
         l.stream, p, splits, Stream<T, kDim, kPacked>::kStep);
}

template <class T, int kDim>
void choose_rows(const paged_attention::Args& a, const Launch& l, const Splits& splits) {
  if (!packed(a)) return launch_split<T, kDim, 4, false>(a, l, splits);
  switch (split_rows(a)) {
    case 1: return launch_split<T, kDim, 1, true>(a, l, splits);
    case 4: return launch_split<T, kDim, 4, true>(a, l, splits);
    default: return launch_split<T, kDim, 8, true>(a, l, splits);
  }
}

// `each`: positions per split; 0: equal parts of every sequence.
inline void run_splits(const paged_attention::Args& a, const Launch& l, std::int64_t count, int each) {
  if (nothing_to_do(a)) return;
  const Splits splits{.count = static_cast<int>(count),
                      .each = each,
                      .chunks = static_cast<int>(split_chunks(a)),
                      .parts = count > 1 ? static_cast<float*>(l.workspace) : nullptr};
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const std::int64_t dim = a.q.shape[3];
    if (dim <= 64) choose_rows<T, 64>(a, l, splits);
    else if (dim <= 128) choose_rows<T, 128>(a, l, splits);
    else choose_rows<T, 256>(a, l, splits);
  });
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
