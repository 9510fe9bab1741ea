// SPDX-License-Identifier: Apache-2.0
// CUB: DeviceReduce if x is one row, else DeviceSegmentedReduce, one block per row; sums in f32 for any dtype.
#include <limits>

#include "cuda/core/vendor/cub_gpu.cuh"
#include "cuda/row_reduce/row.cuh"

namespace assay::ROOM(row_reduce, baseline_cub) {

struct Plus {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Larger {
  __device__ float operator()(float a, float b) const { return fold::larger(a, b); }
};
struct Square {
  template <class T>
  __device__ float operator()(T v) const {
    return to_float(v) * to_float(v);
  }
};

// Returns the bytes of workspace that are needed; runs only if `workspace` is not null.
std::size_t reduce(const row_reduce::Args& a, void* workspace, std::size_t bytes, void* stream) {
  std::size_t needed = 0;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const auto go = [&](auto x, auto op, float start) {
      needed = vendor::cub_reduce::reduce_rows(x, a.y.as<float>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], op, start,
                                               workspace, bytes, static_cast<cudaStream_t>(stream));
    };
    const T* const x = a.x.as<T>();
    if (a.what == Reduction::max) go(x, Larger{}, -INFINITY);
    else if (a.what == Reduction::sum) go(x, Plus{}, 0.0f);
    else go(thrust::make_transform_iterator(x, Square{}), Plus{}, 0.0f);
  });
  return needed;
}

inline constexpr int kLanes = 256;

Legality supports(const row_reduce::Args& a) {
  if (a.what == Reduction::logsumexp) return Legality::no("the library has no logsumexp");
  if (a.x.shape[1] > 1 && a.x.stride[1] != 1) return Legality::no("rows must be contiguous");
  if (a.x.shape[0] >= std::int64_t{1} << 31) return Legality::no("at most 2^31 - 1 rows");
  return short_shares(a, kLanes);
}
std::size_t workspace_bytes(const row_reduce::Args& a) { return a.x.shape[0] == 0 ? 0 : reduce(a, nullptr, 0, nullptr); }

// Note: CUB chooses its blocks by the device.  At least 256 threads share a row, each taking 16 or 20 elements at a time; 13
// additions join a block, and 13 after some 24 more join the blocks.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .position_matters = true,  // depends on 16-byte alignment of the row, and on the number of rows
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, 4096)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = 20 + 13 + 24 + 13}},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  // Note: skips the query for the workspace size, which costs as much as the call.
  reduce(a, l.workspace, std::numeric_limits<std::size_t>::max(), l.stream);
}

}  // namespace assay::ROOM(row_reduce, baseline_cub)
