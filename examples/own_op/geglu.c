// SPDX-License-Identifier: Apache-2.0
// A plugin for the op of geglu.json, in plain C for the backend host.
#include <assay.h>
#include <math.h>
#include <string.h>

static int run(const AssayCall* call) {
  const AssayDLTensor *gate = assay_tensor(call, "gate"), *up = assay_tensor(call, "up"), *y = assay_tensor(call, "y");
  const int by_tanh = strcmp(assay_attribute(call, "form")->word, "tanh") == 0;
  for (int64_t token = 0; token < y->shape[0]; ++token)
    for (int64_t channel = 0; channel < y->shape[1]; ++channel) {
      const float x = ((const float*)gate->data)[token * gate->strides[0] + channel];
      const float cubic = 0.7978845608f * (x + 0.044715f * x * x * x);
      const float gelu = by_tanh ? x / (1 + expf(-2 * cubic)) : x / 2 * erfcf(-0.7071067812f * x);
      ((float*)y->data)[token * y->strides[0] + channel] = gelu * ((const float*)up->data)[token * up->strides[0] + channel];
    }
  return 0;
}

static const AssayKernel in_c = {.size = sizeof(AssayKernel), .op = "geglu", .name = "in_c", .dtypes = "f32", .run = run};

const AssayPlugin* assay_plugin(uint32_t abi_version) {
  static const AssayKernel* const kernels[] = {&in_c};
  static const AssayPlugin plugin = {sizeof(AssayPlugin), ASSAY_ABI_VERSION, 1, kernels};
  return abi_version == plugin.abi_version ? &plugin : 0;
}
