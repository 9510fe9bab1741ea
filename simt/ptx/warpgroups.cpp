// SPDX-License-Identifier: Apache-2.0
// wgmma and setmaxnreg: what the four warps of a warpgroup do together.
#include <algorithm>
#include <charconv>

#include "device_hopper.hpp"
#include "memory.hpp"
#include "register_pool.hpp"
#include "wgmma.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

unsigned warp_of(const Warp& w) { return w.thread->id / kLanes; }

// Bits of Op::how of a product: its type, a detail::Element, and these.
constexpr std::uint8_t kTypeBits = 3, kARegisters = 4, kAMnMajor = 8, kBMnMajor = 16;

// n: of the shape, in eights.  The list behind the lanes: scale-d, A (a descriptor or four words), the descriptor of B, and the
// accumulators as operands and again as results.
void multiply(Warp& w, const Op& o) {
  const Place* p = w.program->lists.data() + o.list + 1;
  const u32 keep = w.lanes_of(*p++);
  const bool in_registers = (o.how & kARegisters) != 0;
  const Place* const a = p;
  p += in_registers ? 4 : 1;
  const u64* const b = w.at<u64>(*p++);
  const int n = 8 * o.n;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    become(w, lane);
    unsigned* const words = w.a_words[lane];
    for (unsigned k = 0; in_registers && k < 4; ++k) words[k] = w.at<u32>(a[k])[lane];
    detail::wgmma_products.come({.type = static_cast<detail::Element>(o.how & kTypeBits),
                                 .n = n,
                                 .a = in_registers ? 0 : w.at<u64>(*a)[lane],
                                 .b = b[lane],
                                 .a_words = in_registers ? words : nullptr,
                                 .a_mn_major = (o.how & kAMnMajor) != 0,
                                 .b_mn_major = (o.how & kBMnMajor) != 0,
                                 .keep = (keep >> lane & 1) != 0,
                                 .acc = reinterpret_cast<float*>(w.base[0]) + lane,
                                 .at = p},
                                o.where);
  }
}

void begin(Warp& w, const Op&) {
  for (unsigned lane = 0; lane < kLanes; ++lane) detail::wgmma_products.begin(w.thread[lane].id);
}
void commit(Warp& w, const Op&) {
  for (unsigned lane = 0; lane < kLanes; ++lane) detail::wgmma_products.commit(w.thread[lane].id);
}
void wait(Warp& w, const Op& o) {
  become(w, 0);
  detail::wgmma_products.wait_as_warp(warp_of(w), static_cast<unsigned>(o.value), reinterpret_cast<u32*>(w.base[0]),
                                      w.program->register_bytes / 4);
}

template <bool Takes>
void ask(Warp& w, const Op& o) {
  become(w, 0);
  detail::register_pool.ask(static_cast<int>(o.value), Takes, o.where);
  detail::register_pool.grant();
}

// n of `m64nNkK`; 0: it is no such shape.
unsigned width_of(std::string_view shape, std::string_view depth) {
  unsigned n = 0;
  if (!shape.starts_with("m64n")) return 0;
  const auto [end, error] = std::from_chars(shape.data() + 4, shape.data() + shape.size(), n);
  const std::string_view rest(end, static_cast<std::size_t>(shape.data() + shape.size() - end));
  return error == std::errc() && rest == depth && n % 8 == 0 && n >= 8 && n <= 256 ? n : 0;
}

