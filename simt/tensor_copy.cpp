// SPDX-License-Identifier: Apache-2.0
#include "tensor_copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "arena.hpp"
#include "async.hpp"
#include "asynchronous.hpp"
#include "dependent.hpp"
#include "device_hopper.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "guards.hpp"
#include "mbarrier.hpp"
#include "options.hpp"
#include "scheduler.hpp"
#include "sectors.hpp"
#include "threads.hpp"
#include "watch.hpp"

namespace simt::detail {

Boxes tensor_boxes;

const char* lack_of(const TensorMap& m) {
  if (m.rank < 1 || m.rank > 5) return "a rank of 1 to 5";
  if (m.element_bytes != 2 && m.element_bytes != 4) return "elements of 2 or 4 bytes";
  if (m.data == nullptr || reinterpret_cast<std::uintptr_t>(m.data) % 16 != 0) return "an address that is a multiple of 16";
  for (int d = 0; d < m.rank; ++d) {
    if (m.extent[d] < 1) return "extents of 1 to 2^32";
    if (m.box[d] < 1 || m.box[d] > 256) return "a box of 1 to 256 elements along each axis";
    if (d > 0 && (m.stride[d - 1] % 16 != 0 || m.stride[d - 1] >> 40 != 0))
      return "strides that are multiples of 16 bytes, below 2^40";
  }
  const int inner = m.box[0] * m.element_bytes, span = m.swizzle == device::Swizzle::none ? 0 : 16 << static_cast<int>(m.swizzle);
  if (inner % 16 != 0) return "a box whose rows are multiples of 16 bytes";
  // Note: the driver takes shorter rows too, but their layout has not been measured.
  if (span != 0 && inner != span) return "a box whose rows are as long as the swizzle";
  if (m.unsimulated != 0) return "steps of 1 along each axis, zeros outside the tensor and no interleaving";
  return nullptr;
}

TensorMap map_of_bytes(const void* data, std::size_t bytes) {
  TensorMap m{};
  m.data = static_cast<unsigned char*>(const_cast<void*>(data));
  m.rank = 2;
  m.element_bytes = 4;
  m.is_float32 = true;
  m.stride[0] = 16;
  m.extent[0] = m.box[0] = 4;
  m.extent[1] = m.box[1] = static_cast<std::uint16_t>(bytes / 16);
  return m;
}

TensorMap make_tensor_map(const void* data, int element_bytes, bool is_float32, const std::int64_t* extents,
                          const std::int64_t* strides_bytes, const int* box, int rank, device::Swizzle swizzle) {
  const auto demand = [](bool good, const char* what) {
    if (!good) throw std::invalid_argument(std::string("a tensor map needs ") + what);
  };
  demand(rank >= 1 && rank <= 5, "a rank of 1 to 5");
  TensorMap m{};
  m.data = static_cast<unsigned char*>(const_cast<void*>(data));
  m.rank = static_cast<std::uint8_t>(rank);
  m.element_bytes = static_cast<std::uint8_t>(element_bytes);
  m.swizzle = swizzle;
  m.is_float32 = is_float32;
  for (int d = 0; d < rank; ++d) {
    demand(extents[d] >= 1 && extents[d] <= std::int64_t{1} << 32, "extents of 1 to 2^32");
    demand(box[d] >= 1 && box[d] <= 256, "a box of 1 to 256 elements along each axis");
    m.extent[d] = static_cast<std::uint32_t>(std::min<std::int64_t>(extents[d], UINT32_MAX));
    m.box[d] = static_cast<std::uint16_t>(box[d]);
    if (d == 0) continue;
    m.stride[d - 1] = static_cast<std::uint64_t>(strides_bytes[d - 1]);
  }
  const char* const lack = lack_of(m);
  demand(lack == nullptr, lack);
  return m;
}

namespace {

std::size_t rows_of(const TensorMap& m) {
  std::size_t n = 1;
  for (int d = 1; d < m.rank; ++d) n *= m.box[d];
  return n;
}

// Calls use(row, address, first, end) for every row of the box that meets the tensor: its elements [first, end) lie inside, from
// `address` on.  Note: a store writes whole pieces of 16 bytes, beyond the end of the tensor's row, as an H200 does.
template <class Use>
void for_rows(const Box& b, bool store, Use&& use) {
  const TensorMap& m = b.map;
  const std::int64_t piece = store ? 16 / m.element_bytes : 1, extent = (m.extent[0] + piece - 1) / piece * piece;
  const std::int64_t first = std::max<std::int64_t>(0, -std::int64_t{b.at[0]});
  const std::int64_t end = std::min<std::int64_t>(m.box[0], extent - b.at[0]);
  if (first >= end) return;
  const std::size_t rows = rows_of(m);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t left = r;
    std::int64_t offset = (b.at[0] + first) * m.element_bytes;
    bool inside = true;
    for (int d = 1; d < m.rank; ++d) {
      const std::int64_t i = b.at[static_cast<std::size_t>(d)] + static_cast<std::int64_t>(left % m.box[d]);
      left /= m.box[d];
      inside = inside && i >= 0 && i < std::int64_t{m.extent[d]};
      offset += i * static_cast<std::int64_t>(m.stride[d - 1]);
    }
    if (inside) use(r, m.data + offset, first, end);
  }
}

// Note: stores of one warpgroup share a clock; in practice one of its threads makes them.
unsigned engine_of_stores(unsigned thread) { return watch.engine(8 + thread / 128); }

// Returns where byte `offset` of the arena lies when it is swizzled.
std::size_t swizzled(device::Swizzle how, std::size_t offset) {
  const std::size_t mask = (std::size_t{16} << static_cast<int>(how)) - 16;
  return offset ^ (offset >> 3 & mask);
}

// Checks, counts and watches a read or write of `bytes` bytes of global memory, as 16-byte accesses would be.
void touch_global(const unsigned char* p, std::size_t bytes, bool write, Where where) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const std::uintptr_t id = address >> 32;
  if (id >= kSlots || address - slots[id].begin >= slots[id].limit[0] || address - slots[id].begin + bytes > slots[id].limit[0])
    refuse(address, static_cast<unsigned>(bytes), write, where);
  if (running_thread->early) check_early(address, static_cast<unsigned>(bytes), write, where);
  (write ? slots[id].written_bytes : slots[id].read_bytes) += bytes;
  const std::uintptr_t map = write ? hot.written_map : hot.read_map;
  const Access kind = write ? Access::write : Access::read;
  std::uintptr_t sector = ~std::uintptr_t{0};
  for (std::uintptr_t at = address, end = address + bytes; at < end;) {
    const auto n = static_cast<unsigned>(std::min<std::uintptr_t>(end - at, 16 - at % 16));
    if (options.watch) {
      // The watch takes aligned pieces, of a power of two bytes.
      for (unsigned done = 0; done < n;) {
        const unsigned piece = std::min(1u << std::countr_zero((at + done) | 16), std::bit_floor(n - done));
        watch.access(at + done, piece, kind, where);
        done += piece;
      }
    }
    for (std::uintptr_t byte = at; byte < at + n;) {
      const auto in = static_cast<unsigned>(std::min<std::uintptr_t>(at + n - byte, 8 - byte % 8));
      *reinterpret_cast<unsigned char*>(map + byte / 8) |= static_cast<unsigned char>(((1u << in) - 1) << byte % 8);
      byte += in;
    }
    if (options.count_sectors && at / 32 != sector) {
      sector = at / 32;
      count_access(at, n, write, where);
    }
    at += n;
  }
}

