// SPDX-License-Identifier: Apache-2.0
// One warp per row, the row in registers: x, residual and y are moved once, without a barrier.  A lane holds 16-byte packs in the
// storage dtype, loaded with one access each if rows are aligned, else element by element.  All of x and the first packs of
// residual are loaded ahead; each pack of residual that is used is replaced by the next.  Supports rows up to 16 KiB (2048
// columns if unaligned); block_row takes longer ones.
#include "cuda/layernorm_residual/row.cuh"

namespace assay::ROOM(layernorm_residual, warp_row) {

inline constexpr std::int64_t kMostWideBytes = 16 * 1024, kMostNarrowCols = 2048;

// Rows (warps) per block, and blocks per SM, which share 65,536 registers.  Small blocks if registers are scarce, since a block
// frees its registers only when all its warps are done.
template <int kPacks>
inline constexpr int kRows = kPacks <= 4 ? 8 : 4;
template <int kPacks, bool kWide>
inline constexpr int kBlocksAnSm = kPacks <= 4 || (kPacks <= 16 && kWide) ? 3 : 2;

static_assert(kMostWideBytes == 32 * kWarp * kAccess, "the largest instantiation holds 32 packs a lane");

bool wide(const layernorm_residual::Args& a) {
  return a.x.shape[1] * size_of(a.x.dtype) % kAccess == 0 && a.x.rows_aligned(kAccess) && a.residual.rows_aligned(kAccess) &&
         a.y.rows_aligned(kAccess) && a.gamma.rows_aligned(kAccess) && a.beta.rows_aligned(kAccess);
}

Legality supports(const layernorm_residual::Args& a) {
  const std::int64_t cols = a.x.shape[1];
  if (cols * size_of(a.x.dtype) > kMostWideBytes) return Legality::no("a row exceeds 16 KiB, the most that a warp holds");
  if (!wide(a) && cols > kMostNarrowCols)
    return Legality::no("rows of more than 2048 columns must start and end at multiples of 16 bytes");
  return Legality::yes();
}

KERNEL(layernorm_residual){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows<1>), tile_bytes(Axis::cols, kWarp* kAccess)},
    // A lane adds a pack (8 or 4 columns) pairwise, 3 additions, and its packs in sequence; 5 join the lanes.  32 lanes take 128
    // columns at a time with the smaller pack.
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp * 4, .extra = 3 + 5}},
    .supports = supports,
};

// kWide: pack i of a lane is one 16-byte access; else its N elements are a warp apart, so that a warp's accesses are coalesced.
template <class T, int kPacks, bool kWide>
__global__ void __launch_bounds__(kRows<kPacks>* kWarp, kBlocksAnSm<kPacks, kWide>) layernorm_residual_warp_row(Matrices<T> m) {
  constexpr int N = kPerAccess<T>;
  using Pack = Vec<T, N>;
  using Words = Raw<T, N>;
  // Note: 16 packs of x and 8 of residual are 96 registers of 168; 32 and 8 are 160 of 255.
  constexpr int kAhead = kPacks <= 4 ? kPacks : kPacks <= 16 ? kPacks / 2 : 8;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows<kPacks> + warp_id();
  if (row >= m.rows) return;
  const int cols = static_cast<int>(m.cols), lane = lane_id();

  const auto column = [&](int i, int j) { return kWide ? (i * kWarp + lane) * N + j : (i * N + j) * kWarp + lane; };
  const auto inside = [&](int i, int j) { return column(i, kWide ? 0 : j) < cols; };
  const auto load = [&](const T* p, int i) {
    Words words{};
    if constexpr (kWide) {
      if (inside(i, 0)) words = ld(reinterpret_cast<const Words*>(p + column(i, 0)));
    } else {
      Pack v{};
#pragma unroll
      for (int j = 0; j < N; ++j)
        if (inside(i, j)) v[j] = ld(p + column(i, j));
      words = __builtin_bit_cast(Words, v);
    }
    return words;
  };

  // Load the row.
  Words x[kPacks], residual[kAhead];
  const T* const residual_row = m.residual + row * m.residual_stride;
#pragma unroll
  for (int i = 0; i < kPacks; ++i) x[i] = load(m.x + row * m.x_stride, i);
#pragma unroll
  for (int i = 0; i < kAhead; ++i) residual[i] = load(residual_row, i);

  // Mean; columns past the end count as zero.
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kPacks; ++i) sum += pack_sum<T, N>(x[i]);
  const float mean = warp_sum(sum) / static_cast<float>(cols);

  // Variance.
  float squares = 0;
  unsigned nothing = shuffle(0u, 0);
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    forget(x[i], nothing);
    const Pack in = elements<T, N>(x[i]);
    float d[N];
#pragma unroll
    for (int j = 0; j < N; ++j) d[j] = inside(i, j) ? to_float(in[j]) - mean : 0.0f;
#pragma unroll
    for (int j = 0; j < N; ++j) d[j] *= d[j];
    squares += pairwise_sum(d);
  }
  const float r = 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(cols) + m.epsilon);

  // Output; each pack of residual that is used is replaced by the one kAhead later.
  T* const y = m.y + row * m.y_stride;
  nothing = shuffle(0u, 0);
#pragma unroll
  for (int i = 0; i < kPacks; ++i) {
    forget(x[i], nothing);
    const Pack gamma = elements<T, N>(load(m.gamma, i)), beta = elements<T, N>(load(m.beta, i));
    const Pack in = elements<T, N>(x[i]), add = elements<T, N>(residual[i % kAhead]);
    if (i + kAhead < kPacks) residual[i % kAhead] = load(residual_row, i + kAhead);
    float v[N];
#pragma unroll
    for (int j = 0; j < N; ++j)
      v[j] = affine(to_float(in[j]), mean, r, to_float(gamma[j]), to_float(beta[j])) + to_float(add[j]);
    const Pack out = from_floats<T>(v);
    if constexpr (kWide) {
      if (inside(i, 0)) st(reinterpret_cast<Pack*>(y + column(i, 0)), out);
    } else {
#pragma unroll
      for (int j = 0; j < N; ++j)
        if (inside(i, j)) st(y + column(i, j), out[j]);
    }
  }
}

template <class T, int kPacks, bool kWide>
void run_packs(const layernorm_residual::Args& a, const Launch& l) {
  launch(layernorm_residual_warp_row<T, kPacks, kWide>,
         {.grid = dim3(ceil_div(a.x.shape[0], kRows<kPacks>)), .block = dim3(kRows<kPacks> * kWarp)}, l.stream, matrices<T>(a));
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t packs = ceil_div(a.x.shape[1], kWarp * kPerAccess<T>);
    if (!wide(a)) return run_packs<T, kMostNarrowCols / (kWarp * kPerAccess<T>), false>(a, l);
    if (packs <= 4) return run_packs<T, 4, true>(a, l);
    if (packs <= 16) return run_packs<T, 16, true>(a, l);
    return run_packs<T, 32, true>(a, l);
  });
}

}  // namespace assay::ROOM(layernorm_residual, warp_row)
