// SPDX-License-Identifier: Apache-2.0
// A decoded entry: a dense list of operations on lane vectors.  A register of a warp is a vector of 32 lanes, of 4 or 8 bytes
// each; a narrower value lies in the low bits of its 4 bytes, and a predicate is all ones or zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fidelity.hpp"
#include "hooks.hpp"
#include "module.hpp"
#include "where.hpp"

namespace simt::ptx {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kVectorBytes = 4 * kLanes;  // of a register of up to 32 bits
inline constexpr std::uint32_t kNone = 0xffffffffu;

struct Warp;
struct Op;
using Run = void (*)(Warp&, const Op&);

// Where an operand lies: bytes from the start of a warp's registers, or with the lowest bit set of the launch's constants.
using Place = std::uint32_t;

enum class Flow : std::uint8_t {
  plain,
  join,  // parts of a warp that diverged before meet here
  branch,
  indirect,  // brx.idx
  exit,
  together,  // an instruction that the lanes of a mask, or of the warp, execute together: shfl, vote, mma, ldmatrix
  warp_barrier,
  barrier,    // bar.sync, bar.red
  arrival,    // bar.arrive
  phase,      // a wait at an mbarrier
  warpgroup,  // wgmma.mma_async: as `together`, and then the other three warps have to come
  registers,  // setmaxnreg: as `together`, and then others may have to give as many
  careful,    // a plain one that touches registers in which accumulators may be
  trap
};

struct Op {
  Run run = nullptr;
  Place d = 0, a = 0, b = 0, c = 0;
  Place guard = 0;  // 0: none
  bool guard_negated = false;
  Flow flow = Flow::plain;
  std::uint8_t n = 0, how = 0;                // as the operation has it
  detail::Meet meet = detail::Meet::shuffle;  // of Flow::together, for findings
  std::uint32_t target = kNone;               // of a branch
  std::uint32_t meets = kNone;                // of a branch: where its parts meet again
  std::uint32_t list = 0;                     // its first further operand in Program::lists
  std::uint32_t line = 0;                     // of the PTX text
  std::uint32_t careful = kNone;              // its first entry in Program::careful
  std::int64_t value = 0;
  Where where{};
};

// Registers that every warp has before those of the entry.
enum Special : Place {
  kTidX = 4 * kVectorBytes,
  kTidY = 5 * kVectorBytes,
  kTidZ = 6 * kVectorBytes,
  kWarpId = 7 * kVectorBytes,
  kCarry = 8 * kVectorBytes,
  kLowHalves = 9 * kVectorBytes,
  kFirstRegister = 13 * kVectorBytes
};
// Constants that every launch sets.
enum LaunchConstant : Place {
  kLaneId,
  kNTidX,
  kNTidY,
  kNTidZ,
  kCtaIdX,
  kCtaIdY,
  kCtaIdZ,
  kNCtaIdX,
  kNCtaIdY,
  kNCtaIdZ,
  kDynamicShared,
  kNWarpId,
  kLaneMasks,  // eq, lt, le, gt, ge
  kFirstConstant = kLaneMasks + 5
};
constexpr Place constant_place(std::uint32_t number) { return number * kVectorBytes | 1; }

// A register of an operation which a running wgmma may compute.
struct Careful {
  std::uint32_t op = 0;
  Place place = 0;
  bool write = false;
};

struct Program {
  std::shared_ptr<const Module> module;
  Function function;  // the entry, without calls
  std::vector<Op> ops;
  std::vector<Place> lists;
  std::vector<Careful> careful;             // by operation
  bool asynchronous = false;                // it has an instruction of asynchronous.hpp
  std::vector<std::uint32_t> constants;     // words; kFirstConstant vectors, filled at the launch, come first
  std::vector<std::uint64_t> parameter_at;  // offset of each parameter
  std::uint64_t parameter_bytes = 0;
  std::uint64_t shared_bytes = 0;    // of its static variables
  std::uint64_t dynamic_at = 0;      // offset of external shared memory, after them
  std::uint64_t local_bytes = 0;     // a thread
  std::uint32_t register_bytes = 0;  // a warp
  Rests rests;                       // what its results rest on
  Narrowed narrowed;
  Unordered unordered;
};

// Decodes an entry.  Throws Refused if it has an instruction that the machine does not run.
std::shared_ptr<const Program> decode(std::shared_ptr<const Module> module, const Function& entry);

}  // namespace simt::ptx
