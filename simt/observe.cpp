// SPDX-License-Identifier: Apache-2.0
// What the compiler emits for a kernel's plain loads and stores.  Kernels that are compiled with -fsanitize=thread call these
// functions, and not a sanitizer's, before each of them: one that meets global or shared memory has gone past ld and st, where
// it is neither counted nor watched.  This file itself is compiled without.
#include <cstdint>

#include "block.hpp"

namespace {

using namespace simt::detail;

inline void observe(const void* p, unsigned bytes, bool write, void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t slot = address >> 32;
  if (slot >= kSlots || slots[slot].limit[0] == 0 || machine.current == nullptr) [[likely]]
    return;
  // Note: one byte before what it returns to is within the call, whose line is the access's.
  stop({.what = Trouble::What::observed,
        .address = address,
        .bytes = bytes,
        .write = write,
        .code = reinterpret_cast<std::uintptr_t>(code) - 1});
}

}  // namespace

#define OBSERVE(name, bytes, write) \
  void __tsan_##name(void* p) { observe(p, bytes, write, __builtin_return_address(0)); }
#define OBSERVE_SIZE(bytes)                             \
  OBSERVE(read##bytes, bytes, false)                    \
  OBSERVE(write##bytes, bytes, true)                    \
  OBSERVE(volatile_read##bytes, bytes, false)           \
  OBSERVE(volatile_write##bytes, bytes, true)           \
  OBSERVE(unaligned_read##bytes, bytes, false)          \
  OBSERVE(unaligned_write##bytes, bytes, true)          \
  OBSERVE(unaligned_volatile_read##bytes, bytes, false) \
  OBSERVE(unaligned_volatile_write##bytes, bytes, true)

extern "C" {
OBSERVE_SIZE(1)
OBSERVE_SIZE(2)
OBSERVE_SIZE(4)
OBSERVE_SIZE(8)
OBSERVE_SIZE(16)
void __tsan_read_range(void* p, unsigned long bytes) {
  if (bytes != 0) observe(p, static_cast<unsigned>(bytes), false, __builtin_return_address(0));
}
void __tsan_write_range(void* p, unsigned long bytes) {
  if (bytes != 0) observe(p, static_cast<unsigned>(bytes), true, __builtin_return_address(0));
}
// What host code of a kernel file needs besides: virtual tables, the guards of static variables.
void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
std::uint8_t __tsan_atomic8_load(const volatile std::uint8_t* p, int order) { return __atomic_load_n(p, order); }
}
