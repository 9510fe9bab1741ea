// SPDX-License-Identifier: Apache-2.0
// Kernel arguments, shared by the kernels of this room.
#pragma once

#include "cuda/core/row_softmax.cuh"
#include "ops/softmax.hpp"

namespace assay::ASSAY_FLAVOUR::softmax_room {

using namespace row_softmax;

template <class T>
struct Matrices {
  const T* x;  // [rows, cols], rows x_stride elements apart
  T* y;        // [rows, cols]
  std::int64_t rows, cols, x_stride, y_stride;
  __device__ Row<T> row(std::int64_t r) const { return {x + r * x_stride, y + r * y_stride, cols}; }
};

template <class T>
Matrices<T> matrices(const softmax::Args& a) {
  return {a.x.as<T>(), a.y.as<T>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.y.stride[0]};
}

inline bool wide(const softmax::Args& a) { return a.x.rows_aligned(kAccess) && a.y.rows_aligned(kAccess); }

}  // namespace assay::ASSAY_FLAVOUR::softmax_room
