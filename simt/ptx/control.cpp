// SPDX-License-Identifier: Apache-2.0
// Branches, barriers, and what needs no work here.
#include "decode.hpp"
#include "memory.hpp"

namespace simt::ptx {

void decode_flow(Decoder& d) {
  d.take("uni");
  if (d.base != "bra") {
    d.operands(0);
    d.op.flow = d.base == "trap" ? Flow::trap : Flow::exit;
    return d.emit();
  }
  d.operands(1);
  const Operand& to = d.operand(0);
  if (to.kind != Operand::Kind::label) d.refuse("goes to " + d.text(to) + ", which is no label of the function");
  d.op.flow = Flow::branch;
  d.op.target = d.graph.block_at[to.id];  // run() makes an operation of the block
  d.op.meets = d.graph.blocks[d.block].meets;
  d.emit();
}

// bar.sync id{, threads}; bar.arrive; bar.warp.sync lanes.  The list: barrier, threads.
void decode_barrier(Decoder& d) {
  d.take("cta");
  d.take("aligned");
  if (d.take("cluster")) d.refuse("is not run: a cluster has one block here");
  if (d.take("warp")) {
    if (!d.take("sync")) d.refuse("is not run in this form");
    d.operands(1);
    d.op.flow = Flow::warp_barrier;
    d.in_list(d.operand(0), Type::b32);
    return d.emit();
  }
  const int kind = d.take_one({"sync", "arrive"});
  if (kind < 0) d.refuse("is not run in this form");
  d.operands(kind == 0 ? 1 : 2, 2);
  d.op.flow = kind == 0 ? Flow::barrier : Flow::arrival;
  d.in_list(d.operand(0), Type::u32);
  if (d.count() == 2) d.in_list(d.operand(1), Type::u32);
  else d.no_list();
  d.emit();
}

namespace {
void wait_for_grid(Warp& w, const Op& o) {
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::wait_for_previous_grid(o.where);
  });
}
}  // namespace

// Fences order nothing that this machine does out of order.
void decode_nothing(Decoder& d) {
  if (d.base == "griddepcontrol") {
    if (d.take("wait")) {
      d.op.run = wait_for_grid;
      d.emit();
    } else if (!d.take("launch_dependents")) d.refuse("is not run in this form");
  }
  if (d.base == "pmevent") d.words.clear();
  if (d.base == "fence" && decode_proxy_fence(d)) return;
  if (d.base == "fence" || d.base == "membar" || d.base == "prefetch" || d.base == "prefetchu") d.words.clear();
  if (d.base == "nanosleep") d.take("u32");
}

}  // namespace simt::ptx
