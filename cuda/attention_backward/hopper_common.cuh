// SPDX-License-Identifier: Apache-2.0
// Gradients of attention by wgmma and tensor copies: what the passes for dQ (hopper_queries.cuh) and for dK and dV
// (hopper_keys.cuh) share.  A block has 128 rows of its own, 64 for each of two warpgroups; one warp copies blocks of the other
// kind into a ring.
#pragma once

#include "cuda/attention_backward/gradients.cuh"
#include "cuda/core/hopper_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::attention_backward_room {

using hopper_gemm::Turn;

inline constexpr int kBoxRow = 128, kOwn = 128, kHopperThreads = 384, kLoopQueries = 64;
inline constexpr int kCopierRegisters = 24, kOtherRegisters = 240;  // a thread; the launch gives 168

// Byte of a channel in a row of boxes that are 64 channels wide and `box` bytes large, swizzled by 128.
__device__ inline int box_byte(int row, int channel, int box) {
  return channel / 64 * box + row * kBoxRow + ((channel / 8 ^ row) & 7) * 16 + channel % 8 * 2;
}

// L log2(e) and D of all queries, in rows of `pitch` floats a head, a multiple of 64.  Where no query is, or none that sees a
// key, L is infinite, which makes every weight zero.
struct Statistics {
  float *l, *d;
  int pitch;
  __device__ std::int64_t row(int batch, int head, int heads) const {
    return (static_cast<std::int64_t>(batch) * heads + head) * pitch;
  }
};

// A row's gradients by plain instructions, from the pairs that count alone: x += p (g - D) a, y += p b, of the other kind's rows
// a and b.  wgmma takes all pairs of a tile, and 0 times NaN is NaN; and a p (g - D) may be too large for the storage dtype.
template <int kDim, class T>
struct MendedRow {
  static constexpr int kChannels = kDim / kWarp, kTogether = 4;  // channels a lane; rows a lane takes at once
  float x[kChannels] = {}, y[kChannels] = {};

