/* SPDX-License-Identifier: Apache-2.0
 * The C interface of libassay_ptx.so: PTX on the simulated machine, in the process of the caller (docs/triton.md).
 *
 * A process has one machine.  Call from one thread at a time.  Memory of the machine can be read and written by the caller as
 * its own; kernels may access nothing else, and of an allocation exactly its bytes.
 *
 * Functions that can fail say so by their result, and assay_ptx_why() then tells the reason in one sentence. */
#ifndef ASSAY_PTX_H
#define ASSAY_PTX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_PTX_VERSION 1

typedef struct AssayPtxModule AssayPtxModule;
typedef struct AssayPtxEntry AssayPtxEntry;

/* How later launches run. */
typedef struct AssayPtxOptions {
  int32_t order; /* of blocks and threads, 0: forward, 1: reverse, 2: shuffled by the seed */
  int32_t watch; /* 1: races and reads of memory that nobody wrote are findings too */
  uint64_t seed;
  double time_limit_s; /* of one launch; 0: none */
  int32_t replicated;  /* 1: a compiler of programs for whole blocks chose the threads, as Triton: with watch, races of threads
                          that hold one element are no findings, but suspected (assay_ptx_suspected) */
} AssayPtxOptions;

typedef struct AssayPtxLaunch {
  uint32_t grid[3], block[3];
  uint64_t shared_bytes;  /* dynamic ones */
  const void* parameters; /* the bytes of all, each at its offset */
  uint64_t parameter_bytes;
} AssayPtxLaunch;

/* What stopped a launch.  The texts are valid until the next launch. */
typedef struct AssayPtxFinding {
  const char* kind;    /* as simt/machine.hpp lists them, such as out_of_bounds */
  const char* message; /* one sentence: the error, the place in memory, the block and the thread */
  const char* file;    /* of the source line, by .loc, else the module's name; empty: unknown */
  int32_t line;
  int32_t ptx_line; /* of the module's text; 0: unknown */
} AssayPtxFinding;

uint32_t assay_ptx_version(void);
const char* assay_ptx_why(void);

/* Reads a module; `name` stands for its file in messages.  Null: it is no PTX. */
AssayPtxModule* assay_ptx_load(const char* text, size_t bytes, const char* name);
/* An entry, or with an empty name the only one.  It lives as long as its module.  Null: there is none, or it has an instruction
 * that the machine does not run. */
AssayPtxEntry* assay_ptx_entry(AssayPtxModule* module, const char* name);
void assay_ptx_unload(AssayPtxModule* module);

const char* assay_ptx_name(const AssayPtxEntry* entry);
/* "exact", "contractable: ..." or "modelled: ...": how closely the entry's results are those of a GPU (docs/ptx.md). */
const char* assay_ptx_fidelity(const AssayPtxEntry* entry);
/* The number of parameters.  Of the first `most`, writes the offset and the size of each, in bytes. */
size_t assay_ptx_parameters(const AssayPtxEntry* entry, uint64_t* offsets, uint64_t* sizes, size_t most);
uint64_t assay_ptx_parameter_bytes(const AssayPtxEntry* entry);

/* Memory that starts `offset` bytes after a 256-byte boundary and that nobody has written.  Null: there is no more. */
void* assay_ptx_allocate(uint64_t bytes, uint64_t offset, const char* name);
void assay_ptx_release(void* memory);
/* Marks bytes as written by the caller. */
void assay_ptx_mark_written(const void* memory, uint64_t bytes);
/* Whether a kernel has written to an allocation: 1 or 0. */
int32_t assay_ptx_touched(const void* memory);
/* For each of these bytes 1 if a kernel has written it, else 0. */
void assay_ptx_written(const void* memory, uint64_t bytes, uint8_t* flags);

void assay_ptx_configure(const AssayPtxOptions* options);
/* 0: done.  1: the finding says what stopped it.  2: the launch is not possible, for the reason of assay_ptx_why(). */
int32_t assay_ptx_launch(const AssayPtxEntry* entry, const AssayPtxLaunch* launch, AssayPtxFinding* finding);
/* With `replicated`: whether threads of one block of the last launch raced for an element of global memory in a way that may
 * count for nothing: 1 or 0.  It counts if the launch gives other results in another order of threads. */
int32_t assay_ptx_suspected(AssayPtxFinding* finding);

#ifdef __cplusplus
}
#endif
#endif
