// SPDX-License-Identifier: Apache-2.0
// Finds plain loads and stores in kernels (the set `watch`).  Kernels compiled with -fsanitize=thread call these functions, in
// place of the sanitizer's, before each load and store.  One that hits global or shared memory bypasses ld and st, so it is
// neither counted nor watched: a finding.  This file itself is compiled without the flag.
#include <cstdint>

#include "findings.hpp"
#include "hooks.hpp"
#include "threads.hpp"

namespace {

using namespace simt::detail;

[[maybe_unused]] const bool linked = sees_plain = true;

inline void observe(const void* p, unsigned bytes, bool write, void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t slot = address >> 32;
  if (slot >= kSlots || slots[slot].limit[0] == 0 || running_thread == nullptr) [[likely]]
    return;
  // Note: the byte before the return address lies in the call instruction, which has the source line of the access.
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
// Host code of a kernel file needs these too, for virtual tables and the guards of static variables.
void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
std::uint8_t __tsan_atomic8_load(const volatile std::uint8_t* p, int order) { return __atomic_load_n(p, order); }
}