void decode_wgmma_product(Decoder& d) {
  const auto shape = std::find_if(d.words.begin(), d.words.end(), [](std::string_view s) { return s.starts_with("m64n"); });
  const std::string_view size = shape != d.words.end() ? *shape : std::string_view();
  d.take(size);
  const bool sums = d.take("f32");
  const int type = d.take_one({"f16", "bf16", "tf32"});
  constexpr std::string_view kTypes[] = {"f16", "bf16", "tf32"};
  if (!sums || type < 0 || !d.take(kTypes[type])) d.refuse("is run for f16, bf16 and tf32 with sums in f32 only");
  const unsigned n = width_of(size, type == 2 ? "k8" : "k16");
  if (n == 0) d.refuse("is not run in this shape");
  d.operands(6, 8);
  const Operand &sum = d.operand(0), &a = d.operand(1);
  const bool in_registers = a.kind == Operand::Kind::vector;
  if (d.count() != (type == 2 ? 6u : in_registers ? 7u : 8u)) d.refuse("has " + std::to_string(d.count()) + " operands");
  if (sum.kind != Operand::Kind::vector || sum.count != n / 2 || (in_registers && a.count != 4))
    d.refuse("has a fragment of another size than its shape");
  for (std::size_t k = 4; k < 6; ++k)
    if (d.integer(d.operand(k), "a sign") != 1) d.refuse("is run with factors of their own sign only");
  const auto major = [&](std::size_t k) {
    const std::int64_t bit = d.integer(d.operand(k), "0 or 1");
    if (bit != 0 && bit != 1) d.refuse("is not run in this form");
    return bit == 1;
  };
  unsigned how = static_cast<unsigned>(type);
  if (in_registers) how |= kARegisters;
  if (d.count() == 8 && major(6)) how |= kAMnMajor;
  if (d.count() > 6 && major(d.count() - 1)) how |= kBMnMajor;
  d.op.run = multiply;
  d.op.flow = Flow::warpgroup;
  d.op.n = static_cast<std::uint8_t>(n / 8);
  d.op.how = static_cast<std::uint8_t>(how);
  d.no_list();
  const Operand& keep = d.operand(3);
  d.in_list(keep, Type::pred);
  if (in_registers)
    for (unsigned k = 0; k < 4; ++k) d.in_list(d.part(a, k), Type::b32);
  else d.in_list(a, Type::b64);
  d.in_list(d.operand(2), Type::b64);
  for (unsigned k = 0; k < sum.count; ++k) {
    if (d.part(sum, k).kind != Operand::Kind::reg) d.refuse("writes to " + d.text(d.part(sum, k)));
    d.out_list(d.part(sum, k), Type::f32);
  }
  if (keep.kind != Operand::Kind::integer || keep.value != 0)
    for (unsigned k = 0; k < sum.count; ++k) d.in_list(d.part(sum, k), Type::f32);
  d.emit();
}

}  // namespace

// Finds the operations that read or write registers in which accumulators of a running wgmma may be: its own, and those to which
// they are moved.
void Decoder::guard_accumulators() {
  std::vector<std::uint8_t> holds(f.registers.size(), 0);
  bool any = false;
  for (const Reference& r : references)
    if (r.write && program.ops[r.op].flow == Flow::warpgroup) {
      holds[r.reg] = 1;
      any = true;
    }
  for (bool grows = any; grows;) {
    grows = false;
    for (std::size_t k = 1; k < references.size(); ++k) {
      const Reference &from = references[k - 1], &to = references[k];
      if (from.op != to.op || !to.write || from.write || carries_[to.op] == 0 || holds[from.reg] == 0 || holds[to.reg] != 0)
        continue;
      if (program.ops[to.op].flow == Flow::warpgroup) continue;
      holds[to.reg] = 1;
      grows = true;
    }
  }
  if (!any) return;
  constexpr Place Op::*kFields[] = {&Op::d, &Op::a, &Op::b, &Op::c, &Op::guard};
  for (const Reference& r : references) {
    Op& o = program.ops[r.op];
    if (holds[r.reg] == 0 || o.flow == Flow::warpgroup || (carries_[r.op] != 0 && !r.write)) continue;
    if (o.careful == kNone) o.careful = static_cast<std::uint32_t>(program.careful.size());
    if (o.flow == Flow::plain) o.flow = Flow::careful;
    program.careful.push_back({r.op, r.field < 5 ? o.*kFields[r.field] : program.lists[r.at], r.write});
  }
}

void decode_warpgroup(Decoder& d) {
  if (!d.take("sync") || !d.take("aligned")) d.refuse("is not run in this form");
  d.program.asynchronous = true;
  if (d.base == "setmaxnreg") {
    const int takes = d.take_one({"dec", "inc"});
    if (takes < 0 || !d.take("u32")) d.refuse("is not run in this form");
    d.operands(1);
    d.op.run = takes == 1 ? ask<true> : ask<false>;
    d.op.flow = Flow::registers;
    d.op.value = d.integer(d.operand(0), "a number of registers");
    if (d.op.value < 0 || d.op.value > 1024) d.refuse("names too many registers");
    d.no_list();
    return d.emit();
  }
  if (d.take("mma_async")) return decode_wgmma_product(d);
  const int what = d.take_one({"fence", "commit_group", "wait_group"});
  if (what < 0) d.refuse("is not run in this form");
  d.operands(what == 2 ? 1 : 0);
  d.op.run = what == 0 ? begin : what == 1 ? commit : wait;
  d.op.flow = Flow::together;
  if (what == 2) d.op.value = d.integer(d.operand(0), "a number of groups");
  if (d.op.value < 0 || d.op.value > 7) d.refuse("waits for more than 7 groups");
  d.no_list();
  d.emit();
}

}  // namespace simt::ptx
