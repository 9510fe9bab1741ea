// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory (mbarrier), fences between the proxies, and what clusters of one block make of their instructions.
#include "barriers.hpp"

#include <algorithm>

#include "device_hopper.hpp"
#include "memory.hpp"
#include "tensor_copy.hpp"
#include "watch.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// The barrier at an address, for the running thread.  Its initialisation has to be ordered before each use.
detail::Barrier& barrier_at(u64 address, const char* what, Where where) {
  detail::Barrier& b = detail::memory_barriers.find(reinterpret_cast<const void*>(address), what, where);
  if (detail::options.watch) detail::watch.access(address, 8, detail::Access::read, where);
  return b;
}

// d: the state that an arrival gives (o.n: there is one); the list: number of arrivals, bytes.
void initialise(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const auto* count = w.at<u32>(w.program->lists[o.list]);
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::memory_barriers.make(reinterpret_cast<void*>(at[lane]), static_cast<int>(std::min(count[lane], 0x7fffffffu)),
                                 o.where);
  });
}
void invalidate(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::Barrier& b = detail::memory_barriers.find(reinterpret_cast<const void*>(at[lane]), "mbarrier.inval", o.where);
    if (detail::options.watch) detail::watch.access(at[lane], 8, detail::Access::write, o.where);
    detail::memory_barriers.end(b, o.where);
  });
}
void arrive(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const more = w.program->lists.data() + o.list;
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::Barrier& b = barrier_at(at[lane], "mbarrier.arrive", o.where);
    if (o.n) w.at<u64>(o.d)[lane] = b.phase;
    const u32 arrivals = more[0] != kNone ? w.at<u32>(more[0])[lane] : 1, bytes = more[1] != kNone ? w.at<u32>(more[1])[lane] : 0;
    detail::memory_barriers.arrive(b, bytes, o.where, arrivals);
  });
}
void expect(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const auto* bytes = w.at<u32>(w.program->lists[o.list + 1]);
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::memory_barriers.expect(barrier_at(at[lane], "mbarrier.expect_tx", o.where), bytes[lane], o.where);
  });
}

// The phase that a lane waits for: by its parity (how & kByState: 0), or the one of a state that an arrival gave.
constexpr std::uint8_t kByState = 64;
bool is_over(const Warp& w, const Op& o, unsigned lane, const detail::Barrier& b) {
  const Place p = w.program->lists[o.list];
  if ((o.how & kByState) != 0) return b.phase != w.at<u64>(p)[lane];
  return (b.phase & 1) != (w.at<u32>(p)[lane] & 1);
}

void fence_proxies(Warp& w, const Op& o) {
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::fence_shared_async(o.where);
    detail::barriers_ready(o.where);
  });
}
void fence_barriers(Warp& w, const Op& o) {
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::barriers_ready(o.where);
  });
}

Space barrier_space(Decoder& d) {
  if (d.take("shared::cluster")) return Space::shared;  // Note: clusters have one block here.
  return take_space(d);
}

void decode_wait(Decoder& d) {
  const bool by_parity = d.take("parity");
  take_hints(d);
  const Space space = barrier_space(d);
  d.operands(3, 4);  // a fourth says how long it may wait
  d.op.flow = Flow::phase;
  d.out(&Op::d, 0, Type::pred);
  decode_address_of(d, d.operand(1), space);
  if (!by_parity) d.op.how |= kByState;
  d.in_list(d.operand(2), by_parity ? Type::u32 : Type::b64);
  if (d.count() == 4) d.in_list(d.operand(3), Type::u32);
  d.emit();
}

}  // namespace

std::uint32_t lanes_over(Warp& w, const Op& o, std::uint32_t lanes, bool comes) {
  u64 at[kLanes];
  addresses(w, o, at);
  u32 over = 0;
  for (u32 left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    become(w, lane);
    if (comes) detail::tensor_boxes.land_at(detail::memory_barriers.index(barrier_at(at[lane], "mbarrier wait", o.where)));
    over |= u32{is_over(w, o, lane, detail::memory_barriers.find(reinterpret_cast<void*>(at[lane]), "mbarrier wait", o.where))}
            << lane;
  }
  return over;
}

void end_wait(Warp& w, const Op& o, std::uint32_t lanes, std::uint32_t over) {
  u64 at[kLanes];
  addresses(w, o, at);
  for (u32 left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    become(w, lane);
    const bool done = over >> lane & 1;
    if (done)
      detail::memory_barriers.pass(detail::memory_barriers.find(reinterpret_cast<void*>(at[lane]), "mbarrier wait", o.where));
    w.at<u32>(o.d)[lane] = done ? ~0u : 0u;
  }
}

detail::Barrier& barrier_of(const Warp& w, const Op& o, unsigned lane) {
  u64 at[kLanes];
  addresses(w, o, at);
  return detail::memory_barriers.find(reinterpret_cast<const void*>(at[lane]), "mbarrier wait", o.where);
}

void decode_mbarrier(Decoder& d) {
  d.program.asynchronous = true;
  if (!d.take("b64") && std::find(d.words.begin(), d.words.end(), "expect_tx") == d.words.end())
    d.refuse("is not run in this form");
  if (d.take("test_wait") || d.take("try_wait")) return decode_wait(d);
  const int what = d.take_one({"init", "inval", "arrive"});
  const bool bytes = d.take("expect_tx");
  if (what < 0 && !bytes) d.refuse("is not run in this form");
  take_hints(d);
  const Space space = barrier_space(d);
  d.op.run = what == 0 ? initialise : what == 1 ? invalidate : what == 2 ? arrive : expect;
  const std::size_t first = what == 2 ? 1 : 0;
  if (what == 2) d.operands(bytes ? 3 : 2, 3);
  else d.operands(what == 1 ? 1 : 2);
  if (what == 2 && d.operand(0).kind != Operand::Kind::nothing) {
    d.out(&Op::d, 0, Type::b64);
    d.op.n = 1;
  }
  decode_address_of(d, d.operand(first), space);
  if (bytes) d.no_list();
  if (d.count() > first + 1) d.in_list(d.operand(first + 1), Type::u32);
  else d.no_list();
  if (!bytes) d.no_list();
  d.emit();
}

// fence.proxy.async, fence.mbarrier_init, fence.proxy.tensormap; false: another fence, or none.
bool decode_proxy_fence(Decoder& d) {
  if (d.take("mbarrier_init")) {
    if (!d.take("release") || !d.take("cluster")) d.refuse("is not run in this form");
    d.operands(0);
    d.op.run = fence_barriers;
    d.emit();
    return true;
  }
  if (!d.take("proxy")) return false;
  if (d.take("tensormap::generic")) {
    decode_tensor_map_fence(d);
    return true;
  }
  if (d.take("alias")) return true;
  if (!d.take("async")) d.refuse("is not run in this form");
  d.operands(0);
  d.program.asynchronous = true;
  const int space = d.take_one({"global", "shared::cta", "shared::cluster"});
  if (space != 0) {  // Note: nothing here reads global memory by the other proxy late.
    d.op.run = fence_proxies;
    d.emit();
  }
  return true;
}

}  // namespace simt::ptx