Box checked(const TensorMap& map, const void* shared, const int* at, int coordinates, const char* word, bool piecewise,
            Where where) {
  const std::size_t offset = arena_offset(shared), row = std::size_t{map.box[0]} * map.element_bytes;
  Box b{.map = map, .at = {}, .offset = offset, .bytes = rows_of(map) * row, .where = where, .thread = running_thread->id};
  const std::string what = std::string(word) + " of a box of " + std::to_string(b.bytes) + " bytes at +" + std::to_string(offset);
  if (map.rank == 0) stop_with("bad_box", std::string(word) + " with a tensor map that tensor_map did not make", where);
  if (const char* const lack = piecewise ? nullptr : lack_of(map))
    stop_with("bad_box", std::string(word) + " with a tensor map that lacks " + lack, where);
  if (coordinates != map.rank)
    stop_with("bad_box",
              what + ": " + std::to_string(coordinates) + " coordinates for a tensor of rank " + std::to_string(map.rank), where);
  const std::size_t aligned = piecewise                              ? 16
                              : map.swizzle == device::Swizzle::none ? 128
                                                                     : std::size_t{128} << static_cast<int>(map.swizzle);
  if (!is_shared(shared) || offset % aligned != 0)
    stop_with("bad_box", what + " of shared memory, which has to be a multiple of " + std::to_string(aligned), where);
  if (offset + b.bytes > running_launch.grid->shared_bytes)
    stop_with("bad_box", what + " of shared memory ends past its " + std::to_string(running_launch.grid->shared_bytes) + " bytes",
              where);
  if (at[0] * map.element_bytes % 16 != 0)
    stop_with("bad_box", what + ": its first coordinate, " + std::to_string(at[0]) + ", is no multiple of 16 bytes", where);
  if (guards.untouchable(offset, b.bytes))
    stop_with("in_flight", what + " of shared memory meets a barrier, or bytes that a copy may still be writing", where);
  std::copy(at, at + coordinates, b.at.begin());
  return b;
}

}  // namespace

