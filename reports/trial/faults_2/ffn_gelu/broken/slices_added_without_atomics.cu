// SPDX-License-Identifier: Apache-2.0
// FAULT: each block has 128 units of a token and adds its part of y to workspace by a load and a store; the block of the first
// units stores. Nothing orders the blocks.
// Kind: concurrency
// Shows: ffn > 128.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, slices_added_without_atomics) {

inline constexpr int kSlice = 128;

template <class T>
struct Fused {
  const T *x, *w1, *b1, *w2, *b2;
  T* y;
  float* sums;  // [tokens, hidden]
  std::int64_t tokens, hidden, ffn, x_stride, w1_stride, w2_stride, y_stride;
  Plain<T> steps;
};

template <class T>
__global__ void slices(Fused<T> p) {
  float* const h = shared_memory<float>();
  const std::int64_t token = blockIdx.x % p.tokens, slice = blockIdx.x / p.tokens, first = slice * kSlice;
  const std::int64_t count = p.ffn - first < kSlice ? p.ffn - first : kSlice, unit = first + threadIdx.x;
  if (unit < p.ffn) {
    float z = 0;
    for (std::int64_t i = 0; i < p.hidden; ++i)
      z = fmaf(to_float(ld(p.x + token * p.x_stride + i)), to_float(ld(p.w1 + unit * p.w1_stride + i)), z);
    st(h + threadIdx.x, p.steps.activated(p.b1 != nullptr ? z + to_float(ld(p.b1 + unit)) : z));
  }
  sync_block();
  for (std::int64_t o = threadIdx.x; o < p.hidden; o += kSlice) {
    float* const to = p.sums + token * p.hidden + o;
    float sum = slice == 0 ? 0.0f : ld(to);
    for (std::int64_t i = 0; i < count; ++i) sum = fmaf(ld(h + i), to_float(ld(p.w2 + o * p.w2_stride + first + i)), sum);
    st(to, sum);
  }
}

template <class T>
__global__ void finish(Fused<T> p) {
  const std::int64_t token = blockIdx.x;
  for (std::int64_t o = threadIdx.x; o < p.hidden; o += kSlice) {
    const float sum = ld(p.sums + token * p.hidden + o);
    st(p.y + token * p.y_stride + o, from_float<T>(p.b2 != nullptr ? sum + to_float(ld(p.b2 + o)) : sum));
  }
}

std::size_t workspace(const ffn_gelu::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * a.x.shape[1]) * sizeof(float);
}

KERNEL(ffn_gelu) = {.dtypes = kEveryType,
                    .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, kSlice), tile(Axis::ffn, kSlice)},
                    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
                    .workspace_bytes = workspace};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Fused<T> p{a.x.as<T>(),   a.w1.as<T>(),   a.b1.as<T>(),   a.w2.as<T>(),   a.b2.as<T>(),
                     a.y.as<T>(),   static_cast<float*>(l.workspace), a.x.shape[0], a.x.shape[1], a.w1.shape[0],
                     a.x.stride[0], a.w1.stride[0], a.w2.stride[0], a.y.stride[0], Plain<T>{a.form}};
    launch(slices<T>,
           {.grid = dim3(p.tokens * ceil_div(p.ffn, kSlice)), .block = dim3(kSlice), .shared_bytes = kSlice * sizeof(float)},
           l.stream, p);
    launch(finish<T>, {.grid = dim3(p.tokens), .block = dim3(kSlice)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(ffn_gelu, slices_added_without_atomics)
