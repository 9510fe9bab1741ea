// SPDX-License-Identifier: Apache-2.0
// A warp at work, and the templates from which operations on its lanes are made.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "half.hpp"
#include "options.hpp"
#include "program.hpp"
#include "threads.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace simt::ptx {

struct Warp {
  std::byte* base[2];                    // of its registers, and of the constants
  std::uint32_t mask = 0;                // lanes that execute
  std::uint32_t alive = 0;               // lanes that have not ended
  bool full = false;                     // all living lanes execute: the others' values do not matter
  alignas(32) std::uint32_t on[kLanes];  // all ones for each lane of the mask
  detail::Thread* thread = nullptr;      // of lane 0
  std::byte* local = nullptr;            // of lane 0; the other lanes' follow
  const Program* program = nullptr;
  const std::byte* parameters = nullptr;
  unsigned a_words[kLanes][4];  // of a wgmma whose A lies in registers, until its warpgroup has come

  void execute(std::uint32_t lanes) {
    if (lanes == mask && full == ((lanes | ~alive) == 0xffffffffu)) return;
    mask = lanes;
    full = (lanes | ~alive) == 0xffffffffu;
    if (full) return;
    for (unsigned i = 0; i < kLanes; ++i) on[i] = 0u - (lanes >> i & 1u);
  }
  template <class T>
  T* at(Place p) const {
    return reinterpret_cast<T*>(base[p & 1] + (p & ~Place{1}));
  }
  // The lanes for which a predicate holds.
  std::uint32_t lanes_of(Place p) const {
    const auto* v = at<std::uint32_t>(p);
    std::uint32_t bits = 0;
#if defined(__AVX2__)
    for (unsigned i = 0; i < 4; ++i)
      bits |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_loadu_ps(reinterpret_cast<const float*>(v + 8 * i)))) << 8 * i;
#else
    for (unsigned i = 0; i < kLanes; ++i) bits |= (v[i] >> 31) << i;
#endif
    return bits;
  }
  template <class Each>
  void each_lane(Each each) const {  // in the machine's order of threads; lanes that hold one element always in one order
    if (detail::options.order == ThreadOrder::forward || detail::options.replicated)
      for (std::uint32_t left = mask; left != 0; left &= left - 1) each(static_cast<unsigned>(std::countr_zero(left)));
    else
      for (std::uint32_t left = mask; left != 0;) {
        const unsigned lane = 31u - static_cast<unsigned>(std::countl_zero(left));
        each(lane);
        left &= ~(1u << lane);
      }
  }
};

// How a value lies in a lane.
template <class V>
using Store = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;

template <class V>
inline V from_lane(Store<V> s) {
  if constexpr (std::is_same_v<V, bool>) return s != 0;
  else if constexpr (std::is_floating_point_v<V>) return std::bit_cast<V>(s);
  else return static_cast<V>(s);
}
template <class V>
inline Store<V> to_lane(V v) {
  if constexpr (std::is_same_v<V, bool>) return v ? 0xffffffffu : 0u;
  else if constexpr (std::is_floating_point_v<V>) return std::bit_cast<Store<V>>(v);
  else if constexpr (std::is_signed_v<V> && sizeof(V) < 4) return static_cast<std::uint32_t>(static_cast<std::int32_t>(v));
  else return static_cast<Store<V>>(v);
}

#if defined(__clang__)
#define SIMT_PTX_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMT_PTX_LANES _Pragma("GCC ivdep")
#endif

// d[lane] = f(lane) for the lanes that execute.  Note: an operand's vector is d's own or does not overlap it (registers.cpp), so
// the lanes are independent.
template <class D, class F>
inline void for_lanes(const Warp& w, D* d, F f) {
  if (w.full) {
    SIMT_PTX_LANES
    for (unsigned i = 0; i < kLanes; ++i) d[i] = f(i);
  } else {
    SIMT_PTX_LANES
    for (unsigned i = 0; i < kLanes; ++i) {
      const D v = f(i);
      d[i] = w.on[i] != 0 ? v : d[i];
    }
  }
}

template <auto F, class D, class A>
void op1(Warp& w, const Op& o) {
  const auto* a = w.at<Store<A>>(o.a);
  for_lanes(w, w.at<Store<D>>(o.d), [=](unsigned i) { return to_lane<D>(static_cast<D>(F(from_lane<A>(a[i])))); });
}
template <auto F, class D, class A, class B>
void op2(Warp& w, const Op& o) {
  const auto* a = w.at<Store<A>>(o.a);
  const auto* b = w.at<Store<B>>(o.b);
  for_lanes(w, w.at<Store<D>>(o.d),
            [=](unsigned i) { return to_lane<D>(static_cast<D>(F(from_lane<A>(a[i]), from_lane<B>(b[i])))); });
}
template <auto F, class D, class A, class B, class C>
void op3(Warp& w, const Op& o) {
  const auto* a = w.at<Store<A>>(o.a);
  const auto* b = w.at<Store<B>>(o.b);
  const auto* c = w.at<Store<C>>(o.c);
  for_lanes(w, w.at<Store<D>>(o.d), [=](unsigned i) {
    return to_lane<D>(static_cast<D>(F(from_lane<A>(a[i]), from_lane<B>(b[i]), from_lane<C>(c[i]))));
  });
}

}  // namespace simt::ptx