void Boxes::copy(void* shared, const TensorMap& map, const int* at, int coordinates, void* barrier, Where where, bool piecewise) {
  Box b = checked(map, shared, at, coordinates, "copy_box", piecewise, where);
  Barrier& counts = memory_barriers.find(barrier, "copy_box", where);
  if (!counts.ready) stop_with("unfenced", "copy_box at a barrier without barriers_ready after its barrier_init", where);
  if (guards.unwritable(b.offset, b.bytes))
    stop_with("wgmma_reads",
              "copy_box to +" + std::to_string(b.offset) + " of shared memory, which a wgmma or a store may still be reading",
              where);
  const auto begin = reinterpret_cast<std::uintptr_t>(shared);
  if (options.watch) watch.begin(b.thread, begin, static_cast<unsigned>(b.bytes), true, where);
  check_fenced(b.offset, b.bytes, true, where);
  for_rows(b, false, [&](std::size_t, const unsigned char* from, std::int64_t first, std::int64_t end) {
    touch_global(from, static_cast<std::size_t>(end - first) * map.element_bytes, false, where);
  });
  std::memset(reinterpret_cast<void*>(hot.written_map + begin / 8), 0xff, b.bytes / 8);
  guards.set(b.offset, b.bytes, Guards::written);
  guards.replaced(b.offset, b.bytes);
  std::memset(shared, 0xff, b.bytes);  // NaN, in case a plain access reads it too early
  b.barrier = memory_barriers.index(counts);
  const bool shuffled = options.order == ThreadOrder::shuffle;
  if (!as_late_as_may_be()) return land(b);
  b.at_wait = shuffled && random_numbers.below(2) != 0;
  copies_.push_back(b);
}

void Boxes::land(Box b) {
  unsigned char* const arena = static_cast<unsigned char*>(shared_memory.begin);
  const std::size_t row = std::size_t{b.map.box[0]} * b.map.element_bytes;
  std::memset(arena + b.offset, 0, b.bytes);
  for_rows(b, false, [&](std::size_t r, const unsigned char* from, std::int64_t first, std::int64_t end) {
    alignas(16) unsigned char line[1024] = {};
    std::memcpy(line + first * b.map.element_bytes, from, static_cast<std::size_t>(end - first) * b.map.element_bytes);
    const std::size_t at = b.offset + r * row;
    for (std::size_t c = 0; c < row; c += 16) std::memcpy(arena + swizzled(b.map.swizzle, at + c), line + c, 16);
  });
  memory_barriers.landed(b.barrier, {b.offset, b.bytes, b.thread, b.where});
}

bool Boxes::land_one() {
  if (copies_.empty()) return false;
  const std::size_t i = options.order == ThreadOrder::shuffle ? random_numbers.below(static_cast<unsigned>(copies_.size())) : 0;
  const Box b = copies_[i];
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
  land(b);
  return true;
}

bool land_one_copy() { return tensor_boxes.land_one(); }

void Boxes::land_at(std::size_t barrier) {
  for (std::size_t i = 0; i < copies_.size();) {
    if (copies_[i].barrier != barrier || !copies_[i].at_wait) {
      ++i;
      continue;
    }
    const Box b = copies_[i];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(i));
    land(b);
  }
}

