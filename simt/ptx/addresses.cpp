// SPDX-License-Identifier: Apache-2.0
// The addresses of accesses: their spaces, and cvta.
#include <string>

#include "arena.hpp"
#include "describe.hpp"
#include "findings.hpp"
#include "memory.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

Space space_of(const Op& o) { return static_cast<Space>(o.how & kSpaceBits); }

}  // namespace

std::byte* own(const Warp& w, unsigned lane, std::uint64_t offset, unsigned bytes, bool write, Where where) {
  if (offset > w.program->local_bytes || w.program->local_bytes - offset < bytes)
    detail::stop_with("out_of_bounds",
                      detail::access_of(bytes, write) + "at byte " + std::to_string(offset) + " of a thread's " +
                          std::to_string(w.program->local_bytes) + " bytes of local memory",
                      where);
  if (offset % bytes != 0)
    detail::stop_with("misaligned",
                      "an access of " + std::to_string(bytes) + " bytes at byte " + std::to_string(offset) + " of local memory",
                      where);
  return w.local + lane * w.program->local_bytes + offset;
}

void addresses(const Warp& w, const Op& o, std::uint64_t (&at)[kLanes]) {
  const auto offset = static_cast<u64>(o.value);
  const bool shared = space_of(o) == Space::shared;
  const u64 arena = shared ? detail::arena_begin() : 0;
  if (o.a == kNone) {
    for (unsigned i = 0; i < kLanes; ++i) at[i] = arena + offset;
  } else if (o.how & kWideAddress) {
    const auto* a = w.at<u64>(o.a);
    for (unsigned i = 0; i < kLanes; ++i) at[i] = arena + (shared ? static_cast<u32>(a[i] + offset) : a[i] + offset);
  } else {
    const auto* a = w.at<u32>(o.a);
    for (unsigned i = 0; i < kLanes; ++i) at[i] = arena + (shared ? static_cast<u32>(a[i] + offset) : a[i] + offset);
  }
}

void decode_address_of(Decoder& d, const Operand& o, Space space) {
  if (o.kind != Operand::Kind::address) d.refuse("has " + d.text(o) + " where an address was expected");
  if (o.count != 0) d.refuse("has coordinates where none are taken");
  d.op.how = static_cast<std::uint8_t>(d.op.how | static_cast<std::uint8_t>(space == Space::constant ? Space::global : space));
  d.op.value = o.value;
  d.op.a = kNone;
  if (o.base == Operand::Kind::variable) {
    d.op.value = static_cast<std::int64_t>(d.address_of(o));
  } else if (o.base == Operand::Kind::reg) {
    const unsigned bits = d.bits_of_register(o);
    if (bits != 64 && (bits != 32 || space == Space::global || space == Space::generic))
      d.refuse("has an address in a register of " + std::to_string(bits) + " bits");
    Operand base = o;
    base.kind = Operand::Kind::reg;
    d.in(&Op::a, base, bits == 64 ? Type::b64 : Type::b32);
    if (bits == 64) d.op.how |= kWideAddress;
  }
}

// The places: the register; 1 if it has 64 bits and 2 if the space is shared; what is added, of 64 bits.
void further_address(Decoder& d, const Operand& o, Space space) {
  if (o.kind != Operand::Kind::address) d.refuse("has " + d.text(o) + " where an address was expected");
  std::uint64_t added = static_cast<u64>(o.value);
  bool wide = false;
  if (o.base == Operand::Kind::reg) {
    const unsigned bits = d.bits_of_register(o);
    if (bits != 64 && (bits != 32 || space != Space::shared))
      d.refuse("has an address in a register of " + std::to_string(bits) + " bits");
    wide = bits == 64;
    Operand base = o;
    base.kind = Operand::Kind::reg;
    d.in_list(base, wide ? Type::b64 : Type::b32);
  } else {
    d.no_list();
    if (o.base == Operand::Kind::variable) added = d.address_of(o) + (d.variable(o).space == Space::param ? kParameterWindow : 0);
  }
  d.program.lists.push_back((wide ? 1u : 0u) | (space == Space::shared ? 2u : 0u));
  d.program.lists.push_back(d.constant(added, 64));
}

std::uint64_t further_address(const Warp& w, const Place* three, unsigned lane) {
  u64 at = w.at<u64>(three[2])[lane];
  if (three[0] != kNone) at += (three[1] & 1) != 0 ? w.at<u64>(three[0])[lane] : w.at<u32>(three[0])[lane];
  return (three[1] & 2) != 0 ? detail::arena_begin() + static_cast<u32>(at) : at;
}

Space take_space(Decoder& d) {
  const int k = d.take_one({"global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func"});
  constexpr Space kSpaces[] = {Space::global,   Space::shared, Space::shared, Space::local,
                               Space::constant, Space::param,  Space::param,  Space::param};
  return k < 0 ? Space::generic : kSpaces[k];
}

void take_hints(Decoder& d) {
  std::erase_if(d.words, [](std::string_view w) {
    static constexpr std::string_view kHints[] = {"nc", "ca",       "cg",   "cs",      "lu",      "cv",      "wb",
                                                  "wt", "volatile", "weak", "relaxed", "acquire", "release", "acq_rel",
                                                  "sc", "mmio",     "cta",  "gpu",     "sys",     "cluster"};
    for (const std::string_view hint : kHints)
      if (w == hint) return true;
    return w.starts_with("L1::") || w.starts_with("L2::");
  });
}

// Generic addresses of shared memory are those of this process; a shared address is an offset.
void decode_address(Decoder& d) {
  const bool to = d.take("to");
  const Space space = take_space(d);
  const Type t = d.take_type();
  d.operands(2);
  if (t != Type::u64) d.refuse("is not run for this type");
  switch (space) {
    case Space::shared:
      d.op.run = to ? op1<[](u64 a) { return a - detail::arena_begin(); }, u64, u64>
                    : op1<[](u64 a) { return a + detail::arena_begin(); }, u64, u64>;
      break;
    case Space::local:
      d.op.run = to ? op1<[](u64 a) { return a & (kLocalWindow - 1); }, u64, u64>
                    : op1<[](u64 a) { return a | kLocalWindow; }, u64, u64>;
      break;
    case Space::param:
      d.op.run = to ? op1<[](u64 a) { return a & (kParameterWindow - 1); }, u64, u64>
                    : op1<[](u64 a) { return a | kParameterWindow; }, u64, u64>;
      break;
    case Space::global:
    case Space::constant: d.op.run = op1<[](u64 a) { return a; }, u64, u64>; break;
    default: d.refuse("is not run for this space");
  }
  // Note: `cvta.shared d, x` names the variable itself.
  d.out(&Op::d, 0, t);
  d.in(&Op::a, 1, t);
  d.emit();
}

}  // namespace simt::ptx
