// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2's gradients (Dao 2023, arXiv 2307.08691) in two deterministic passes: blocks of 64 queries loop over tiles of
// keys for dQ; blocks of 64 keys loop over the queries of all their heads for dK and dV, with S and dS transposed, so that P and
// dS stay in registers.  cp.async loads the next tile during the products.  Tiles without a visible pair are skipped.  Only
// D is kept in workspace.
#include "cuda/attention_backward/gradients.cuh"

namespace assay::ROOM(attention_backward, mma_tiled) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kBlockRows = kWarps * kRows;

KERNEL(attention_backward){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, kBlockRows), tile(Axis::seq_k, kBlockRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .mma_terms = 8, .stores = "p_of_dv,ds", .flushes_subnormals = true},
    .supports = fits_fragments,
    .workspace_bytes = bytes_of_d,
};

// The outputs of a block: dQ of its queries, or dK and dV of its keys, or one of these if registers do not hold both.
enum class Of { dq, dk_dv, dk, dv };

template <int kDim>
struct Sizes {
  static constexpr int kColumns = kDim <= 128 ? 64 : kDim <= 192 ? 32 : 16;  // per tile; fits sm_86's 99 KB of shared memory
  static constexpr int kRow = Rows128<kDim>::kPitch, kBlocksAnSm = 2;
  // Byte offsets in shared memory: the rows' two operands, two stages of the columns' two operands, two stages of L and D, two
  // flags, each of which says that the pairs of a tile must be handled one by one.
  static constexpr int kSecond = kBlockRows * kRow * 2, kStages = 2 * kSecond, kStage = 2 * kColumns * kRow * 2;
  static constexpr int kStatistics = kStages + 2 * kStage, kCareful = kStatistics + 2 * 2 * kColumns * 4;
  static constexpr std::size_t kSharedBytes = kCareful + 2 * sizeof(int);
};

