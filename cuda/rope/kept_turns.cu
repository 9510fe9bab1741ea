// SPDX-License-Identifier: Apache-2.0
// One block per token: computes its angles once, in shared memory, while 16-byte packs of q and k are in flight, eight a thread.
// A thread has the same channels of every head that it takes, so it keeps their rotations in registers.  Narrower packs if pairs,
// head size or alignment require it.  The bits are those of vector16.
#include "cuda/core/row_pack.cuh"
#include "cuda/rope/packs.cuh"

namespace assay::ROOM(rope, kept_turns) {

inline constexpr int kMostThreads = 256, kBatch = 4;

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile_bytes(Axis::head_dim, 32)},  // a thread's two packs
    .numerics = {.accumulate = f32, .angle_error = kAngleError, .reduced_angle_error = kReducedAngleError},
};

// The heads of one token.  Head h >= q.heads is k's, whose base lies q.heads heads before its first one.
template <class T>
struct Token {
  const T *q_x, *k_x;
  T *q_y, *k_y;
  __device__ Token(const Problem<T>& p, unsigned b, unsigned s)
      : q_x(p.q.x + b * p.q.x_batch + s * p.q.x_token),
        k_x(p.k.x + b * p.k.x_batch + s * p.k.x_token - p.q.heads * p.k.x_head),
        q_y(p.q.y + b * p.q.y_batch + s * p.q.y_token),
        k_y(p.k.y + b * p.k.y_batch + s * p.k.y_token - p.q.heads * p.k.y_head) {}
  __device__ const T* x(const Problem<T>& p, int head) const {
    const bool of_q = head < p.q.heads;
    return (of_q ? q_x : k_x) + head * (of_q ? p.q.x_head : p.k.x_head);
  }
  __device__ T* y(const Problem<T>& p, int head) const {
    const bool of_q = head < p.q.heads;
    return (of_q ? q_y : k_y) + head * (of_q ? p.q.y_head : p.k.y_head);
  }
};

// PairPacks in words, which take half the registers of 16-bit elements.
template <class T, int N>
struct RawPairs {
  row_pack::Raw<T, N> low, high;
  __device__ void load(const Problem<T>& p, const T* x, int at) {
    using Pack = row_pack::Raw<T, N>;
    low = ld(reinterpret_cast<const Pack*>(x + PairPacks<T, N>::low_channel(p, at)));
    high = ld(reinterpret_cast<const Pack*>(x + PairPacks<T, N>::high_channel(p, at)));
  }
  __device__ PairPacks<T, N> packs() const { return {row_pack::elements<T, N>(low), row_pack::elements<T, N>(high)}; }
};

template <class T, int N>
__global__ void __launch_bounds__(kMostThreads, 3) rope_kept_turns(Problem<T> p) {
  next_grid_may_start();
  wait_for_previous_grid();
  const unsigned b = blockIdx.x / static_cast<unsigned>(p.seq), s = blockIdx.x - b * static_cast<unsigned>(p.seq);
  const Token<T> token(p, b, s);
  Rotation* const turns = shared_memory<Rotation>();
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), packs = p.half / N;
  // `width` packs of `at_once` heads are in work at a time; threads beyond them only compute angles and copy.
  const int width = packs == 0 || packs > threads ? threads : packs, at_once = threads / width;
  const int own_head = thread / width, own_pack = thread - own_head * width;
  const bool works = own_head < at_once && own_pack < packs;

  // Load the first batch.
  RawPairs<T, N> v[kBatch];
  const auto load = [&](int at, int first) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      if (const int head = first + i * at_once; head < p.heads()) v[i].load(p, token.x(p, head), at);
  };
  if (works) load(own_pack, own_head);

  // Compute the angles of the token.
  const std::int64_t own = p.positions != nullptr ? ld(p.positions + b * p.positions_batch + s) : std::int64_t{s};
  const std::int64_t position = p.offset + own;
  for (int i = thread; i < p.half; i += threads) st(turns + i, rotation_by(p.angle(i, position)));
  sync_block();

  if (works)
    for (int at = own_pack; at < packs; at += width) {
      Rotation turn[N];
#pragma unroll
      for (int j = 0; j < N; ++j) turn[j] = ld(turns + at * N + j);
      for (int first = own_head; first < p.heads(); first += kBatch * at_once) {
        if (first != own_head || at != own_pack) load(at, first);
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          if (const int head = first + i * at_once; head < p.heads())
            v[i].packs().rotate_and_store(p, token.y(p, head), at, [&](int j) { return turn[j]; });
      }
    }

  // Copy the channels that are not rotated; in place there is nothing to do.
  const int rest = (p.dim - p.rotary) / N;
  for (int item = thread; item < p.heads() * rest; item += threads) {
    const int head = item / rest, d = p.rotary + (item - head * rest) * N;
    const T* const x = token.x(p, head);
    T* const y = token.y(p, head);
    if (x != y) st(reinterpret_cast<Vec<T, N>*>(y + d), ld(reinterpret_cast<const Vec<T, N>*>(x + d)));
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t tokens = a.q.shape[0] * a.q.shape[1];
  if (tokens == 0) return;
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    const Problem<T> p = problem_of<T>(a);
    with_pack_width<T>(a, [&]<int N>(std::integral_constant<int, N>) {
      const std::int64_t items = std::int64_t{p.q.heads + p.k.heads} * std::max(p.half / N, (p.dim - p.rotary) / N);
      launch(rope_kept_turns<T, N>,
             {.grid = dim3(tokens),
              .block = dim3(kWarp * std::clamp<std::int64_t>(ceil_div(items, kBatch * kWarp), 1, kMostThreads / kWarp)),
              .shared_bytes = std::max<std::size_t>(p.half, 1) * sizeof(Rotation),
              .dependent = l.after},
             l.stream, p);
    });
  });
}

}  // namespace assay::ROOM(rope, kept_turns)
