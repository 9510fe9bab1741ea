// SPDX-License-Identifier: Apache-2.0
// FAULT: units go in chunks of 384, one launch each, and the sums so far are carried in y.
// Kind: precision
// Shows: ffn above 384 in f16 and bf16.
#include "cuda/ffn_gelu/broken/plain.cuh"

namespace assay::ROOM(ffn_gelu, output_carried_in_storage_type) {

inline constexpr std::int64_t kUnits = 384;

template <class T>
__global__ void ffn_gelu_carry(const float* h, const T* w2, const T* b2, T* y, std::int64_t hidden, std::int64_t ffn,
                               std::int64_t w2_stride, std::int64_t y_stride, std::int64_t first) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainOut + threadIdx.x;
  if (o >= hidden) return;
  const std::int64_t end = first + kUnits < ffn ? first + kUnits : ffn;
  T* const to = y + token * y_stride + o;
  float sum = first == 0 ? 0.0f : to_float(ld(to));
  for (std::int64_t f = first; f < end; ++f) sum = fmaf(ld(h + token * ffn + f), to_float(ld(w2 + o * w2_stride + f)), sum);
  if (end == ffn && b2 != nullptr) sum += to_float(ld(b2 + o));
  st(to, from_float<T>(sum));
}

KERNEL(ffn_gelu) = plain_traits<Plain>();

void run(const ffn_gelu::Args& a, const Launch& l) {
  const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
  if (tokens == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    float* const h = static_cast<float*>(l.workspace);
    const Plain<T> steps{a.form};
    const Shape first{tokens, ffn, hidden, a.x.stride[0], a.w1.stride[0], ffn, ceil_div(ffn, kPlainOut)};
    launch(ffn_gelu_plain<T, T, float, Unit<Plain<T>>>,
           {.grid = dim3(ceil_div(tokens, kPlainTokens) * first.blocks_across), .block = dim3(kPlainOut, kPlainTokens)},
           l.stream, a.x.as<T>(), a.w1.as<T>(), a.b1.as<T>(), h, first, Unit<Plain<T>>{steps});
    for (std::int64_t unit = 0; unit < ffn; unit += kUnits)
      launch(ffn_gelu_carry<T>, {.grid = dim3(tokens, ceil_div(hidden, kPlainOut)), .block = dim3(kPlainOut)}, l.stream, h,
             a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), hidden, ffn, a.w2.stride[0], a.y.stride[0], unit);
  });
}

}  // namespace assay::ROOM(ffn_gelu, output_carried_in_storage_type)
