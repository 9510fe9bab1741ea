// SPDX-License-Identifier: Apache-2.0
// Copies of boxes between a tensor in global memory and shared memory.  A box lies in shared memory row after row; within each
// stretch of 8 rows of 128 bytes (or 64, 32) the 16-byte chunks of a row may be exchanged, by address bits 7 to 9.  What lies
// outside the tensor is zero when it is read, and is not written but to the end of a 16-byte piece.
// A copy to shared memory lands at once, when its barrier is waited for, or as late as nothing else can go on; a store reads its
// bytes at once, or when its thread waits for that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "where.hpp"

namespace simt::device {

enum class Swizzle : std::uint8_t { none, by_32, by_64, by_128 };

// What the hardware's 128 bytes, aligned to 64, tell.  Extents, strides and box innermost first.
struct TensorMap {
  unsigned char* data;
  std::uint64_t stride[4];   // bytes, of extents 1 to 4
  std::uint32_t extent[5];
  std::uint16_t box[5];
  std::uint8_t rank, element_bytes;
  Swizzle swizzle;
  bool is_float32;
};

}  // namespace simt::device

namespace simt::detail {

using device::TensorMap;

// Throws std::invalid_argument for what the driver refuses.
TensorMap make_tensor_map(const void* data, int element_bytes, bool is_float32, const std::int64_t* extents,
                          const std::int64_t* strides_bytes, const int* box, int rank, device::Swizzle swizzle);

struct Box {
  TensorMap map;
  std::array<int, 5> at;
  std::size_t offset, bytes;  // in the arena
  Where where;
  unsigned thread;
  std::size_t barrier;  // of a copy to shared memory
  bool at_wait;         // it lands when its barrier is waited for
  bool add;             // of a store
  bool done;            // a store that has read and written
  unsigned group;       // of a store, of its thread
  std::uint64_t clock;  // of a store: when it began to read
};

class Boxes {
 public:
  void copy(void* shared, const TensorMap& map, const int* at, int coordinates, void* barrier, Where where);
  void store(const TensorMap& map, const void* shared, const int* at, int coordinates, bool add, Where where);
  void commit(unsigned thread);
  void wait(unsigned thread, unsigned newest);
  bool land_one();                       // false: nothing is in flight
  void land_at(std::size_t barrier);     // those that land when it is waited for
  void check_over();
  void clear();

 private:
  void land(Box box);
  void perform(Box& store);
  std::deque<Box> copies_, stores_;
  std::array<unsigned, 1024> groups_{};  // committed, by thread
};

}  // namespace simt::detail
