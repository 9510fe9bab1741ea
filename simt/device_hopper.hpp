// SPDX-License-Identifier: Apache-2.0
// The device layer on a CPU: the words of cuda/core/hopper.cuh.  They are implemented in mbarrier.cpp, tensor_copy.cpp,
// wgmma.cpp, register_pool.cpp and, for stmatrix, mma.cpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "device.hpp"
#include "tensor_copy.hpp"
#include "wgmma.hpp"

#define __grid_constant__

namespace simt::detail {

void barrier_init(void* b, int arrivals, Where where);
void barriers_ready(Where where);
void barrier_arrive(void* b, long long promise, Where where);
void barrier_wait(void* b, unsigned parity, Where where);
void copy_box(void* shared, const TensorMap& map, void* barrier, const int* at, int coordinates, Where where);
void store_box(const TensorMap& map, const void* shared, const int* at, int coordinates, bool add, Where where);
void store_commit();
void store_wait(unsigned newest, Where where);
void fence_shared_async(Where where);
void wgmma(const WgmmaCall& call, Where where);
void wgmma_begin();
void wgmma_commit();
void wgmma_wait(unsigned newest, Where where);
void take_registers(int count, Where where);
void give_registers(int count, Where where);
int multiprocessors();
template <int N>
void run_stmatrix(WarpWork* const* lanes);

// A coordinate of a box; the first one carries the caller's source line.
struct Coordinate {
  int at;
  Where where;
  template <class I>
  requires std::is_integral_v<I> Coordinate(I i, Where w = Where::current()) : at(static_cast<int>(i)), where(w) {}
};

}  // namespace simt::detail

