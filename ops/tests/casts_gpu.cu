// SPDX-License-Identifier: Apache-2.0
// Compares the casts of ops/core/dtype.hpp with those of a GPU: every code of 8 bits, and 2^24 values of f32 with all exponents.
// Prints the number of differences of each.  Exits with 1 if there are any, with 77 if there is no GPU.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "ops/core/dtype.hpp"

namespace {

constexpr unsigned kValues = 1u << 24;

// All exponents and both signs, with 15 bits of the significand; the lowest bits, which decide ties, are 00, 01, 80 or ff.
__host__ __device__ std::uint32_t bits_of(unsigned i) {
  constexpr std::uint32_t kLast[] = {0x00, 0x01, 0x80, 0xff};
  return (i >> 2) << 10 | (i & 1) << 9 | kLast[i & 3];
}

__global__ void cast(std::uint8_t* e4m3, std::uint8_t* e5m2, std::uint8_t* scale) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float v = __uint_as_float(bits_of(i));
  e4m3[i] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
  e5m2[i] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2);
  scale[i] = __nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf);
}

__global__ void widen(float* e4m3, float* e5m2) {
  const auto code = static_cast<std::uint8_t>(threadIdx.x);
  e4m3[code] = __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E4M3)));
  e5m2[code] = __half2float(__half(__nv_cvt_fp8_to_halfraw(code, __NV_E5M2)));
}

bool same(double a, double b) { return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b); }

double decoded(assay::DType t, std::uint8_t code) { return assay::decode(t, &code, 0); }

// The least power of two that is not below v, as a scale is rounded up.
double scale_above(double v) {
  if (!(v > 0) || std::isinf(v)) return v;
  int exponent = 0;
  const double half_to_one = std::frexp(v, &exponent);
  return std::ldexp(half_to_one == 0.5 ? 0.5 : 1.0, exponent);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU");
    return 77;
  }
  std::uint8_t *e4m3 = nullptr, *e5m2 = nullptr, *scale = nullptr;
  float *wide_e4m3 = nullptr, *wide_e5m2 = nullptr;
  cudaMallocManaged(&e4m3, kValues);
  cudaMallocManaged(&e5m2, kValues);
  cudaMallocManaged(&scale, kValues);
  cudaMallocManaged(&wide_e4m3, 256 * sizeof(float));
  cudaMallocManaged(&wide_e5m2, 256 * sizeof(float));
  cast<<<kValues / 256, 256>>>(e4m3, e5m2, scale);
  widen<<<1, 256>>>(wide_e4m3, wide_e5m2);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::puts(cudaGetErrorString(error));
    return 1;
  }

  long of_e4m3 = 0, of_e5m2 = 0, of_scale = 0, of_codes = 0;
  for (unsigned i = 0; i < kValues; ++i) {
    const auto v = static_cast<double>(std::bit_cast<float>(bits_of(i)));
    of_e4m3 += !same(decoded(assay::e4m3, e4m3[i]), assay::round_to(assay::e4m3, v));
    of_e5m2 += !same(decoded(assay::e5m2, e5m2[i]), assay::round_to(assay::e5m2, v));
    // Note: the device's cast takes what is negative by its size; a scale never is.
    if (!std::signbit(v)) of_scale += !same(decoded(assay::e8m0, scale[i]), assay::round_to(assay::e8m0, scale_above(v)));
  }
  for (unsigned code = 0; code < 256; ++code) {
    of_codes += !same(wide_e4m3[code], decoded(assay::e4m3, static_cast<std::uint8_t>(code)));
    of_codes += !same(wide_e5m2[code], decoded(assay::e5m2, static_cast<std::uint8_t>(code)));
  }
  std::printf("%u values of f32: %ld differ in e4m3, %ld in e5m2, %ld in e8m0 (rounded up); of 512 codes %ld\n", kValues, of_e4m3,
              of_e5m2, of_scale, of_codes);
  return of_e4m3 + of_e5m2 + of_scale + of_codes == 0 ? 0 : 1;
}
