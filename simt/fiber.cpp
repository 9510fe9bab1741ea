// SPDX-License-Identifier: Apache-2.0
#include "fiber.hpp"

#include <sys/mman.h>

#include <cstring>

#include "machine.hpp"

#if defined(SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(SIMT_UCONTEXT)
extern "C" void simt_switch_stack(void** save, void* load) __asm__("simt_switch_stack");
#if defined(__ELF__)
#define SIMT_FUNCTION_TYPE ".type simt_switch_stack, %function\n"
#else
#define SIMT_FUNCTION_TYPE
#endif
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl simt_switch_stack\n" SIMT_FUNCTION_TYPE
    "simt_switch_stack:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n");
#else
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".globl simt_switch_stack\n" SIMT_FUNCTION_TYPE
    "simt_switch_stack:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n"
    "  stp x21, x22, [sp, #16]\n"
    "  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n"
    "  stp x27, x28, [sp, #64]\n"
    "  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n"
    "  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n"
    "  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n"
    "  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n"
    "  ldp x21, x22, [sp, #16]\n"
    "  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n"
    "  ldp x27, x28, [sp, #64]\n"
    "  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n"
    "  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n"
    "  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n");
#endif
#endif

namespace simt::detail {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr std::size_t kGuardBytes = 64 * 1024;  // a multiple of every page size in use
constexpr std::uint64_t kCanary = 0x5a17c0deca9a21e5;

#if defined(SIMT_ASAN)
Fiber* g_from = nullptr;  // the two fibers of the last switch
Fiber* g_to = nullptr;

void finish_switch() {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(g_to->fake_stack, &bottom, &bytes);
  if (g_from->stack == nullptr) {  // the operating-system thread's own stack, whose bounds only the sanitizer knows
    g_from->stack = static_cast<unsigned char*>(const_cast<void*>(bottom));
    g_from->stack_bytes = bytes;
  }
}
#endif

}  // namespace

#if defined(SIMT_UCONTEXT) || defined(SIMT_ASAN)
void switch_fiber(Fiber& from, Fiber& to) {
#if defined(SIMT_ASAN)
  g_from = &from;
  g_to = &to;
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
#if defined(SIMT_UCONTEXT)
  swapcontext(&from.context, &to.context);
#else
  simt_switch_stack(&from.stack_pointer, to.stack_pointer);
#endif
#if defined(SIMT_ASAN)
  finish_switch();
#endif
}
#endif

void entered_fiber() {
#if defined(SIMT_ASAN)
  finish_switch();
#endif
}

void FiberPool::prepare(Fiber& f) {
  f.fake_stack = nullptr;
#if defined(SIMT_ASAN)
  __asan_unpoison_memory_region(f.stack, f.stack_bytes);
#endif
  std::memcpy(f.stack, &kCanary, sizeof kCanary);
#if defined(SIMT_UCONTEXT)
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = f.stack;
  f.context.uc_stack.ss_size = f.stack_bytes;
  f.context.uc_link = nullptr;
  makecontext(&f.context, entry_, 0);
#else
  // Note: stacks that all start at the same offset of a page would share a few sets of the first-level cache.
  unsigned char* top = f.stack + f.stack_bytes - f.colour * 192 % 4096 / 64 * 64;
#if defined(__x86_64__)
  // Six registers, the address that `ret` takes, and a null return address, at which a stack walk ends.
  auto** sp = reinterpret_cast<void**>(top) - 8;
  std::memset(sp, 0, 8 * sizeof *sp);
  sp[6] = reinterpret_cast<void*>(entry_);
  f.stack_pointer = sp;
#else
  auto** sp = reinterpret_cast<void**>(top) - 20;
  std::memset(sp, 0, 20 * sizeof *sp);
  sp[11] = reinterpret_cast<void*>(entry_);  // x30
  f.stack_pointer = sp;
#endif
#endif
}

void FiberPool::grow() {
  void* p = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw OutOfMemory();
  mprotect(p, kGuardBytes, PROT_NONE);
  Fiber& f = all_.emplace_back();
  f.stack = static_cast<unsigned char*>(p) + kGuardBytes;
  f.stack_bytes = kStackBytes;
  f.colour = static_cast<unsigned>(all_.size());
  prepare(f);
  free_.push_back(&f);
}

void FiberPool::abandon_all() {
  free_.clear();
  for (Fiber& f : all_) {
    prepare(f);
    free_.push_back(&f);
  }
}

bool FiberPool::in_guard(std::uintptr_t address) const {
  for (const Fiber& f : all_)
    if (reinterpret_cast<std::uintptr_t>(f.stack) - 1 - address < kGuardBytes) return true;
  return false;
}

FiberPool::~FiberPool() {
  for (Fiber& f : all_) munmap(f.stack - kGuardBytes, kGuardBytes + f.stack_bytes);
}

bool canary_intact(const Fiber& f) { return std::memcmp(f.stack, &kCanary, sizeof kCanary) == 0; }

}  // namespace simt::detail
