// SPDX-License-Identifier: Apache-2.0
// cuDNN must have plans for attention's gradients on a described device.  This needs no GPU, but cuDNN, a libcuda and some
// seconds per plan, so the tests run only by name: assay_tests "[vendor-plans]".
#ifdef ASSAY_CUDNN
#include <string>

#include "catch_shim.hpp"
#include "cuda/core/vendor/cudnn_attention.hpp"

using namespace assay;
using namespace assay::vendor::cudnn;

namespace {

Descriptor described_h200() {
  const std::string text = R"({"maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
    "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000, "multiProcessorCount": 132, "smClockRateKHz": 1980000,
    "memClockRateKHz": 3201000, "l2CacheSize": 62914560, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
    "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
    "pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "isTccDriver": 0,
    "supportCoopLaunch": 1, "regsPerBlock": 65536, "cudaDeviceId": 0, "totalGlobalMem": 150000000000})";
  Descriptor device(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, static_cast<std::int64_t>(text.size() + 1), text.data());
  device.finalize("described device");
  return device;
}

Tensor heads_of(DType t, std::int64_t batch, std::int64_t seq, std::int64_t heads, std::int64_t dim) {
  return {.dtype = t, .rank = 4, .shape = {batch, seq, heads, dim}, .stride = {seq * heads * dim, heads * dim, dim, 1}};
}

}  // namespace

TEST_CASE("vendor: cuDNN has a plan for attention's gradients, with masks, grouped heads and ragged sequences",
          "[.][vendor-plans]") {
  if (!available()) return;
  const Descriptor device = described_h200();
  struct Shape {
    std::int64_t seq_q, seq_k, heads, kv_heads, dim;
    Mask mask;
  };
  for (const Shape& s : {Shape{128, 128, 2, 2, 64, Mask::none}, Shape{129, 200, 4, 1, 40, Mask::causal_bottom_right},
                         Shape{256, 256, 4, 2, 128, Mask::causal_top_left}})
    for (const DType t : {f16, bf16}) {
      AttentionGradient a;
      a.q = a.o = a.d_o = a.dq = heads_of(t, 2, s.seq_q, s.heads, s.dim);
      a.k = a.v = a.dk = a.dv = heads_of(t, 2, s.seq_k, s.kv_heads, s.dim);
      a.lse = {.dtype = f32, .rank = 3, .shape = {2, s.heads, s.seq_q}, .stride = {s.heads * s.seq_q, s.seq_q, 1}};
      a.mask = s.mask;
      const AttentionGraph built = attention_gradient_graph(a, &device);
      INFO(name(t) << " seq_q=" << s.seq_q << " heads=" << s.heads << " kv_heads=" << s.kv_heads << ": " << built.why);
      CHECK(built.plans.size() == 1);
      CHECK(built.ids.size() == 13 + (s.mask == Mask::none ? 0 : s.mask == Mask::causal_bottom_right ? 3 : 1));
    }
}
#endif