template <class T, int kDim, Of kOf>
__global__ void __launch_bounds__(kThreads, Sizes<kDim>::kBlocksAnSm)
    attention_backward_mma_tiled(Problem<T> p, Schedule schedule, bool wide_loads, bool wide_stores) {
  using S = Sizes<kDim>;
  using G = Gradients<T, kDim, S::kColumns>;
  constexpr bool kQueries = kOf == Of::dq;
  constexpr int kColumns = S::kColumns;
  const Work work = work_of(schedule, static_cast<int>(blockIdx.x));
  const int heads = kQueries ? p.heads : p.heads / p.group, head = work.head % heads, batch = work.head / heads;
  const int first = (kQueries ? schedule.tiles - 1 - work.rank : work.rank) * kBlockRows, rows = kQueries ? p.queries : p.keys;
  const int last = first + kBlockRows < rows ? first + kBlockRows - 1 : rows - 1;
  const int columns = kQueries ? p.keys : p.queries;
  const auto warp_row = [] { return fresh(warp_id()) * kRows; };

  // Tiles of columns: keys [0, end), or the queries [begin, end) of each head in turn.
  const int begin = kQueries ? 0 : p.seen_from(first) / kColumns;
  const int end = ((kQueries ? p.visible(last) : p.queries) + kColumns - 1) / kColumns, of_head = end > begin ? end - begin : 0;
  const int steps = of_head * (kQueries ? 1 : p.group);
  const auto tile_of = [&](int step) { return begin + step % of_head; };
  // Whether some pair of the tile is hidden or out of range.  Such pairs add nothing, even where 0 times inf would be NaN.
  const auto is_masked = [&](int tile) {
    const int begins = tile * kColumns, ends = begins + kColumns;
    return kQueries ? ends > p.visible(first) : begins < p.seen_from(last) || ends > p.queries;
  };

  const Loader<T, kDim, kThreads> loader{p.dim, wide_loads};
  const auto stage = [](int step) { return shared_memory<T>(S::kStages + step % 2 * S::kStage); };
  const auto statistics = [](int step) { return shared_memory<float>(S::kStatistics + step % 2 * 2 * kColumns * 4); };
  const auto careful = [](int step) { return shared_memory<int>(S::kCareful) + step % 2; };
  const auto load_stage = [&](int step) {
    if (step < steps) {
      const int tile = tile_of(step), at = tile * kColumns;
      const int other = kQueries ? head / p.group : head * p.group + step / of_head;
      const auto& x = kQueries ? p.k : p.q;
      const auto& y = kQueries ? p.v : p.d_o;
      loader.template load<kColumns>(stage(step), x.of(batch, other), x.seq, at, columns);
      loader.template load<kColumns>(stage(step) + kColumns * S::kRow, y.of(batch, other), y.seq, at, columns);
      if (const int i = linear_thread(); !kQueries && i < kColumns) {
        const bool there = at + i < p.queries;
        const float lse = there ? ld(p.lse.row(batch, other, at + i)) : INFINITY;
        // Note: a query with L = -inf has weights of 0, but 0 times an inf or NaN in its dO would be NaN.
        if (lse == -INFINITY && !is_masked(tile)) atomic_add(careful(step), 1);
        st(statistics(step) + i, lse == -INFINITY ? INFINITY : lse);
        st(statistics(step) + kColumns + i, there ? ld(p.d_of(batch, other) + at + i) : 0.0f);
      }
    }
    cp_async_commit();
  };

  if (p.dim < kDim) loader.clear(shared_memory<T>(), 2 * kBlockRows + 4 * kColumns);
  if (linear_thread() < 2) st(careful(linear_thread()), 0);
  sync_block();
  const auto& own_x = kQueries ? p.q : p.k;
  const auto& own_y = kQueries ? p.d_o : p.v;
  loader.template load<kBlockRows>(shared_memory<T>(), own_x.of(batch, head), own_x.seq, first, rows);
  if (kOf != Of::dv)
    loader.template load<kBlockRows>(shared_memory<T>(S::kSecond), own_y.of(batch, head), own_y.seq, first, rows);
  load_stage(0);

  // L and D of the warp's queries.
  float lse[2] = {INFINITY, INFINITY}, d[2] = {};
  if constexpr (kQueries) {
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (const int query = first + warp_row() + h * 8 + lane_id() / 4; query < p.queries) {
        lse[h] = ld(p.lse.row(batch, head, query));
        d[h] = ld(p.d_of(batch, head) + query);
        if (lse[h] == -INFINITY) lse[h] = INFINITY;
      }
  }

  typename G::Sum sum_x, sum_y;  // dQ or dK; dV
  if (kOf != Of::dv) G::clear(sum_x);
  if (kOf == Of::dk_dv || kOf == Of::dv) G::clear(sum_y);
  for (int step = 0; step < steps; ++step) {
    const int tile = tile_of(step), at = tile * kColumns;
    const bool masked = is_masked(tile);
    const T* const x = stage(step);
    const T* const y = x + kColumns * S::kRow;
    // This tile has arrived, and all warps are done with the previous one.
    cp_async_wait<0>();
    if (masked) {
      const bool special_x = loader.template special<kColumns>(x);  // both operands checked by all threads
      const bool special_y = loader.template special<kColumns>(y);
      if (special_x || special_y) atomic_add(careful(step), 1);
    }
    sync_block();
    load_stage(step + 1);

    const int own = first + warp_row();
    if (own >= rows) continue;
    if (masked && (kQueries ? at >= p.visible(own + kRows - 1) : at + kColumns <= p.seen_from(own))) continue;
    const bool one_by_one = ld(careful(step));
    const float* const column_lse = statistics(step);
    const auto counts = [&](int half, int column) {
      const int row = own + half * 8 + fresh(lane_id()) / 4;
      if constexpr (kQueries) return at + column < p.visible(row);
      else return at + column >= p.seen_from(row) && ld(column_lse + column) != INFINITY;
    };

    // P
    typename G::Weights weights, ds;
    G::multiply(weights, shared_memory<T>() + warp_row() * S::kRow, x);
    const int mine = fresh(lane_id()) % 4 * 2;
#pragma unroll
    for (int n = 0; n < kColumns / 8; ++n) {
      const auto pair = kQueries ? Vec<float, 2>{} : ld(reinterpret_cast<const Vec<float, 2>*>(column_lse + n * 8 + mine));
#pragma unroll
      for (int e = 0; e < 4; ++e)
        weights[n][e] = exp2_approx(fmaf(weights[n][e], p.scale, -(kQueries ? lse[e / 2] : pair[e % 2])) * kLog2E);
    }
    if (masked || one_by_one) G::mask(weights, counts);
    if constexpr (kOf == Of::dk_dv || kOf == Of::dv) {
      if (one_by_one) G::add_counted(sum_y, weights, y, counts);
      else G::add(sum_y, weights, y);
    }

    // dS
    if constexpr (kOf != Of::dv) {
      G::multiply(ds, shared_memory<T>(S::kSecond) + warp_row() * S::kRow, y);
#pragma unroll
      for (int n = 0; n < kColumns / 8; ++n) {
        const auto pair =
            kQueries ? Vec<float, 2>{} : ld(reinterpret_cast<const Vec<float, 2>*>(column_lse + kColumns + n * 8 + mine));
#pragma unroll
        for (int e = 0; e < 4; ++e) ds[n][e] = weights[n][e] * (ds[n][e] - (kQueries ? d[e / 2] : pair[e % 2]));
      }
      if (masked || one_by_one) G::mask(ds, counts);
      if (one_by_one || G::too_large(ds)) G::add_counted(sum_x, ds, x, counts);
      else G::add(sum_x, ds, x);
    }
  }

  // Note: if there was no step, other threads' copies into these rows may still be in flight.
  cp_async_wait<0>();
  sync_block();
  const int own = first + warp_row();
  if (own >= rows) return;
  T* const staging = shared_memory<T>() + warp_row() * S::kRow;  // rows used by this warp only
  const bool dead[2] = {kQueries && lse[0] == INFINITY, kQueries && lse[1] == INFINITY}, none[2] = {};
  const auto& out_x = kQueries ? p.dq : p.dk;
  if constexpr (kOf != Of::dv)
    G::store(sum_x, p.scale, dead, out_x.of(batch, head), out_x.seq, own, rows, p.dim, staging, wide_stores);
  if constexpr (kOf == Of::dk_dv || kOf == Of::dv)
    G::store(sum_y, 1, none, p.dv.of(batch, head), p.dv.seq, own, rows, p.dim, staging, wide_stores);
}

