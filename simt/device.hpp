// SPDX-License-Identifier: Apache-2.0
// The device layer on a CPU: each word of cuda/core/device.cuh calls the simulated machine and passes on the kernel's source
// line.  Needs no CUDA toolkit.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "half.hpp"
#include "hooks.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...)

namespace simt::detail {

// Move the bytes of an access.  Note: kernels instrumented for observe.cpp call move(), which is not instrumented itself.
template <class T>
inline T get(const T* p) {
  T v;
#if defined(__SANITIZE_THREAD__)
  move(&v, p, sizeof(T));
#else
  __builtin_memcpy(&v, p, sizeof(T));
#endif
  return v;
}
template <class T>
inline void put(T* p, const T& v) {
#if defined(__SANITIZE_THREAD__)
  move(p, &v, sizeof(T));
#else
  __builtin_memcpy(p, &v, sizeof(T));
#endif
}

// Returns the lane's own value for a source beyond the warp, as the hardware does.
template <class T>
inline T shuffle_from(T v, unsigned source, unsigned mask, Where where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "a shuffle moves at most 8 bytes a lane");
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  bits = meet_warp(Meet::shuffle, bits, source < 32 ? source : static_cast<unsigned>(thread_number) % 32, mask, where);
  __builtin_memcpy(&v, &bits, sizeof(T));
  return v;
}

// The value of one lane of a butterfly.
template <class T>
struct ButterflyLane {
  WarpWork work;
  T value;
};
template <class T, class F>
void run_butterfly(WarpWork* const* lanes) {
  T values[32], next[32];
  for (int i = 0; i < 32; ++i) values[i] = reinterpret_cast<ButterflyLane<T>*>(lanes[i])->value;
  for (int offset = 16; offset > 0; offset /= 2) {
    for (int i = 0; i < 32; ++i) next[i] = F{}(values[i], values[i ^ offset]);
    for (int i = 0; i < 32; ++i) values[i] = next[i];
  }
  for (int i = 0; i < 32; ++i) reinterpret_cast<ButterflyLane<T>*>(lanes[i])->value = values[i];
}

}  // namespace simt::detail

namespace simt::device {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

template <class T, int N>
struct alignas(sizeof(T) * N) Vec {
  static_assert(sizeof(T) * N <= 16, "one access moves at most 16 bytes");
  T v[N];
  T& operator[](int i) { return v[i]; }
  const T& operator[](int i) const { return v[i]; }
};

template <class T>
inline T from_float(float v) {
  if constexpr (std::is_same_v<T, half>) return to_half(v);
  else if constexpr (std::is_same_v<T, bfloat16>) return to_bfloat16(v);
  else return static_cast<T>(v);
}
template <class T, int N>
inline Vec<T, N> from_floats(const float (&v)[N]) {
  Vec<T, N> out;
  for (int i = 0; i < N; ++i) out[i] = from_float<T>(v[i]);
  return out;
}

inline float rsqrtf(float v) { return 1.0f / ::sqrtf(v); }

inline void prefetch(const void*) {}

template <class T>
inline T ld(const T* p, Where where = Where::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::access<sizeof(T), detail::Access::read>(p, where);
  return detail::get(p);
}
template <class T>
inline void st(T* p, T v, Where where = Where::current()) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::access<sizeof(T), detail::Access::write>(p, where);
  detail::put(p, v);
}

template <class T>
inline T* shared_memory(std::size_t byte_offset = 0) {
  return reinterpret_cast<T*>(static_cast<unsigned char*>(detail::shared_arena()) + byte_offset);
}

inline void sync_block(Where where = Where::current()) { detail::sync_block(where); }
inline void sync_warp(unsigned mask = kAllLanes, Where where = Where::current()) {
  detail::meet_warp(detail::Meet::warp, 0, 0, mask, where);
}
inline void sync_named(int id, int threads, Where where = Where::current()) { detail::sync_named(id, threads, where); }

inline int linear_thread() { return detail::thread_number; }
inline int lane_id() { return linear_thread() % kWarp; }
inline int warp_id() { return linear_thread() / kWarp; }

template <class T>
inline T shuffle(T v, int lane, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::shuffle_from(v, static_cast<unsigned>(lane) % kWarp, mask, where);
}
template <class T>
inline T shuffle_xor(T v, int lane_mask, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::shuffle_from(v, static_cast<unsigned>(lane_id() ^ lane_mask), mask, where);
}
template <class T>
inline T shuffle_down(T v, unsigned delta, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::shuffle_from(v, delta < kWarp ? static_cast<unsigned>(lane_id()) + delta : kWarp, mask, where);
}
template <class T>
inline T shuffle_up(T v, unsigned delta, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::shuffle_from(v, static_cast<unsigned>(lane_id()) - delta, mask, where);
}
// Note: one rendezvous in place of five shuffles, which cost 32 changes of stack each.
template <class T, class F>
inline T butterfly(T v, F, Where where = Where::current()) {
  static_assert(std::is_empty_v<F>, "the function has no state");
  detail::ButterflyLane<T> lane{{detail::run_butterfly<T, F>}, v};
  detail::work_together(detail::Meet::butterfly, lane.work, where);
  return lane.value;
}
inline unsigned ballot(bool p, unsigned mask = kAllLanes, Where where = Where::current()) {
  return static_cast<unsigned>(detail::meet_warp(detail::Meet::ballot, p, 0, mask, where));
}
inline bool any(bool p, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::meet_warp(detail::Meet::any, p, 0, mask, where) != 0;
}
inline bool all(bool p, unsigned mask = kAllLanes, Where where = Where::current()) {
  return detail::meet_warp(detail::Meet::all, p, 0, mask, where) != 0;
}

// Counts as a read and a write.  Note: like a GPU's, a sum of floats in global memory flushes subnormals: of the terms, and of
// the result; one in shared memory does not (measured: `validate probe`).
template <class T>
inline T atomic_add(T* p, T v, Where where = Where::current()) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
                std::is_same_v<T, unsigned long long>);
  detail::access<sizeof(T), detail::Access::atomic_read>(p, where);
  detail::access<sizeof(T), detail::Access::atomic_write>(p, where);
  const T old = detail::get(p);
  T sum;
  if constexpr (std::is_same_v<T, int>) sum = static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(v));
  else if constexpr (std::is_same_v<T, float>) sum = detail::in_shared_memory(p) ? old + v : detail::add_flushing(old, v);
  else sum = old + v;
  detail::put(p, sum);
  return old;
}

inline void next_grid_may_start() {}
inline void wait_for_previous_grid(Where where = Where::current()) { detail::wait_for_previous_grid(where); }

struct LaunchConfig {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  bool dependent = false;
  Where where = Where::current();  // source line of the launch, for findings
};

// Converts the arguments to the kernel's parameter types once; every thread gets copies of them.  Throws Fault at a finding.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), const LaunchConfig& config, void* stream, Args&&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args), "as many arguments as the kernel has parameters");
  struct Closure {
    void (*kernel)(Params...);
    std::tuple<std::decay_t<Params>...> values;
  };
  const Closure closure{kernel, std::tuple<std::decay_t<Params>...>(static_cast<Params>(std::forward<Args>(args))...)};
  detail::run_grid({config.grid, config.block, config.shared_bytes,
                    [](const void* p) {
                      const auto& c = *static_cast<const Closure*>(p);
                      std::apply(c.kernel, c.values);
                    },
                    &closure, config.where, stream, config.dependent});
}

}  // namespace simt::device

#include "device_mma.hpp"
