// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks that take turns on one operating-system thread; scheduler.cpp runs each CUDA thread on one.  A switch saves the
// callee-saved registers and nothing else.  SIMT_UCONTEXT chooses the slow portable switch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#if !defined(SIMT_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define SIMT_UCONTEXT 1
#endif
#if defined(SIMT_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif

namespace simt::detail {

struct Fiber {
#if defined(SIMT_UCONTEXT)
  ucontext_t context;
#else
  void* stack_pointer = nullptr;
#endif
  unsigned char* stack = nullptr;  // lowest usable byte; null for the operating-system thread's own stack
  std::size_t stack_bytes = 0;
  unsigned colour = 0;
  void* fake_stack = nullptr;  // of AddressSanitizer
};

#if defined(SIMT_UCONTEXT) || defined(SIMT_ASAN)
void switch_fiber(Fiber& from, Fiber& to);
#else
// Pushes the callee-saved registers, stores the stack pointer in *save, switches to the stack `load` and pops its registers.
// Note: all fibers share the control words of the floating-point units.
extern "C" void simt_switch_stack(void** save, void* load) __asm__("simt_switch_stack");
inline void switch_fiber(Fiber& from, Fiber& to) { simt_switch_stack(&from.stack_pointer, to.stack_pointer); }
#endif
// Must be the first call that a fiber's entry function makes.
void entered_fiber();

// Fibers that all run `entry`, which must not return.  Guard pages lie below each stack; its lowest word is a canary.
class FiberPool {
 public:
  explicit FiberPool(void (*entry)()) : entry_(entry) {}
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  Fiber* take() {
    if (free_.empty()) grow();
    Fiber* f = free_.back();
    free_.pop_back();
    return f;
  }
  void give(Fiber* f) { free_.push_back(f); }
  // Resets every fiber to the start of `entry`, without unwinding its stack.
  void abandon_all();
  bool in_guard(std::uintptr_t address) const;

 private:
  void grow();
  void prepare(Fiber& f);

  void (*entry_)();
  std::deque<Fiber> all_;  // a deque, so that their addresses stay valid
  std::vector<Fiber*> free_;
};

bool canary_intact(const Fiber& f);

}  // namespace simt::detail