namespace simt::device {

using Barrier = std::uint64_t;

inline int multiprocessors() { return detail::multiprocessors(); }

template <class T>
inline T* box_memory(std::size_t byte_offset = 0) {
  return shared_memory<T>(byte_offset);
}

template <class T, int Rank>
inline TensorMap tensor_map(const T* data, const std::int64_t (&extents)[Rank], const std::int64_t* strides,
                            const int (&box)[Rank], Swizzle swizzle) {
  std::int64_t bytes[5] = {};
  for (int d = 0; d + 1 < Rank; ++d) bytes[d] = strides[d] * static_cast<std::int64_t>(sizeof(T));
  return detail::make_tensor_map(data, sizeof(T), std::is_same_v<T, float>, extents, bytes, box, Rank, swizzle);
}

inline void barrier_init(Barrier* b, int arrivals, Where where = Where::current()) { detail::barrier_init(b, arrivals, where); }
inline void barriers_ready(Where where = Where::current()) { detail::barriers_ready(where); }
inline void barrier_arrive(Barrier* b, Where where = Where::current()) { detail::barrier_arrive(b, 0, where); }
inline void barrier_arrive_expect(Barrier* b, int bytes, Where where = Where::current()) {
  detail::barrier_arrive(b, bytes, where);
}
inline void barrier_wait(Barrier* b, int parity, Where where = Where::current()) {
  detail::barrier_wait(b, static_cast<unsigned>(parity), where);
}

inline void prefetch_map(const TensorMap&) {}
template <class T, class... More>
inline void copy_box(T* shared, const TensorMap& map, Barrier* b, detail::Coordinate first, More... more) {
  const int at[] = {first.at, static_cast<int>(more)...};
  detail::copy_box(shared, map, b, at, 1 + sizeof...(More), first.where);
}
template <class T, class... More>
inline void store_box(const TensorMap& map, const T* shared, detail::Coordinate first, More... more) {
  const int at[] = {first.at, static_cast<int>(more)...};
  detail::store_box(map, shared, at, 1 + sizeof...(More), false, first.where);
}
template <class... More>
inline void add_box(const TensorMap& map, const float* shared, detail::Coordinate first, More... more) {
  const int at[] = {first.at, static_cast<int>(more)...};
  detail::store_box(map, shared, at, 1 + sizeof...(More), true, first.where);
}
inline void store_commit() { detail::store_commit(); }
template <int N>
inline void store_wait(Where where = Where::current()) {
  detail::store_wait(N, where);
}
template <int N>
inline void store_wait_read(Where where = Where::current()) {
  detail::store_wait(N, where);
}
inline void fence_shared_async(Where where = Where::current()) { detail::fence_shared_async(where); }

struct tf32 {
  float value;
};
template <class T>
inline constexpr detail::Element element_of = std::is_same_v<T, half>       ? detail::Element::half
                                              : std::is_same_v<T, bfloat16> ? detail::Element::bfloat16
                                                                            : detail::Element::tf32;

template <class T, bool kMnMajor>
struct SharedMatrix {
  std::uint64_t bits;
  SharedMatrix plus(int bytes) const { return {bits + static_cast<std::uint64_t>(bytes / 16)}; }
};
namespace matrix_detail {
inline std::uint64_t bits_of(const void* p, int leading, int stride) {
  const auto start = static_cast<std::uint64_t>(static_cast<const unsigned char*>(p) -
                                                static_cast<const unsigned char*>(detail::shared_arena()));
  return (start & 0x3ffff) >> 4 | static_cast<std::uint64_t>(leading / 16) << 16 | static_cast<std::uint64_t>(stride / 16) << 32 |
         std::uint64_t{1} << 62;
}
}  // namespace matrix_detail
template <class T>
inline SharedMatrix<T, false> k_major(const void* p) {
  return {matrix_detail::bits_of(p, 16, 1024)};
}
template <class T>
inline SharedMatrix<T, true> mn_major(const void* p, int leading_bytes) {
  return {matrix_detail::bits_of(p, leading_bytes, 1024)};
}

inline void wgmma_begin() { detail::wgmma_begin(); }
template <class T, bool kA, bool kB, int N>
inline void wgmma(float (&acc)[N], SharedMatrix<T, kA> a, SharedMatrix<T, kB> b, bool keep, Where where = Where::current()) {
  static_assert(N % 4 == 0 && N >= 4 && N <= 128, "n is a multiple of 8 from 8 to 256");
  detail::wgmma({element_of<T>, 2 * N, a.bits, b.bits, nullptr, kA, kB, keep, acc}, where);
}
template <class T, bool kB, int N>
inline void wgmma(float (&acc)[N], const unsigned (&a)[4], SharedMatrix<T, kB> b, bool keep, Where where = Where::current()) {
  static_assert(N % 4 == 0 && N >= 4 && N <= 128, "n is a multiple of 8 from 8 to 256");
  detail::wgmma({element_of<T>, 2 * N, 0, b.bits, a, false, kB, keep, acc}, where);
}
inline void wgmma_commit() { detail::wgmma_commit(); }
template <int Newest, int N>
inline void wgmma_wait(float (&)[N], Where where = Where::current()) {
  detail::wgmma_wait(Newest, where);
}
template <int Newest, int M, int N>
inline void wgmma_wait(float (&)[M][N], Where where = Where::current()) {
  detail::wgmma_wait(Newest, where);
}

template <int N>
inline void take_registers(Where where = Where::current()) {
  detail::take_registers(N, where);
}
template <int N>
inline void give_registers(Where where = Where::current()) {
  detail::give_registers(N, where);
}
inline void keep_order() {}
inline void arrive_named(int id, int threads, Where where = Where::current()) { detail::arrive_named(id, threads, where); }

}  // namespace simt::device

namespace simt::detail {
struct StoreLane {
  WarpWork work;
  const unsigned* r;  // [N]
  void* row;
};
}  // namespace simt::detail

namespace simt::device {

template <int N, class T>
inline void stmatrix(T* row, const unsigned (&r)[N], Where where = Where::current()) {
  static_assert(sizeof(T) == 2 && (N == 1 || N == 2 || N == 4));
  if (lane_id() < 8 * N) detail::access<16, detail::Access::write>(row, where);
  detail::StoreLane lane{{detail::run_stmatrix<N>}, r, row};
  detail::work_together(detail::Meet::stmatrix, lane.work, where);
}

}  // namespace simt::device
