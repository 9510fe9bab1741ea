// SPDX-License-Identifier: Apache-2.0
// The steps of a plain kernel (core/kernel_family.cuh): an output by the formula, as the naive kernel has it.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ASSAY_FLAVOUR::layernorm_linear_room {

// Every step as it should be; Plain<T> is the problem.
template <class T>
struct Formula {
  static __device__ std::int64_t statistics_of(std::int64_t token) { return token; }
  // 1 / deviation.
  static __device__ float inverse(const Plain<T>& p, std::int64_t token, float mean) { return p.inverse(token, mean); }
  static __device__ float normalised(const Plain<T>& p, std::int64_t h, float d, float r) {
    return fmaf(d * r, p.scale(h), p.offset(h));
  }
  template <class S>
  static __device__ float product(const Plain<T>& p, std::int64_t token, std::int64_t o, float mean, float r) {
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h) sum = fmaf(S::normalised(p, h, p.at(token, h) - mean, r), p.factor(o, h), sum);
    return sum;
  }
};

template <class S>
struct BySteps {
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const std::int64_t row = S::statistics_of(token);
    const float mean = p.mean(row);
    return S::template product<S>(p, token, o, mean, S::inverse(p, row, mean));
  }
};

template <template <class> class S>
constexpr KernelTraits<layernorm_linear> plain_traits(DTypes dtypes = kEveryType) {
  return {.dtypes = dtypes,
          .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
          .numerics = {.accumulate = f32, .chain = {.lanes = 1}}};
}

template <template <class> class S>
void run_plain(const layernorm_linear::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, BySteps<S<T>>{}); });
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_linear_room
