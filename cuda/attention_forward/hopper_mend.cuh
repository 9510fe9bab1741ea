// SPDX-License-Identifier: Apache-2.0
// Rows of O that hold NaN, computed again: a block of keys is multiplied as a whole, so a hidden key's weight 0 meets its value,
// and 0 times NaN or infinity is NaN.  A warp computes such a row from its visible keys alone, by plain instructions.
#pragma once

#include "cuda/attention_forward/flash.cuh"

namespace assay::ASSAY_FLAVOUR::attention_forward_room {

// Byte of a channel in a row of boxes that are 64 channels wide and `box` bytes large, swizzled by 128.
inline constexpr int kBoxRow = 128;
__device__ inline int box_byte(int row, int channel, int box) {
  return channel / 64 * box + row * kBoxRow + ((channel / 8 ^ row) & 7) * 16 + channel % 8 * 2;
}

// Scores as they are weighed: cap tanh(scale s / cap) if there is a softcap.
template <bool kCapped, class T>
__device__ inline float capped(const Problem<T>& p, float s) {
  return kCapped && p.cap > 0 ? p.cap * tanhf(s * (p.scale / p.cap)) : s;
}
// What weights take the exponential of 2 of: weight_factor (capped(s) - max).
template <bool kCapped, class T>
__device__ inline float weight_factor(const Problem<T>& p) {
  return kCapped && p.cap > 0 ? kLog2E : p.scale * kLog2E;
}

// Writes row `query` of O to `staging`, at row `row` of a box.  `max`: of its weighed scores, which is finite.
template <int kDim, bool kWindow, bool kCapped, class T>
__device__ inline void mend_row(const Problem<T>& p, int batch, int head, int query, float max, unsigned char* staging, int row,
                                int box) {
  constexpr int kChannels = kDim / kWarp, kTogether = 4;  // channels a lane; keys a lane takes at once
  const int lane = lane_id(), mine = lane * kChannels;
  const T* const q = p.q.of(batch, head) + query * p.q.seq;
  const T *const keys = p.k.of(batch, head / p.group), *const values = p.v.of(batch, head / p.group);
  const float c = weight_factor<kCapped>(p);
  const int end = p.visible(query);
  float o[kChannels] = {}, sum = 0;
#pragma unroll 1
  for (int first = kWindow ? p.first_visible(query) : 0; first < end; first += kTogether * kWarp) {
    float weight[kTogether];
#pragma unroll 1
    for (int i = 0; i < kTogether; ++i) {
      const int key = first + i * kWarp + lane;
      float part[8] = {};
#pragma unroll 1
      for (int at = 0; key < end && at < p.dim; at += 8) {
        const auto a = ld(reinterpret_cast<const Vec<T, 8>*>(q + at));
        const auto b = ld(reinterpret_cast<const Vec<T, 8>*>(keys + key * p.k.seq + at));
#pragma unroll
        for (int j = 0; j < 8; ++j) part[j] = fmaf(to_float(a[j]), to_float(b[j]), part[j]);
      }
#pragma unroll
      for (int apart = 4; apart > 0; apart /= 2)
#pragma unroll
        for (int j = 0; j < apart; ++j) part[j] += part[j + apart];
      const float w = key < end ? exp2_approx((capped<kCapped>(p, part[0]) - max) * c) : 0.0f;
#pragma unroll
      for (int j = 0; j < kTogether; ++j)
        if (i == j) weight[j] = w;
    }
    float more = 0, values_sum[kChannels] = {};
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      more += weight[i];
#pragma unroll 1
      for (int j = 0; j < kWarp && first + i * kWarp + j < end; ++j) {
        const float w = shuffle(weight[i], j);
        if (mine >= p.dim) continue;
        const auto v = ld(reinterpret_cast<const Vec<T, kChannels>*>(values + (first + i * kWarp + j) * p.v.seq + mine));
#pragma unroll
        for (int e = 0; e < kChannels; ++e) values_sum[e] = fmaf(w, to_float(v[e]), values_sum[e]);
      }
    }
    sum += more;
#pragma unroll
    for (int e = 0; e < kChannels; ++e) o[e] += values_sum[e];
  }
  const float total = butterfly(sum, [](float a, float b) { return a + b; }), inverse = 1.0f / total;
#pragma unroll
  for (int e = 0; e < kChannels; ++e) o[e] *= inverse;
  st(reinterpret_cast<Vec<T, kChannels>*>(staging + box_byte(row, mine, box)), from_floats<T>(o));
}

// Whether rows [first, end) hold a NaN or an infinity.  Called by a whole warp.
template <class T>
__device__ inline bool special_rows(const T* rows, std::int64_t stride, int first, int end, int dim) {
  const int packs = dim / kChunk;
  unsigned carried = 0;
#pragma unroll 1
  for (int i = lane_id(); i < (end - first) * packs; i += kWarp) {
    const auto words = ld(reinterpret_cast<const Vec<unsigned, 4>*>(rows + (first + i / packs) * stride + i % packs * kChunk));
    for (const unsigned word : words.v) carried |= exponent_carry<T>(word);
  }
  return any(carried != 0);
}

// Mends those of a warp's 16 rows whose bits are set: bits 4 g + t of nan[h] are lanes that have row g + 8 h.  max[h]: of the
// lane's rows.
template <int kDim, bool kWindow, bool kCapped, class T>
__device__ inline void mend_rows(const Problem<T>& p, int batch, int head, int first_query, const unsigned (&nan)[2],
                                 const float (&max)[2], unsigned char* staging, int first_row, int box) {
#pragma unroll 1
  for (int row = 0; row < 16; ++row) {
    const float of_row = shuffle(row < 8 ? max[0] : max[1], row % 8 * 4);
    if (((row < 8 ? nan[0] : nan[1]) >> row % 8 * 4 & 15) == 0 || first_query + row >= p.queries) continue;
    mend_row<kDim, kWindow, kCapped>(p, batch, head, first_query + row, of_row, staging, first_row + row, box);
  }
}

}  // namespace assay::ASSAY_FLAVOUR::attention_forward_room
