// SPDX-License-Identifier: Apache-2.0
// FlashAttention: 128 queries of a head (64 if head_dim > 128) against tiles of 64 keys; scores
// are never written.  mma.m16n8k16 with ldmatrix from swizzled shared memory; a warp owns 32 queries, so each fragment of K and V
// feeds two mma.  cp.async loads V during Q K^T and the next K during softmax and P V.  Tiles that no query sees are skipped;
// only partly visible tiles are masked.  With rope, Q and K are rotated in shared memory.
#include "cuda/attention_forward/flash.cuh"
#include "cuda/attention_forward/rotated_tile.cuh"

namespace assay::ROOM(attention_forward, mma_tiled) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kKeys = 64;

std::size_t workspace_bytes(const attention_forward::Args& a) { return a.rope.rotary(a.q.shape[3]) ? turns_bytes(a) : 0; }

KERNEL(attention_forward){
    .dtypes = {f16, bf16},
    .min_arch = 80,
    .tiles = {tile(Axis::seq_q, 128), tile(Axis::seq_k, kKeys)},
    // A lane sums 16 of a tile's weights; the four lanes of a row are added at the end.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kKeys, .extra = 16 + 2},
                 .mma_terms = 8,
                 .stores = "rotated,exps",
                 .flushes_subnormals = true,
                 .angle_error = kAngleError,
                 .reduced_angle_error = kReducedAngleError,
                 .rescales = {.lanes = kKeys}},
    .supports = fits_fragments,
    .workspace_bytes = workspace_bytes,
};

template <int kDim>
struct Sizes {
  static constexpr int kTilesM = kDim <= 128 ? 2 : 1, kQueries = kWarps * kTilesM * 16;
  static constexpr int kRow = Rows128<kDim>::kPitch;
  static constexpr int kBlocksAnSm = 2;
  // Byte offsets in shared memory: q, k, v, and a flag that V holds inf or NaN.
  static constexpr int kK = kQueries * kRow * 2, kV = kK + kKeys * kRow * 2, kSpecial = kV + kKeys * kRow * 2;
  static constexpr std::size_t kSharedBytes = kSpecial + sizeof(int);
};

