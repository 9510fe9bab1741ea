// SPDX-License-Identifier: Apache-2.0
// The registers of a block, which its warpgroups may hand to one another: a launch gives every thread the same number, a multiple
// of 8; who takes more waits until others have given as many.
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
  // For the running thread's warp, all of whose lanes call it.
  void take(int count, Where where);
  void give(int count, Where where);
  void check_over();
  void settle();                 // all lanes of a warp have come
  std::string shortage() const;  // why threads wait for ever

 private:
  struct Warp {
    int has = 0, wants = 0;  // registers a thread; wants: 0 or what it waits for
    Where where;
  };
  int share() const;  // what the launch gave a thread
  void start();
  std::array<Warp, 32> warps_;
  int free_ = 0;  // in units of a warp's thread
  bool started_ = false;
  std::vector<std::uint16_t> waiting_;  // threads
};

}  // namespace simt::detail