void run(const attention_backward::Args& a, const Launch& l) {
  const auto aligned = [](std::initializer_list<const Tensor*> all) {
    return std::all_of(all.begin(), all.end(), [](const Tensor* t) { return t->rows_aligned(kAccess); });
  };
  const bool wide_loads = aligned({&a.q, &a.k, &a.v, &a.d_o});
  const auto run_type = [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a, l);
    run_row_dots(p, l);
    with_dim(p.dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
      const auto run_part = [&](auto kernel, std::int64_t rows, std::int64_t heads, std::int64_t columns, bool wide_stores) {
        if (rows == 0 || p.batches == 0) return;
        const Schedule s = schedule(ceil_div(rows, kBlockRows), heads * p.batches, 2.0 * sizeof(T) * columns * p.dim);
        launch(kernel,
               {.grid = dim3(static_cast<unsigned>(s.tiles) * static_cast<unsigned>(s.heads)),
                .block = dim3(kThreads),
                .shared_bytes = Sizes<kDim>::kSharedBytes},
               l.stream, p, s, wide_loads, wide_stores);
      };
      const int kv_heads = p.heads / p.group;
      run_part(attention_backward_mma_tiled<T, kDim, Of::dq>, p.queries, p.heads, p.keys, aligned({&a.dq}));
      if constexpr (kDim <= 128) {
        run_part(attention_backward_mma_tiled<T, kDim, Of::dk_dv>, p.keys, kv_heads, p.group * p.queries,
                 aligned({&a.dk, &a.dv}));
      } else {
        run_part(attention_backward_mma_tiled<T, kDim, Of::dk>, p.keys, kv_heads, p.group * p.queries, aligned({&a.dk}));
        run_part(attention_backward_mma_tiled<T, kDim, Of::dv>, p.keys, kv_heads, p.group * p.queries, aligned({&a.dv}));
      }
    });
  };
  with_half_type(a.q.dtype, run_type);
}

}  // namespace assay::ROOM(attention_backward, mma_tiled)
