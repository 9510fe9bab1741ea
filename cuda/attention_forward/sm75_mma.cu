// SPDX-License-Identifier: Apache-2.0
// mma_tiled for sm_75: mma.m16n8k8 in f16, no cp.async, 64 KiB of shared memory.  64 queries per block, 16 per warp, against
// tiles of 64 keys (32 if head_dim > 128).  K and V alternate in one buffer: the next tile of either waits in registers during
// the products with the other.
#include "cuda/attention_forward/flash.cuh"

namespace assay::ROOM(attention_forward, sm75_mma) {

inline constexpr int kWarps = 4, kThreads = kWarps * kWarp, kQueries = kWarps * 16;

KERNEL(attention_forward){
    .dtypes = {f16},
    .min_arch = 75,
    .tiles = {tile(Axis::seq_q, kQueries), tile(Axis::seq_k, 64)},
    // A lane sums 16 (8) of a tile's weights, and the four lanes of a row are added at the end.
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = 32, .extra = 16 + 2},
                 .mma_terms = 8,
                 .stores = "exps",
                 .flushes_subnormals = true,
                 .rescales = {.lanes = 32}},
    .supports = fits_plain_fragments,
};

template <int kDim>
struct Sizes {
  static constexpr int kKeys = kDim <= 128 ? 64 : 32, kRow = Rows128<kDim>::kPitch;
  // Byte offsets in shared memory: q, then k or v, and a flag that V holds inf or NaN.
  static constexpr int kTile = kQueries * kRow * 2, kSpecial = kTile + kKeys * kRow * 2;
  static constexpr std::size_t kSharedBytes = kSpecial + sizeof(int);
  static_assert(kSharedBytes <= 64 * 1024);
};

// This thread's part of a tile of kRows rows while it is loaded: chunk `chunk` of every kRowsApart-th row.
template <int kDim, int kRows>
struct Staged {
  using Tile = Rows128<kDim>;
  using Pack = Vec<unsigned, 4>;
  static constexpr int kLanes = Loader<half, kDim, kThreads>::kLanes, kRowsApart = kThreads / kLanes;
  Pack packs[kRows / kRowsApart];

  // Loads rows [first, first + kRows) of one head; zeros from row `rows` and channel `dim` on.
  __device__ void fetch(const half* data, std::int64_t stride, int first, int rows, int dim, bool wide) {
    const int thread = fresh(linear_thread()), row = thread / kLanes, channel = thread % kLanes * kChunk;
    const half* from = data + (first + row) * stride + channel;
#pragma unroll
    for (int r = 0; r < kRows; r += kRowsApart, from += kRowsApart * stride) {
      Pack& pack = packs[r / kRowsApart];
      pack = Pack{};
      if (first + row + r >= rows || channel >= dim) continue;
      if (wide && channel + kChunk <= dim) {
        pack = ld(reinterpret_cast<const Pack*>(from));
      } else {
        Vec<half, kChunk> values{};
        for (int j = 0; j < kChunk; ++j)
          if (channel + j < dim) values[j] = ld(from + j);
        pack = __builtin_bit_cast(Pack, values);
      }
    }
  }
  __device__ void put(half* tile) const {
    const int thread = fresh(linear_thread()), row = thread / kLanes, chunk = thread % kLanes;
    if (chunk >= Tile::kChunks) return;
#pragma unroll
    for (int r = 0; r < kRows; r += kRowsApart)
      st(reinterpret_cast<Pack*>(tile + Tile::place(row, r, chunk)), packs[r / kRowsApart]);
  }
  // Whether a value is inf or NaN.
  __device__ bool special() const {
    unsigned carried = 0;
    for (const Pack& pack : packs)
      for (const unsigned word : pack.v) carried |= exponent_carry<half>(word);
    return carried != 0;
  }
};

template <int kDim>
__global__ void __launch_bounds__(kThreads)
    attention_forward_sm75_mma(Problem<half> p, Schedule schedule, bool wide_loads, bool wide_stores) {
  using S = Sizes<kDim>;
  constexpr int kKeys = S::kKeys;
  const QueryTile work = query_tile(schedule, static_cast<int>(blockIdx.x));
  const int first_query = work.tile * kQueries, warp_row = warp_id() * 16, warp_query = first_query + warp_row;
  const half* const keys = p.k.of(work.batch, work.head / p.group);
  const half* const values = p.v.of(work.batch, work.head / p.group);
  half* const q = shared_memory<half>();
  half* const kv = shared_memory<half>(S::kTile);
  int* const special = shared_memory<int>(S::kSpecial);

  // Tiles [0, whole) are visible to every query, tiles [whole, tiles) to some.
  const int last_query = first_query + kQueries < p.queries ? first_query + kQueries : p.queries;
  const int whole = p.visible(first_query) / kKeys, tiles = (p.visible(last_query - 1) + kKeys - 1) / kKeys;
  const int warp_keys = warp_query < p.queries ? p.visible(warp_query + 15) : 0;  // keys that the warp sees

  {
    Staged<kDim, kQueries> staged;
    staged.fetch(p.q.of(work.batch, work.head), p.q.seq, first_query, p.queries, p.dim, wide_loads);
    staged.put(q);
  }
  Staged<kDim, kKeys> next;
  next.fetch(keys, p.k.seq, 0, p.keys, p.dim, wide_loads);
  next.put(kv);
  if (linear_thread() == 0) st(special, 0);

  Flash<half, Mma8, kDim, 1, kKeys> flash;
  flash.start();
  const float c = p.scale * kLog2E;
  for (int tile = 0; tile < tiles; ++tile) {
    const bool masked = tile >= whole, active = !masked || tile * kKeys < warp_keys;
    typename decltype(flash)::Scores s;
    sync_block();  // K has arrived
    next.fetch(values, p.v.seq, tile * kKeys, p.keys, p.dim, wide_loads);
    if (active) flash.multiply_keys(s, q + warp_row * S::kRow, kv);
    sync_block();  // all warps are done with K
    next.put(kv);
    if (masked && next.special()) atomic_add(special, 1);
    sync_block();  // V has arrived
    next.fetch(keys, p.k.seq, (tile + 1) * kKeys, tile + 1 < tiles ? p.keys : 0, p.dim, wide_loads);
    if (active) {
      if (masked) flash.mask(s, p, warp_query, tile * kKeys);
      flash.weigh(s, c);
      if (masked && ld(special)) flash.add_visible_values(s, kv, p, warp_query, tile * kKeys);
      else flash.add_values(s, kv);
    }
    sync_block();  // all warps are done with V
    next.put(kv);
  }
  sync_block();
  if (warp_query < p.queries)
    flash.template finish<true>(p, work.batch, work.head, warp_query, q + warp_row * S::kRow, wide_stores);
}

void run(const attention_forward::Args& a, const Launch& l) {
  if (nothing_to_do(a)) return;
  const bool wide_loads = a.q.rows_aligned(kAccess) && a.k.rows_aligned(kAccess) && a.v.rows_aligned(kAccess);
  const Problem<half> p = problem<half>(a);
  with_dim(p.dim, [&]<int kDim>(std::integral_constant<int, kDim>) {
    const Schedule s = schedule(p, kQueries);
    launch(attention_forward_sm75_mma<kDim>,
           {.grid = dim3(static_cast<unsigned>(s.tiles) * static_cast<unsigned>(s.heads)),
            .block = dim3(kThreads),
            .shared_bytes = Sizes<kDim>::kSharedBytes},
           l.stream, p, s, wide_loads, a.o.rows_aligned(kAccess));
  });
}

}  // namespace assay::ROOM(attention_forward, sm75_mma)
