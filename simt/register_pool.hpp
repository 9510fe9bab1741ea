// SPDX-License-Identifier: Apache-2.0
// The registers of a block, for take_registers and give_registers (setmaxnreg).  A launch gives every thread the same number, a
// multiple of 8.  A warp that takes more waits until others have given as many.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hooks.hpp"
#include "where.hpp"

namespace simt::detail {

class RegisterPool {
 public:
  void clear();
  // Called by every lane of a warp; `count`: registers a thread from now on.
  void take(int count, Where where);
  void give(int count, Where where);
  // The same for the warp of the running thread, without a wait: grant() may grant it at once or later.
  void ask(int count, bool take, Where where);
  bool granted(unsigned warp) const { return warps_[warp].wants == 0; }
  void check_over();
  void grant();                  // grants the requests that it can; called when all lanes of a warp have come
  std::string shortage() const;  // message for requests that are never granted

 private:
  struct Warp {
    int has = 0, wants = 0;  // registers a thread; wants: the number requested, 0 if none is
    Where where;
  };
  int share() const;  // registers a thread at launch
  void start();
  std::array<Warp, 32> warps_;
  int free_ = 0;  // registers given back and not taken since, counted per thread of one warp
  bool started_ = false;
  std::vector<std::uint16_t> waiting_;  // numbers of threads
};

extern RegisterPool register_pool;

}  // namespace simt::detail
