// SPDX-License-Identifier: Apache-2.0
// Shared by the kernels of this room: the requested reduction as a type.
#pragma once

#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ASSAY_FLAVOUR::row_reduce_room {

// Checks that a lane's serial f32 sum is not too long: 2^22 roundings of 2^-24 are a relative error of a quarter.
inline Legality short_shares(const row_reduce::Args& a, int lanes) {
  if (a.x.shape[1] <= std::int64_t{lanes} << 22) return Legality::yes();
  return Legality::no("a lane's share exceeds 2^22 columns: its serial f32 sum has few digits left");
}

// Calls f(Type<Fold>{}) for the requested reduction.
template <class F>
void with_fold(Reduction what, F&& f) {
  switch (what) {
    case Reduction::sum: return f(Type<fold::Sum>{});
    case Reduction::max: return f(Type<fold::Max>{});
    case Reduction::logsumexp: return f(Type<fold::LogSumExp>{});
    case Reduction::sum_of_squares: return f(Type<fold::SumOfSquares>{});
  }
}

// Calls f(Type<T>{}, Type<Fold>{}, N): N elements are 16 bytes if every row is so aligned, else N is 1.
template <class F>
void with_all(const row_reduce::Args& a, F&& f) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    with_fold(a.what, [&]<class Fold>(Type<Fold>) {
      if (a.x.rows_aligned(16)) f(Type<T>{}, Type<Fold>{}, std::integral_constant<int, 16 / sizeof(T)>{});
      else f(Type<T>{}, Type<Fold>{}, std::integral_constant<int, 1>{});
    });
  });
}

}  // namespace assay::ASSAY_FLAVOUR::row_reduce_room