  __device__ static float dot(const T* a, const T* b, int dim) {
    float part[8] = {};
#pragma unroll 1
    for (int at = 0; at < dim; at += 8) {
      const auto u = ld(reinterpret_cast<const Vec<T, 8>*>(a + at)), v = ld(reinterpret_cast<const Vec<T, 8>*>(b + at));
#pragma unroll
      for (int j = 0; j < 8; ++j) part[j] = fmaf(to_float(u[j]), to_float(v[j]), part[j]);
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
  }

  // Adds the pairs of `own_a` and `own_b` with rows [first, end).  statistics(i): L log2(e) and D of pair i.
  template <class Of>
  __device__ void add(const T* own_a, const T* own_b, const Heads<const T>& a, const Heads<const T>& b, int batch, int head,
                      int first, int end, int dim, float c, Of&& statistics) {
    const int lane = lane_id(), mine = lane * kChannels;
#pragma unroll 1
    for (; first < end; first += kTogether * kWarp) {
      float more_x[kChannels] = {}, more_y[kChannels] = {};
#pragma unroll 1
      for (int i = 0; i < kTogether; ++i) {
        const int row = first + i * kWarp + lane;
        float p = 0, ds = 0;
        bool counts = false;
        if (row < end) {
          const Vec<float, 2> of = statistics(row);
          counts = of[0] != INFINITY;
          if (counts) {
            p = exp2_approx(fmaf(dot(own_a, a.row(batch, head, row), dim), c, -of[0]));
            ds = p * (dot(own_b, b.row(batch, head, row), dim) - of[1]);
          }
        }
        const unsigned counted = ballot(counts);
#pragma unroll 1
        for (int j = 0; j < kWarp; ++j) {
          if ((counted >> j & 1) == 0) continue;
          const float of_x = shuffle(ds, j), of_y = shuffle(p, j);
          if (mine >= dim) continue;
          const int other = first + i * kWarp + j;
          const auto u = ld(reinterpret_cast<const Vec<T, kChannels>*>(a.row(batch, head, other) + mine));
          const auto v = ld(reinterpret_cast<const Vec<T, kChannels>*>(b.row(batch, head, other) + mine));
#pragma unroll
          for (int e = 0; e < kChannels; ++e) {
            more_x[e] = fmaf(of_x, to_float(u[e]), more_x[e]);
            more_y[e] = fmaf(of_y, to_float(v[e]), more_y[e]);
          }
        }
      }
#pragma unroll
      for (int e = 0; e < kChannels; ++e) {
        x[e] += more_x[e];
        y[e] += more_y[e];
      }
    }
  }
  // Writes factor * sum to row `row` of staging.
  __device__ static void store(const float (&sum)[kChannels], float factor, unsigned char* staging, int row, int box) {
    float v[kChannels];
#pragma unroll
    for (int e = 0; e < kChannels; ++e) v[e] = sum[e] * factor;
    st(reinterpret_cast<Vec<T, kChannels>*>(staging + box_byte(row, lane_id() * kChannels, box)), from_floats<T>(v));
  }
};

// Bits 4 g + t: lane 4 g + t has a NaN or an infinity in row g + 8 h.
template <int N>
__device__ inline unsigned not_finite(const float (&v)[N], int h) {
  bool bad = false;
#pragma unroll
  for (int i = 2 * h; i < N; i += 4)
#pragma unroll
    for (int e = i; e < i + 2; ++e) bad = bad || !(fabsf(v[e]) < INFINITY);
  return ballot(bad);
}

// Writes 64 rows of factor * v to staging; rows of a box are kOwn rows of the block.
template <class T, int N>
__device__ inline void stage_rows(const float (&v)[N], float factor, unsigned char* staging, int me, int box) {
  const int lane = lane_id(), row = me * 64 + static_cast<int>(threadIdx.x) % 128 / kWarp * 16 + lane % 16;
#pragma unroll
  for (int i = 0; i < N / 8; ++i) {
    unsigned words[4];
#pragma unroll
    for (int w = 0; w < 4; ++w) words[w] = pack<T>(v[8 * i + 2 * w] * factor, v[8 * i + 2 * w + 1] * factor);
    stmatrix<4>(reinterpret_cast<T*>(staging + box_byte(row, 16 * i + lane / 16 * 8, box)), words);
  }
}

// Packs an accumulator of 64 rows as the A operand of the next product.
template <class T, int N>
__device__ inline void pack_weights(unsigned (&a)[N / 8][4], const float (&v)[N]) {
#pragma unroll
  for (int i = 0; i < N / 2; ++i) a[i / 4][i % 4] = pack<T>(v[2 * i], v[2 * i + 1]);
}

// --- On the host ------------------------------------------------------------------------------------------------------

inline Legality fits_boxes(const attention_backward::Args& a) {
  const std::int64_t dim = a.q.shape[3];
  if (dim > 128 || dim % 8 != 0) return Legality::no("needs a head_dim that is a multiple of 8, up to 128");
  for (const Tensor* t : {&a.q, &a.k, &a.v, &a.o, &a.d_o, &a.dq, &a.dk, &a.dv})
    if (!t->rows_contiguous() || !t->rows_aligned(16)) return Legality::no("needs rows that start at multiples of 16 bytes");
  return extents_fit(a);
}

// A map of 64 channels x `rows` rows of one head.
template <class T>
TensorMap head_map(const Tensor& t, int rows) {
  // Note: the stride of an axis of extent 1 is not used, and may be one that tensor_map refuses.
  const auto stride = [&](int axis) { return t.shape[axis] > 1 ? t.stride[axis] : 8; };
  const std::int64_t strides[] = {stride(1), stride(2), stride(0)};
  return tensor_map<T>(t.as<T>(), {t.shape[3], t.shape[1], t.shape[2], t.shape[0]}, strides, {64, rows, 1, 1}, Swizzle::by_128);
}

// A map of boxes of L or D of kLoopQueries queries.
inline TensorMap row_map(const float* data, std::int64_t pitch, std::int64_t rows) {
  const std::int64_t strides[] = {pitch};
  return tensor_map<float>(data, {pitch, rows}, strides, {kLoopQueries, 1}, Swizzle::none);
}

inline std::int64_t pitch_of(const attention_backward::Args& a) { return ceil_div(a.q.shape[1], kLoopQueries) * kLoopQueries; }
inline std::size_t bytes_of_statistics(const attention_backward::Args& a) {
  return static_cast<std::size_t>(2 * a.q.shape[0] * a.q.shape[2] * pitch_of(a)) * sizeof(float);
}

}  // namespace assay::ASSAY_FLAVOUR::attention_backward_room
