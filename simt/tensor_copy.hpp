// SPDX-License-Identifier: Apache-2.0
// Tensor copies (TMA): boxes between a tensor in global memory and shared memory, where a box lies row after row.  The 128-byte
// swizzle XORs address bits 4 to 6, the number of a 16-byte chunk, with bits 7 to 9; the narrower ones use fewer bits.
// Elements outside the tensor are read as zero.  They are not written, except that a store fills the last 16-byte piece of a row.
// A copy to shared memory lands at once, when its barrier is waited for, or when no thread can go on.  A store reads its bytes at
// once or when its thread waits for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "where.hpp"

namespace simt::device {

enum class Swizzle : std::uint8_t { none, by_32, by_64, by_128 };

// What a CUtensorMap holds, in as many bytes.  Extents, strides and box are given innermost first.
struct TensorMap {
  unsigned char* data;
  std::uint64_t stride[4];  // bytes, of axes 1 to 4
  std::uint32_t extent[5];
  std::uint16_t box[5];
  std::uint8_t rank, element_bytes;
  Swizzle swizzle;
  bool is_float32;
  std::uint8_t unsimulated;  // what tensormap.replace has set to something that the machine does not do (ptx/tensor_maps.cpp)
  unsigned char unused[53];
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace simt::device

namespace simt::detail {

using device::TensorMap;

// What a tensor map needs and this one lacks; null: it is right.
const char* lack_of(const TensorMap& m);
// Throws std::invalid_argument for what the driver refuses, and for a box whose rows are shorter than the swizzle.
TensorMap make_tensor_map(const void* data, int element_bytes, bool is_float32, const std::int64_t* extents,
                          const std::int64_t* strides_bytes, const int* box, int rank, device::Swizzle swizzle);

struct Box {
  TensorMap map;
  std::array<int, 5> at;
  std::size_t offset, bytes;  // of the box in the arena
  Where where;
  unsigned thread;
  std::size_t barrier;  // copy: index of its barrier
  bool at_wait;         // copy: it lands when its barrier is waited for
  bool add;             // store: adds to what is there
  bool done;            // store: it has read and written
  unsigned group;       // store: number of the commit group in its thread
  std::uint64_t clock;  // store: when it began to read
};

// `bytes` bytes at an address, a multiple of 16, as a tensor whose rows are pieces of 16 bytes, and a box of all of them.
TensorMap map_of_bytes(const void* data, std::size_t bytes);

class Boxes {
 public:
  // `piecewise`: the map is one of bytes, and the box may begin at any multiple of 16.
  void copy(void* shared, const TensorMap& map, const int* at, int coordinates, void* barrier, Where where,
            bool piecewise = false);
  void store(const TensorMap& map, const void* shared, const int* at, int coordinates, bool add, Where where,
             bool piecewise = false);
  void commit(unsigned thread);
  void wait(unsigned thread, unsigned newest);
  bool land_one();                    // lands one copy; false if none is in flight
  void land_at(std::size_t barrier);  // lands the copies with `at_wait` of this barrier
  void check_over();
  void clear();

 private:
  void land(Box box);
  void perform(Box& store);
  std::deque<Box> copies_, stores_;
  std::array<unsigned, 1024> groups_{};  // [thread] committed so far
};

extern Boxes tensor_boxes;

}  // namespace simt::detail