void Boxes::store(const TensorMap& map, const void* shared, const int* at, int coordinates, bool add, Where where,
                  bool piecewise) {
  Box b = checked(map, shared, at, coordinates, add ? "add_box" : "store_box", piecewise, where);
  if (add && !map.is_float32) stop_with("bad_box", "add_box of elements that are not float", where);
  const auto begin = reinterpret_cast<std::uintptr_t>(shared);
  if (options.watch) watch.begin(b.thread, begin, static_cast<unsigned>(b.bytes), false, where);
  check_fenced(b.offset, b.bytes, false, where);
  if (async_copies.in_flight())
    for (std::size_t byte = 0; byte < b.bytes; byte += 16) check_not_in_flight(begin + byte, 16, false, where);
  for_rows(b, true, [&](std::size_t, const unsigned char* to, std::int64_t first, std::int64_t end) {
    const std::size_t bytes = static_cast<std::size_t>(end - first) * map.element_bytes;
    if (!add) return touch_global(to, bytes, true, where);
    for (std::size_t i = 0; i < bytes; i += 4) {
      access<4, Access::atomic_read>(to + i, where);
      access<4, Access::atomic_write>(to + i, where);
    }
  });
  guards.read_begins(b.offset, b.bytes);
  if (options.watch) {
    b.clock = watch.advance();
    watch.done(engine_of_stores(b.thread), b.clock, begin, static_cast<unsigned>(b.bytes), false, where);
  }
  b.add = add;
  b.group = groups_[b.thread];
  if (!as_late_as_may_be()) perform(b);
  stores_.push_back(b);
}

void Boxes::perform(Box& b) {
  const unsigned char* const arena = static_cast<const unsigned char*>(shared_memory.begin);
  const std::size_t row = std::size_t{b.map.box[0]} * b.map.element_bytes;
  for_rows(b, true, [&](std::size_t r, const unsigned char* to, std::int64_t first, std::int64_t end) {
    alignas(16) unsigned char line[1024];
    const std::size_t at = b.offset + r * row;
    for (std::size_t c = 0; c < row; c += 16) std::memcpy(line + c, arena + swizzled(b.map.swizzle, at + c), 16);
    auto* const out = const_cast<unsigned char*>(to);
    const unsigned char* const from = line + first * b.map.element_bytes;
    const std::size_t bytes = static_cast<std::size_t>(end - first) * b.map.element_bytes;
    if (!b.add) {
      std::memcpy(out, from, bytes);
      return;
    }
    for (std::size_t i = 0; i < bytes; i += 4) {
      float sum, term;
      std::memcpy(&sum, out + i, 4);
      std::memcpy(&term, from + i, 4);
      sum += term;
      std::memcpy(out + i, &sum, 4);
    }
  });
  b.done = true;
}

void Boxes::commit(unsigned thread) { ++groups_[thread]; }

void Boxes::wait(unsigned thread, unsigned newest) {
  if (groups_[thread] < newest) return;
  const unsigned end = groups_[thread] - newest;
  for (auto b = stores_.begin(); b != stores_.end();) {
    if (b->thread != thread || b->group >= end) {
      ++b;
      continue;
    }
    if (!b->done) perform(*b);
    guards.read_ends(b->offset, b->bytes);
    if (options.watch) watch.know(thread, engine_of_stores(thread), b->clock);
    b = stores_.erase(b);
  }
}

void Boxes::check_over() {
  for (const Box& b : copies_)
    return left_behind("the block ends while copy_box may still be writing to +" + std::to_string(b.offset) + " of shared memory",
                       b.thread, b.where);
  for (const Box& b : stores_)
    return left_behind(
        "the block ends while store_box may still be reading at +" + std::to_string(b.offset) + " of shared memory", b.thread,
        b.where);
}

void Boxes::clear() {
  copies_.clear();
  stores_.clear();
  groups_.fill(0);
}

// --- The words --------------------------------------------------------------------------------------------------------

void copy_box(void* shared, const TensorMap& map, void* barrier, const int* at, int coordinates, Where where) {
  if (--hot.ticks < 0) tick(where);
  use_asynchronous(where);
  tensor_boxes.copy(shared, map, at, coordinates, barrier, where);
}
void store_box(const TensorMap& map, const void* shared, const int* at, int coordinates, bool add, Where where) {
  if (--hot.ticks < 0) tick(where);
  use_asynchronous(where);
  tensor_boxes.store(map, shared, at, coordinates, add, where);
}
void store_commit() { tensor_boxes.commit(running_thread->id); }
void store_wait(unsigned newest, Where where) {
  if (--hot.ticks < 0) tick(where);
  tensor_boxes.wait(running_thread->id, newest);
}
void fence_shared_async(Where where) {
  if (--hot.ticks < 0) tick(where);
  use_asynchronous(where);
  guards.fenced(running_thread->id);
  if (options.watch) watch.fence(running_thread->id);
}

}  // namespace simt::detail
