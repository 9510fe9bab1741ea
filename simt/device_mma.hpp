// SPDX-License-Identifier: Apache-2.0
// The device layer on a CPU: tensor cores, asynchronous copies and packed 16-bit words.  For mma and ldmatrix the lanes of a warp
// meet, and the last one to come does the work of all (mma.cpp).  Copies are in async.cpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "device.hpp"

namespace simt::detail {

// The arguments of one lane's call of mma.
struct MmaLane {
  WarpWork work;
  float* c;           // [4]
  const unsigned* a;  // [K / 4]
  const unsigned* b;  // [K / 8]
};
template <bool Half, int K>
void run_mma(WarpWork* const* lanes);

struct MatrixLane {
  WarpWork work;
  unsigned* r;  // [N]
  const void* row;
};
template <int N, bool Trans>
void run_ldmatrix(WarpWork* const* lanes);

template <int Bytes>
void copy_async(void* shared, const void* global, int valid, Where where);
void commit_copies();
void wait_for_copies(unsigned newest, Where where);  // for all but this thread's `newest` newest groups
void check_matrix_row(const void* row, Where where);
float exp2_approx(float v);  // as an H200's ex2.approx.ftz.f32, bit for bit (special.hpp)

}  // namespace simt::detail

namespace simt::device {

template <class T>
inline constexpr bool is_16_bit = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class T>
inline void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2], Where where = Where::current()) {
  static_assert(is_16_bit<T>);
  detail::MmaLane lane{{detail::run_mma<std::is_same_v<T, half>, 16>}, c, a, b};
  detail::work_together(detail::Meet::mma, lane.work, where);
}
template <class T>
inline void mma_m16n8k8(float (&c)[4], const unsigned (&a)[2], const unsigned (&b)[1], Where where = Where::current()) {
  static_assert(is_16_bit<T>);
  detail::MmaLane lane{{detail::run_mma<std::is_same_v<T, half>, 8>}, c, a, b};
  detail::work_together(detail::Meet::mma, lane.work, where);
}

template <int N, class T>
inline void ldmatrix(unsigned (&r)[N], const T* row, Where where = Where::current()) {
  static_assert(sizeof(T) == 2 && (N == 1 || N == 2 || N == 4));
  if (lane_id() < 8 * N) detail::check_matrix_row(row, where);
  detail::MatrixLane lane{{detail::run_ldmatrix<N, false>}, r, row};
  detail::work_together(detail::Meet::ldmatrix, lane.work, where);
}
template <int N, class T>
inline void ldmatrix_trans(unsigned (&r)[N], const T* row, Where where = Where::current()) {
  static_assert(sizeof(T) == 2 && (N == 1 || N == 2 || N == 4));
  if (lane_id() < 8 * N) detail::check_matrix_row(row, where);
  detail::MatrixLane lane{{detail::run_ldmatrix<N, true>}, r, row};
  detail::work_together(detail::Meet::ldmatrix, lane.work, where);
}

template <int Bytes, class T>
inline void cp_async(T* shared, const T* global, int valid = Bytes, Where where = Where::current()) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  detail::copy_async<Bytes>(shared, global, valid, where);
}
inline void cp_async_commit() { detail::commit_copies(); }
template <int N>
inline void cp_async_wait(Where where = Where::current()) {
  static_assert(N >= 0);
  detail::wait_for_copies(N, where);
}

// Packed words.  Note: every NaN result is the one NaN that the hardware gives.
template <class T>
inline std::uint32_t narrow(float v) {
  static_assert(is_16_bit<T>);
  if (v != v) return 0x7fff;
  return from_float<T>(v).bits;
}
template <class T>
inline unsigned pack(float low, float high) {
  return narrow<T>(low) | narrow<T>(high) << 16;
}
template <class T>
inline Vec<float, 2> unpack(unsigned word) {
  static_assert(is_16_bit<T>);
  Vec<float, 2> v{{to_float(T{static_cast<std::uint16_t>(word)}), to_float(T{static_cast<std::uint16_t>(word >> 16)})}};
  if constexpr (std::is_same_v<T, half>)
    for (float& f : v.v)
      if (f != f) f = std::bit_cast<float>(0x7fffffffu);
  return v;
}
// Note: each result is rounded once: the float product is exact, except below 2^-134, where the result is zero anyway.
template <class T>
inline unsigned multiply_packed(unsigned a, unsigned b) {
  const auto x = unpack<T>(a), y = unpack<T>(b);
  return pack<T>(x[0] * y[0], x[1] * y[1]);
}

inline float exp2_approx(float v) { return detail::exp2_approx(v); }

}  // namespace simt::device
