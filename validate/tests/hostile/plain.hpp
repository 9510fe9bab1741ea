// SPDX-License-Identifier: Apache-2.0
// Gives the right answer by the plainest means, so that a hostile kernel fails only for its misbehaviour; and the ways to
// misbehave on the device that several kernels share.
#pragma once

#include <cmath>

#include "cuda/core/kernel.cuh"
#include "ops/layernorm_residual.hpp"

namespace assay::ASSAY_FLAVOUR {

// One thread per row, in double.  kThroughSt: whether it stores through st(), or by plain assignment.
template <class T, bool kThroughSt>
__global__ void answer_rows(const T* x, const T* residual, const T* gamma, const T* beta, T* y, std::int64_t rows,
                            std::int64_t cols, std::int64_t x_stride, std::int64_t residual_stride, std::int64_t y_stride,
                            double epsilon) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += row * x_stride;
  residual += row * residual_stride;
  y += row * y_stride;
  const auto value = [](const T* p) { return static_cast<double>(to_float(ld(p))); };
  double mean = 0, variance = 0;
  for (std::int64_t c = 0; c < cols; ++c) mean += value(x + c) / static_cast<double>(cols);
  for (std::int64_t c = 0; c < cols; ++c) variance += (value(x + c) - mean) * (value(x + c) - mean) / static_cast<double>(cols);
  const double deviation = sqrt(variance + epsilon);
  for (std::int64_t c = 0; c < cols; ++c) {
    const double normalised = (value(x + c) - mean) / deviation * value(gamma + c) + value(beta + c);
    const T result = from_float<T>(static_cast<float>(normalised + value(residual + c)));
    if constexpr (kThroughSt) st(y + c, result);
    else y[c] = result;
  }
}

template <bool kThroughSt = true>
void answer(const layernorm_residual::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(answer_rows<T, kThroughSt>, {.grid = dim3(ceil_div(rows, 64)), .block = dim3(64)}, l.stream, a.x.as<T>(),
           a.residual.as<T>(), a.gamma.as<T>(), a.beta.as<T>(), a.y.as<T>(), rows, cols, a.x.stride[0], a.residual.stride[0],
           a.y.stride[0], a.epsilon);
  });
}

template <class T>
__global__ void change(T* y) {
  st(y, from_float<T>(2 * to_float(ld(y)) + 1));
}

// Makes the answer wrong.
inline void spoil(const layernorm_residual::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.y.dtype, [&]<class T>(Type<T>) { launch(change<T>, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.y.as<T>()); });
}

// These are templates, so that files that do not use them contain no code for them.
// Ends at once if `what` is null, else never.  Note: nvcc 13 takes a loop over a volatile variable of the thread away.
template <class Byte>
__global__ void spin(const volatile Byte* what) {
  while (what && *what == *what) {
  }
}
template <class Int>
__global__ void poke(Int* where) {
  st(where, Int{1});
}

}  // namespace assay::ASSAY_FLAVOUR
