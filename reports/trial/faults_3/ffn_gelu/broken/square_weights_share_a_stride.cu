// SPDX-License-Identifier: Apache-2.0
// FAULT: where both weights have the same shape, the rows of the second are found by the stride of the first.
// Kind: layout
// Shows: hidden = ffn with weights of different strides.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, square_weights_share_a_stride) {

// A block a token: h in shared memory, then the outputs.
template <class T>
__global__ void ffn_gelu_in_shared(const T* x, const T* w1, const T* b1, const T* w2, const T* b2, T* y, std::int64_t hidden,
                                   std::int64_t ffn, std::int64_t x_stride, std::int64_t w1_stride, std::int64_t w2_stride,
                                   std::int64_t y_stride, bool erf_form) {
  float* const h = shared_memory<float>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  for (std::int64_t f = threadIdx.x; f < ffn; f += 128) {
    float z = 0;
    for (std::int64_t c = 0; c < hidden; ++c) z = fmaf(to_float(ld(x + c)), to_float(ld(w1 + f * w1_stride + c)), z);
    if (b1 != nullptr) z += to_float(ld(b1 + f));
    st(h + f, erf_form ? gelu_erf(z) : gelu_tanh(z));
  }
  sync_block();
  for (std::int64_t o = threadIdx.x; o < hidden; o += 128) {
    float sum = 0;
    for (std::int64_t f = 0; f < ffn; ++f) sum = fmaf(ld(h + f), to_float(ld(w2 + o * w2_stride + f)), sum);
    st(y + o, from_float<T>(b2 != nullptr ? sum + to_float(ld(b2 + o)) : sum));
  }
}

Legality supports(const ffn_gelu::Args& a) {
  return a.w1.shape[0] > 8192 ? Legality::no("ffn exceeds 8192") : Legality::yes();
}
KERNEL(ffn_gelu){.dtypes = kEveryType,
                 .tiles = {tile(Axis::tokens, 1), tile(Axis::hidden, 128), tile(Axis::ffn, 128)},
                 .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
                 .supports = supports};

void run(const ffn_gelu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const std::int64_t hidden = a.x.shape[1], ffn = a.w1.shape[0], w2_stride = hidden == ffn ? a.w1.stride[0] : a.w2.stride[0];
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(ffn_gelu_in_shared<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(128), .shared_bytes = static_cast<std::size_t>(ffn) * sizeof(float)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), hidden, ffn,
           a.x.stride[0], a.w1.stride[0], w2_stride, a.y.stride[0], a.form == Activation::gelu_erf);
  });
}

}  // namespace assay::ROOM(ffn_gelu, square_weights_share_a_stride)
