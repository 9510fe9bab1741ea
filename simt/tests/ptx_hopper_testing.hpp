// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the asynchronous instructions of sm_90a: parts of modules, and the finding of an entry.
#pragma once

#include <string>

#include "ptx_testing.hpp"

namespace simt::testing {

inline const std::string kRegisters = ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<300>;\n";

// The finding of an entry that is the same in every order, else a list of them.
template <class... Pointers>
std::string kind_of(const Entry& e, unsigned threads, bool watch, Pointers... pointers) {
  std::string all;
  for (const simt::ThreadOrder order : kOrders) {
    const Configured on({.order = order, .seed = 5, .time_limit_s = kHang_s, .watch = watch});
    const simt::Finding f = finding_of([&] { e.run(1, threads, pointers...); });
    if (all != f.kind) all += (all.empty() ? "" : ", ") + f.kind;
  }
  return all;
}

// A barrier at s + 16384 for one arrival, made by thread 0 and ready for all; %r1: the thread, %r2: s, %r3: the barrier.
inline std::string barrier(const std::string& fence = "fence.mbarrier_init.release.cluster;",
                           const std::string& sync = "bar.sync 0;") {
  return kRegisters + R"(.shared .align 1024 .b8 s[16640];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, s;
  add.u32 %r3, %r2, 16384;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
  @!%p1 )" +
         fence + "\n" + sync + "\n";
}
inline const std::string kWait = R"(
  {
  .reg .pred done;
  again:
  mbarrier.try_wait.parity.shared::cta.b64 done, [%r3], 0, 0x989680;
  @!done bra.uni again;
  }
)";
inline std::string expecting(unsigned bytes) {
  return "@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], " + std::to_string(bytes) + ";\n";
}
inline const std::string kX = "ld.param.u64 %rd1, [x];\n";

}  // namespace simt::testing
