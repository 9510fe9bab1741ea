/* SPDX-License-Identifier: Apache-2.0 */
#include "assay.h"

int cuda_fused_rmsnorm_gemm_fp16(const _Float16* x, const _Float16* gamma, const _Float16* weight, _Float16* y, int tokens,
                                 int hidden, int out, float epsilon, void* stream);

static int run(const AssayCall* call) {
  const AssayDLTensor *x = assay_tensor(call, "x"), *weight = assay_tensor(call, "weight");
  return cuda_fused_rmsnorm_gemm_fp16(x->data, assay_tensor(call, "gamma")->data, weight->data, assay_tensor(call, "y")->data,
                                      (int)x->shape[0], (int)x->shape[1], (int)weight->shape[0],
                                      (float)assay_attribute(call, "epsilon")->number, call->stream);
}

static const AssayKernel fused = {.size = sizeof(AssayKernel),
                                  .op = "rmsnorm_gemm",
                                  .name = "fused",
                                  .dtypes = "f16",
                                  .supports = assay_dense_alone,
                                  .run = run};

const AssayPlugin* assay_plugin(uint32_t abi_version) {
  static const AssayKernel* const kernels[] = {&fused};
  static const AssayPlugin plugin = {sizeof(AssayPlugin), ASSAY_ABI_VERSION, 1, kernels};
  return abi_version == plugin.abi_version ? &plugin : NULL;
}
