// SPDX-License-Identifier: Apache-2.0
// What a kernel file declares about itself, and what its launcher receives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "ops/core/contract.hpp"

namespace assay {

// A set of element types.
struct DTypes {
  std::uint32_t bits = 0;
  constexpr DTypes() = default;
  constexpr DTypes(std::initializer_list<DType> list) {
    for (DType t : list) bits |= 1u << static_cast<int>(t);
  }
  constexpr bool has(DType t) const { return bits >> static_cast<int>(t) & 1; }
};

// How much of an axis one block processes; tells whether a case has several tiles and a partial last one.
struct Tile {
  Axis axis = Axis::rows;
  std::int64_t bytes_or_extent = 0;  // see `of_bytes`
  bool of_bytes = false;             // the extent is given in bytes of the case's dtype
  constexpr std::int64_t extent(DType t) const { return of_bytes ? bytes_or_extent / size_of(t) : bytes_or_extent; }
};
constexpr Tile tile(Axis a, std::int64_t extent) { return {a, extent, false}; }
constexpr Tile tile_bytes(Axis a, std::int64_t bytes) { return {a, bytes, true}; }

// The traits of one kernel of op `Op`.
template <class Op>
struct KernelTraits {
  DTypes dtypes{};
  int min_arch = 75;           // sm_ number
  int only_arch = 0;           // sm_ number, if it uses instructions of one architecture; 0: any from min_arch on
  bool deterministic = true;   // the same bits at every run
  bool finite_inputs = false;  // takes no NaN and no infinity
  // The bits of an element depend on its index in the tensor, or on other extents (for example, how sums are split).
  bool position_matters = false;
  std::array<Tile, 3> tiles{};  // extent 0: unused
  Numerics numerics{};
  Legality (*available)() = nullptr;                                   // whether the library it calls is there; null: calls none
  Legality (*supports)(const typename Op::Args&) = nullptr;            // null: every legal case
  std::size_t (*workspace_bytes)(const typename Op::Args&) = nullptr;  // null: 0
};

// What a launcher receives beside its arguments; the caller owns the memory.
struct Launch {
  void* stream = nullptr;     // cudaStream_t on a GPU
  void* workspace = nullptr;  // workspace_bytes(args) of device memory, 256-byte aligned, contents undefined
  // The launch before it on the stream is another step of the same op or model, and writes no weights, scales or biases: this one
  // may begin before that one ends.
  bool after = false;
};

// A kernel's launcher with the type of its arguments erased.
using Launcher = void (*)(const void* args, const Launch&);

}  // namespace assay
