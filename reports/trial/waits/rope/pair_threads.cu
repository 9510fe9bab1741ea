// SPDX-License-Identifier: Apache-2.0
// SOUND: a thread for each pair of a token, which rotates that pair in every head; angles in f64, reduced by whole turns.
#include "cuda/core/kernel.cuh"
#include "ops/rope.hpp"

namespace assay::ROOM(rope, pair_threads) {

KERNEL(rope){
    .dtypes = {f16, bf16, f32},
    .numerics = {.accumulate = f32, .angle_error = 0x1p-20, .reduced_angle_error = 2},
};

struct Side {
  const void* in;
  void* out;
  std::int64_t in_batch, in_token, in_head, out_batch, out_token, out_head;
  int heads;
};

Side side(const Tensor& in, const Tensor& out) {
  return {in.data,       out.data,      in.stride[0],  in.stride[1], in.stride[2],
          out.stride[0], out.stride[1], out.stride[2], static_cast<int>(in.shape[2])};
}

template <class T>
__device__ void turn(const Side& x, std::int64_t b, std::int64_t s, int first, int second, float cosine, float sine) {
  const T* in = static_cast<const T*>(x.in) + b * x.in_batch + s * x.in_token;
  T* out = static_cast<T*>(x.out) + b * x.out_batch + s * x.out_token;
  for (int h = 0; h < x.heads; ++h, in += x.in_head, out += x.out_head) {
    const float u = to_float(ld(in + first)), v = to_float(ld(in + second));
    st(out + first, from_float<T>(fmaf(u, cosine, -(v * sine))));
    st(out + second, from_float<T>(fmaf(u, sine, v * cosine)));
  }
}

template <class T>
__device__ void copy(const Side& x, std::int64_t b, std::int64_t s, int d) {
  const T* in = static_cast<const T*>(x.in) + b * x.in_batch + s * x.in_token;
  T* out = static_cast<T*>(x.out) + b * x.out_batch + s * x.out_token;
  for (int h = 0; h < x.heads; ++h) st(out + h * x.out_head + d, ld(in + h * x.in_head + d));
}

template <class T>
__global__ void pair_threads(Side q, Side k, const int* positions, std::int64_t positions_stride, const float* frequencies,
                             std::int64_t seq, int pairs, int dim, double log2_base, std::int64_t offset, bool interleaved) {
  const std::int64_t b = blockIdx.x / seq, s = blockIdx.x % seq;
  const std::int64_t position = offset + (positions ? ld(positions + b * positions_stride + s) : s);
  for (int p = static_cast<int>(threadIdx.x); p < pairs; p += static_cast<int>(blockDim.x)) {
    const double frequency = frequencies ? static_cast<double>(ld(frequencies + p)) : exp2(-log2_base * p / pairs);
    const double angle = static_cast<double>(position) * frequency;
    const float rest = static_cast<float>(fma(-6.283185307179586, rint(angle * 0.15915494309189535), angle));
    const float cosine = cosf(rest), sine = sinf(rest);
    const int first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + 1 : p + pairs;
    turn<T>(q, b, s, first, second, cosine, sine);
    turn<T>(k, b, s, first, second, cosine, sine);
  }
  for (int d = 2 * pairs + static_cast<int>(threadIdx.x); d < dim; d += static_cast<int>(blockDim.x)) {
    copy<T>(q, b, s, d);
    copy<T>(k, b, s, d);
  }
}

void run(const rope::Args& a, const Launch& l) {
  const std::int64_t seq = a.q.shape[1], tokens = a.q.shape[0] * seq;
  if (tokens == 0) return;
  const int pairs = static_cast<int>(a.rotary() / 2), dim = static_cast<int>(a.q.shape[3]);
  with_type(a.q.dtype, [&]<class T>(Type<T>) {
    launch(pair_threads<T>, {.grid = dim3(static_cast<unsigned>(tokens)), .block = dim3(64)}, l.stream, side(a.q, a.q_out),
           side(a.k, a.k_out), a.positions.as<int>(), a.positions.stride[0], a.frequencies.as<float>(), seq, pairs, dim,
           std::log2(a.base_used()), static_cast<std::int64_t>(a.offset), a.layout == rope::Layout::interleaved);
  });
}

}  // namespace assay::ROOM(rope, pair_threads)
