/* SPDX-License-Identifier: Apache-2.0
 * The C interface by which a shared object shows its kernels to Assay, version 1:
 *
 *   validate run --plugin ./libmine.so --op softmax
 *
 * The object exports one function, assay_plugin().  Everything that it returns must stay valid and unchanged.  Every struct
 * but AssayDLTensor begins with its size, sizeof in the version that filled it in, and later versions only add members at its
 * end.  AssayDLTensor never changes.  docs/door.md has an example. */
#ifndef ASSAY_H
#define ASSAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ABI_VERSION 1

/* The layout of DLPack's DLTensor, so that a pointer to one may be cast to the other. */
typedef struct AssayDLTensor {
  void* data;          /* the first element, in device memory on a GPU */
  int32_t device_type; /* 1: host, 2: CUDA */
  int32_t device_id;   /* 0 */
  int32_t ndim;
  uint8_t dtype_code;   /* DLPack's: 0 integer, 1 without sign, 2 float, 4 bfloat, 10 e4m3, 12 e5m2, 14 e8m0 */
  uint8_t dtype_bits;   /* 8, 16, 32 or 64 */
  uint16_t dtype_lanes; /* 1 */
  int64_t* shape;       /* ndim extents, outermost axis first */
  int64_t* strides;     /* ndim, in elements; never null */
  uint64_t byte_offset; /* 0 */
} AssayDLTensor;

typedef struct AssayTensor {
  size_t size;
  const char* name;
  AssayDLTensor dl;
} AssayTensor;

/* An attribute of the op.  A choice has a word, such as "causal" of the attribute "mask"; others have a number. */
typedef struct AssayAttribute {
  size_t size;
  const char* name;
  const char* word; /* null: it is a number */
  double number;
} AssayAttribute;

struct AssayKernel;

/* One launch.  It is valid until the function that gets it returns. */
typedef struct AssayCall {
  size_t size;
  const struct AssayKernel* kernel;
  const char* dtype; /* of the case: "f16", "bf16" or "f32" */
  int32_t tensor_count;
  int32_t attribute_count;
  const AssayTensor* const* tensors;       /* in the order of `validate describe OP`; null: the case lacks this one */
  const AssayAttribute* const* attributes; /* all of the op, in that order */
  void* stream;                            /* on a GPU, in run(): the cudaStream_t on which to enqueue all work; else null */
  void* workspace; /* in run(): workspace_bytes() of memory, aligned to 256 bytes, with undefined contents; else null */
} AssayCall;

/* What a kernel may declare in `flags`; none is the strictest. */
#define ASSAY_NONDETERMINISTIC 1u /* two runs may give different bits */
#define ASSAY_FINITE_INPUTS 2u    /* it takes no NaN and no infinity */
#define ASSAY_POSITION_MATTERS 4u /* an element's bits depend on its place in the tensor, or on other extents */

typedef struct AssayKernel {
  size_t size;
  const char* op;       /* one of `validate list ops` */
  const char* name;     /* letters, digits and _ */
  const char* dtypes;   /* "f16 bf16 f32": those that it takes */
  const char* numerics; /* in the words of `validate describe numerics`; null: sums in f32, in any order */
  const char* tiles;    /* "rows=4 cols=128": how much of an axis one block takes, up to three axes, or with B how
                         many bytes, "cols=512B"; null: unknown */
  const char* about;    /* one sentence; may be null */
  uint32_t flags;
  void* user;                                  /* yours */
  const char* (*supports)(const AssayCall*);   /* null, or why this case is not taken; as a member null: all are */
  size_t (*workspace_bytes)(const AssayCall*); /* as a member null: 0 */
  int (*run)(const AssayCall*);                /* 0, or an error, which fails the case */
} AssayKernel;

typedef struct AssayPlugin {
  size_t size;
  uint32_t abi_version; /* ASSAY_ABI_VERSION */
  int32_t kernel_count;
  const AssayKernel* const* kernels;
} AssayPlugin;

#if defined(_WIN32)
#error "Assay runs on Linux alone"
#endif
#define ASSAY_EXPORT __attribute__((visibility("default")))

/* The one function that a plugin exports.  `abi_version` is the version that Assay speaks.  Null says that the plugin does not
 * serve it, and Assay refuses the plugin. */
ASSAY_EXPORT const AssayPlugin* assay_plugin(uint32_t abi_version);

/* --- Helpers ---------------------------------------------------------------------------------------------------------- */

/* The tensor of that name; null if the case lacks it. */
static inline const AssayDLTensor* assay_tensor(const AssayCall* call, const char* name) {
  for (int32_t i = 0; i < call->tensor_count; ++i)
    if (call->tensors[i] && strcmp(call->tensors[i]->name, name) == 0) return &call->tensors[i]->dl;
  return NULL;
}

/* The attribute of that name; null if the op has none. */
static inline const AssayAttribute* assay_attribute(const AssayCall* call, const char* name) {
  for (int32_t i = 0; i < call->attribute_count; ++i)
    if (strcmp(call->attributes[i]->name, name) == 0) return call->attributes[i];
  return NULL;
}

/* Whether the elements lie side by side, row-major. */
static inline int assay_is_dense(const AssayDLTensor* t) {
  int64_t expected = 1;
  for (int32_t a = t->ndim - 1; a >= 0; --a) {
    if (t->shape[a] != 1 && t->strides[a] != expected) return 0;
    expected *= t->shape[a];
  }
  return 1;
}

/* Why a kernel that takes dense tensors alone does not take the call; null if it does. */
static inline const char* assay_dense_alone(const AssayCall* call) {
  for (int32_t i = 0; i < call->tensor_count; ++i)
    if (call->tensors[i] && !assay_is_dense(&call->tensors[i]->dl)) return "takes dense tensors alone";
  return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
