// SPDX-License-Identifier: Apache-2.0
#include "async.hpp"

#include <cstring>

#include "arena.hpp"
#include "device_mma.hpp"
#include "findings.hpp"
#include "guards.hpp"
#include "options.hpp"
#include "threads.hpp"
#include "ticks.hpp"
#include "watch.hpp"

namespace simt::detail {

Copies async_copies;

void Copies::land(const Copy& c) {
  if (c.valid == 16) {  // the usual size, which the compiler inlines
    std::memcpy(c.to, c.from, 16);
    return;
  }
  std::memcpy(c.to, c.from, c.valid);
  std::memset(c.to + c.valid, 0, static_cast<std::size_t>(c.bytes - c.valid));
}

void Copies::start(unsigned thread, std::size_t offset, const Copy& copy, bool at_once) {
  Queue& q = queues_[thread];
  if (!q.used) {
    q.used = true;
    users_.push_back(thread);
  }
  q.copies.push_back(copy);
  q.copies.back().group = q.committed;
  q.copies.back().done = at_once;
  words_[offset / 256] |= bits(offset, copy.bytes);
  ++in_flight_;
  if (at_once) land(copy);
}

void Copies::finish(unsigned thread, unsigned newest, const unsigned char* arena) {
  Queue& q = queues_[thread];
  if (q.committed < newest) return;
  const std::uint32_t end = q.committed - newest;
  for (; q.first < q.copies.size() && q.copies[q.first].group < end; ++q.first) {
    const Copy& c = q.copies[q.first];
    if (!c.done) land(c);
    const auto offset = static_cast<std::size_t>(c.to - arena);
    words_[offset / 256] &= ~bits(offset, c.bytes);
    if (running_block.asynchronous) guards.wrote(offset, c.bytes, thread);
    if (options.watch) watch.landed(thread, reinterpret_cast<std::uintptr_t>(c.to), c.bytes, c.where);
    --in_flight_;
  }
  if (2 * q.first >= q.copies.size()) {
    q.copies.erase(q.copies.begin(), q.copies.begin() + static_cast<std::ptrdiff_t>(q.first));
    q.first = 0;
  }
}

const Copy* Copies::writer(const unsigned char* first, unsigned bytes, unsigned& thread) const {
  for (const unsigned user : users_) {
    const Queue& q = queues_[user];
    for (std::size_t i = q.first; i < q.copies.size(); ++i)
      if (q.copies[i].to < first + bytes && first < q.copies[i].to + q.copies[i].bytes) {
        thread = user;
        return &q.copies[i];
      }
  }
  return nullptr;
}

void Copies::clear() {
  for (const unsigned user : users_) {
    Queue& q = queues_[user];
    q.copies.clear();
    q.first = q.committed = 0;
    q.used = false;
  }
  users_.clear();
  if (in_flight_ != 0) words_.fill(0);
  in_flight_ = 0;
}

namespace {

using What = Trouble::What;

// Checks and counts a read of the first `valid` of a copy's `bytes` bytes, which must be aligned to `bytes`.
void read_part(const void* p, unsigned bytes, unsigned valid, Where where) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (address % bytes != 0) stop({.what = What::access, .where = where, .address = address, .bytes = valid, .mask = bytes});
  if (valid == 0) return;
  const std::uintptr_t id = address >> 32;
  if (id >= kSlots || address - slots[id].begin >= slots[id].limit[0] || address - slots[id].begin + valid > slots[id].limit[0])
    refuse(address, valid, false, where);
  slots[id].read_bytes += valid;
  for (std::uintptr_t a = address; a < address + valid; ++a)
    *reinterpret_cast<unsigned char*>(hot.read_map + (a >> 3)) |= static_cast<unsigned char>(1u << (a & 7));
  if (--hot.ticks < 0) slow_access(address, valid, Access::read, where);
}

}  // namespace

void check_not_in_flight(std::uintptr_t address, unsigned bytes, bool write, Where where) {
  if (async_copies.covers(arena_offset(address), bytes))
    stop({.what = Trouble::What::in_flight, .where = where, .address = address, .bytes = bytes, .write = write});
}

template <int Bytes>
void copy_async(void* shared, const void* global, int valid, Where where) {
  const auto to = reinterpret_cast<std::uintptr_t>(shared), from = reinterpret_cast<std::uintptr_t>(global);
  if (!is_shared(to)) stop({.what = What::copy_not_to_shared, .where = where, .address = to, .bytes = Bytes});
  if (valid < 0 || valid > Bytes)
    stop({.what = What::copy_of_too_much, .where = where, .bytes = Bytes, .mask = static_cast<unsigned>(valid)});
  if (valid != 0 && is_shared(from)) stop({.what = What::copy_from_shared, .where = where, .address = from, .bytes = Bytes});
  if (valid == Bytes) access<Bytes, Access::read>(global, where);
  else read_part(global, Bytes, static_cast<unsigned>(valid), where);
  access<Bytes, Access::write>(shared, where);
  const bool at_once = !as_late_as_may_be();
  if (!async_copies.in_flight()) watch_accesses();
  async_copies.start(running_thread->id, arena_offset(to),
                     {.to = static_cast<unsigned char*>(shared),
                      .from = static_cast<const unsigned char*>(global),
                      .where = where,
                      .group = 0,
                      .bytes = Bytes,
                      .valid = static_cast<std::uint8_t>(valid),
                      .done = false},
                     at_once);
}
template void copy_async<4>(void*, const void*, int, Where);
template void copy_async<8>(void*, const void*, int, Where);
template void copy_async<16>(void*, const void*, int, Where);

void commit_copies() { async_copies.commit(running_thread->id); }

void wait_for_copies(unsigned newest, Where where) {
  if (--hot.ticks < 0) tick(where);
  if (!async_copies.in_flight()) return;
  async_copies.finish(running_thread->id, newest, static_cast<const unsigned char*>(shared_memory.begin));
  if (!async_copies.in_flight()) unwatch_accesses();
}

void check_matrix_row(const void* row, Where where) {
  const auto address = reinterpret_cast<std::uintptr_t>(row);
  if (!is_shared(address)) stop({.what = What::matrix_not_shared, .where = where, .address = address, .bytes = 16});
  access<16, Access::read>(row, where);
}

}  // namespace simt::detail
