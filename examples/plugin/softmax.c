/* SPDX-License-Identifier: Apache-2.0
 * A plugin in plain C: softmax of each row on the host, for every dtype and any layout of rows.
 *   cc -O2 -shared -fPIC -I include examples/plugin/softmax.c -o libsoftmax.so -lm
 *   validate run --plugin ./libsoftmax.so */
#include <math.h>

#include "assay.h"

static float load(const AssayDLTensor* t, int64_t at) {
  if (t->dtype_bits == 32) return ((const float*)t->data)[at];
  if (t->dtype_code == 2) return (float)((const _Float16*)t->data)[at];
  const uint32_t bits = (uint32_t)((const uint16_t*)t->data)[at] << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void store(const AssayDLTensor* t, int64_t at, float value) {
  if (t->dtype_bits == 32) {
    ((float*)t->data)[at] = value;
  } else if (t->dtype_code == 2) {
    ((_Float16*)t->data)[at] = (_Float16)value;
  } else { /* bf16, to nearest even */
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    ((uint16_t*)t->data)[at] = (uint16_t)(isnan(value) ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

static int run(const AssayCall* call) {
  const AssayDLTensor *x = assay_tensor(call, "x"), *y = assay_tensor(call, "y");
  for (int64_t row = 0; row < x->shape[0]; ++row) {
    const int64_t cols = x->shape[1], from = row * x->strides[0], to = row * y->strides[0];
    float max = -INFINITY, sum = 0;
    for (int64_t c = 0; c < cols; ++c) max = fmaxf(max, load(x, from + c * x->strides[1]));
    for (int64_t c = 0; c < cols; ++c) sum += expf(load(x, from + c * x->strides[1]) - max);
    for (int64_t c = 0; c < cols; ++c) store(y, to + c * y->strides[1], expf(load(x, from + c * x->strides[1]) - max) / sum);
  }
  return 0;
}

static const AssayKernel serial_row = {.size = sizeof(AssayKernel),
                                       .op = "softmax",
                                       .name = "serial_row",
                                       .dtypes = "f16 bf16 f32",
                                       .numerics = "accumulate=f32 chain=1",
                                       .run = run};
static const AssayKernel* const kernels[] = {&serial_row};
static const AssayPlugin plugin = {sizeof(AssayPlugin), ASSAY_ABI_VERSION, 1, kernels};

const AssayPlugin* assay_plugin(uint32_t abi_version) {
  (void)abi_version;
  return &plugin;
}