// kRotated: with rope (kGeneral as well).  kGeneral: with a window, softcap or packed sequences.
template <class T, int kDim, bool kGeneral, bool kRotated>
__global__ void __launch_bounds__(kThreads, Sizes<kDim>::kBlocksAnSm)
    attention_forward_mma_tiled(Problem<T> p, Schedule schedule, bool wide_loads, bool wide_stores, Turns turns) {
  using S = Sizes<kDim>;
  QueryTile work = query_tile(schedule, static_cast<int>(blockIdx.x));
  if constexpr (kGeneral) {
    if (p.q_starts) work.tile = p.take(work.tile, S::kQueries);
    if (work.tile < 0) return;
  }
  const int first_query = work.tile * S::kQueries;
  const T* const keys = p.k.of(work.batch, work.head / p.group);
  const T* const values = p.v.of(work.batch, work.head / p.group);

  // Tiles [begin, tiles) are visible to some query, tiles [whole_from, whole) to every one.
  const int last_query = first_query + S::kQueries < p.queries ? first_query + S::kQueries : p.queries;
  const int whole = p.visible(first_query) / kKeys, tiles = (p.visible(last_query - 1) + kKeys - 1) / kKeys;
  const int begin = kGeneral ? p.first_visible(first_query) / kKeys : 0;
  const int whole_from = kGeneral ? (p.first_visible(last_query - 1) + kKeys - 1) / kKeys : 0;
  // The first query of this warp in the tile; and whether any of its queries sees keys from `key` on.
  const auto warp_query = [] { return fresh(warp_id()) * S::kTilesM * 16; };
  const auto sees = [&](int key) {
    const int first = first_query + warp_query();
    return first < p.queries && key < p.visible(first + S::kTilesM * 16 - 1);
  };

  const Loader<T, kDim, kThreads> loader{p.dim, wide_loads};
  const auto load_keys = [&](int tile) {
    if (tile < tiles) loader.template load<kKeys>(shared_memory<T>(S::kK), keys, p.k.seq, tile * kKeys, p.keys);
    cp_async_commit();
  };
  if (p.dim < kDim) loader.clear(shared_memory<T>(), S::kQueries + 2 * kKeys);
  loader.template load<S::kQueries>(shared_memory<T>(), p.q.of(work.batch, work.head), p.q.seq, first_query, p.queries);
  load_keys(begin);
  if (linear_thread() == 0) st(shared_memory<int>(S::kSpecial), 0);
  const TileRotator<T, kDim, kThreads> rotator{turns, p.rope.rotary / 2, p.rope.interleaved};
  if constexpr (kRotated) {
    cp_async_wait<0>();
    sync_warp();
    rotator.template rotate<S::kQueries>(shared_memory<T>(), first_query, p.queries, p.place(0));
  }

  Flash<T, Mma16, kDim, S::kTilesM, kKeys, kGeneral> flash;
  flash.start();
  const float c = kGeneral && p.cap > 0 ? kLog2E : p.scale * kLog2E;
  for (int tile = begin; tile < tiles; ++tile) {
    const bool masked = tile >= whole || tile < whole_from;
    // K has arrived, and all warps are done with the last V.
    cp_async_wait<0>();
    if constexpr (kRotated) {
      sync_warp();
      rotator.template rotate<kKeys>(shared_memory<T>(S::kK), tile * kKeys, p.keys, 0);
    }
    sync_block();
    loader.template load<kKeys>(shared_memory<T>(S::kV), values, p.v.seq, tile * kKeys, p.keys);
    cp_async_commit();
    const bool active = !masked || sees(tile * kKeys);
    typename decltype(flash)::Scores s;
    if (active) flash.multiply_keys(s, shared_memory<T>() + warp_query() * S::kRow, shared_memory<T>(S::kK));

    // V has arrived, and all warps are done with this K.
    cp_async_wait<0>();
    if (masked && loader.template special<kKeys>(shared_memory<T>(S::kV))) atomic_add(shared_memory<int>(S::kSpecial), 1);
    sync_block();
    load_keys(tile + 1);
    if (!active) continue;
    if (kGeneral && p.cap > 0) flash.limit(s, p.scale, p.cap);
    if (masked) flash.mask(s, p, first_query + warp_query(), tile * kKeys);
    flash.weigh(s, c);
    if (masked && ld(shared_memory<int>(S::kSpecial)))
      flash.add_visible_values(s, shared_memory<T>(S::kV), p, first_query + warp_query(), tile * kKeys);
    else flash.add_values(s, shared_memory<T>(S::kV));
  }

  // Recomputed, to save registers.
  const QueryTile end = kGeneral ? work : query_tile(schedule, fresh(static_cast<int>(blockIdx.x)));
  const int query = end.tile * S::kQueries + warp_query();
  cp_async_wait<0>();
  sync_block();
  if (query < p.queries)
    flash.template finish<true>(p, end.batch, end.head, query, shared_memory<T>() + warp_query() * S::kRow, wide_stores);
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  const bool wide_loads = a.q.rows_aligned(kAccess) && a.k.rows_aligned(kAccess) && a.v.rows_aligned(kAccess);
  const auto run_type = [&]<class T>(Type<T>) {
    const Problem<T> p = problem<T>(a);
    const Turns turns = p.rope.rotary ? make_turns(a, p.rope, l) : Turns{};
    with_dim(p.dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
      const Schedule s = schedule(p, Sizes<kDim>::kQueries);
      // Note: a separate instance, since windows, softcap and packed sequences need registers that the common case lacks.
      const bool general = p.cap > 0 || a.window != 0 || a.packed;
      const auto kernel = p.rope.rotary ? attention_forward_mma_tiled<T, kDim, true, true>
                          : general     ? attention_forward_mma_tiled<T, kDim, true, false>
                                        : attention_forward_mma_tiled<T, kDim, false, false>;
      launch(kernel,
             {.grid = dim3(static_cast<unsigned>(s.tiles) * static_cast<unsigned>(s.heads)),
              .block = dim3(kThreads),
              .shared_bytes = Sizes<kDim>::kSharedBytes},
             l.stream, p, s, wide_loads, a.o.rows_aligned(kAccess), turns);
    });
  };
  with_half_type(a.q.dtype, run_type);
}

}  // namespace assay::ROOM(attention_forward, mma_tiled)
