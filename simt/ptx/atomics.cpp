// SPDX-License-Identifier: Apache-2.0
// atom, red and cp.async.
#include <algorithm>
#include <bit>
#include <string>

#include "device_mma.hpp"
#include "memory.hpp"
#include "numbers.hpp"
#include "watch.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using detail::Access;

constexpr unsigned kGives = 1;  // of Op::n: the old value is wanted; the other bits are for Watch::meet_blocks

// Old value and operands give the new value.  c: the second operand, of cas alone.
template <class T, auto F>
void atomic(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const auto* b = w.at<Store<T>>(o.b);
  const auto* c = w.at<Store<T>>(o.c);
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    auto* p = reinterpret_cast<T*>(at[lane]);
    detail::access<sizeof(T), Access::atomic_read>(p, o.where);
    detail::access<sizeof(T), Access::atomic_write>(p, o.where);
    T old;
    std::memcpy(&old, p, sizeof(T));
    const bool shared = detail::in_shared_memory(p);
    const T next = F(old, from_lane<T>(b[lane]), from_lane<T>(c[lane]), shared);
    std::memcpy(p, &next, sizeof(T));
    if ((o.n & kGives) != 0) w.at<Store<T>>(o.d)[lane] = to_lane<T>(old);
    if (o.n > kGives && std::has_single_bit(w.mask) && !shared && detail::options.watch && detail::options.replicated)
      detail::watch.meet_blocks(at[lane], o.n >> 1);
  });
}

constexpr auto kAdd = [](auto old, auto b, auto, bool shared) {
  using T = decltype(old);
  if constexpr (std::is_same_v<T, float>) return canonical(shared ? old + b : detail::add_flushing(old, b));
  else if constexpr (std::is_same_v<T, double>) return b != b ? b : old != old ? old : old + b;
  else return static_cast<T>(static_cast<u64>(old) + static_cast<u64>(b));
};
constexpr auto kMin = [](auto old, auto b, auto, bool) { return std::min(old, b); };
constexpr auto kMax = [](auto old, auto b, auto, bool) { return std::max(old, b); };
constexpr auto kAnd = [](auto old, auto b, auto, bool) { return old & b; };
constexpr auto kOr = [](auto old, auto b, auto, bool) { return old | b; };
constexpr auto kXor = [](auto old, auto b, auto, bool) { return old ^ b; };
constexpr auto kExchange = [](auto, auto b, auto, bool) { return b; };
constexpr auto kSwap = [](auto old, auto b, auto c, bool) { return old == b ? c : old; };
constexpr auto kIncrement = [](u32 old, u32 b, u32, bool) { return old >= b ? 0 : old + 1; };
constexpr auto kDecrement = [](u32 old, u32 b, u32, bool) { return old == 0 || old > b ? b : old - 1; };

template <class T>
Run of_integer(std::string_view name) {
  if (name == "add") return atomic<T, kAdd>;
  if (name == "min") return atomic<T, kMin>;
  if (name == "max") return atomic<T, kMax>;
  if (name == "and") return atomic<T, kAnd>;
  if (name == "or") return atomic<T, kOr>;
  if (name == "xor") return atomic<T, kXor>;
  if (name == "exch") return atomic<T, kExchange>;
  if (name == "cas") return atomic<T, kSwap>;
  if constexpr (std::is_same_v<T, u32>) {
    if (name == "inc") return atomic<T, kIncrement>;
    if (name == "dec") return atomic<T, kDecrement>;
  }
  return nullptr;
}
Run atomic_of(std::string_view name, Type t) {
  switch (t) {
    case Type::b32:
    case Type::u32: return of_integer<u32>(name);
    case Type::s32: return of_integer<s32>(name);
    case Type::b64:
    case Type::u64: return of_integer<u64>(name);
    case Type::s64: return of_integer<s64>(name);
    case Type::f32: return name == "add" ? atomic<float, kAdd> : nullptr;
    case Type::f64: return name == "add" ? atomic<double, kAdd> : nullptr;
    default: return nullptr;
  }
}

}  // namespace

void decode_atomic(Decoder& d) {
  const auto has = [&](std::string_view word) { return std::find(d.words.begin(), d.words.end(), word) != d.words.end(); };
  const unsigned how = has("acq_rel") ? 3 : (has("release") ? 1 : 0) + (has("acquire") ? 2 : 0);  // of Watch::meet_blocks
  take_hints(d);
  const Space space = take_space(d);
  static constexpr std::string_view kNames[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  std::string_view name;
  for (const std::string_view known : kNames)
    if (name.empty() && d.take(known)) name = known;
  const Type t = d.take_type();
  const bool gives = d.base == "atom";
  d.op.run = atomic_of(name, t);
  if (d.op.run == nullptr || space == Space::local || space == Space::param) d.refuse("is not run in this form");
  const std::size_t first = gives ? 1 : 0, last = first + (name == "cas" ? 3 : 2);
  d.operands(last, last + 1);
  decode_address_of(d, d.operand(first), space);
  d.op.n = gives && d.operand(0).kind == Operand::Kind::reg;
  if (d.op.n) d.out(&Op::d, 0, t);
  d.in(&Op::b, first + 1, t);
  d.op.c = d.op.b;
  if (name == "cas") d.in(&Op::c, first + 2, t);
  else d.in(&Op::c, first + 1, t);
  d.op.n = static_cast<std::uint8_t>(d.op.n | how << 1);
  d.emit();
}

namespace {

// The global addresses are at o.b and the list: the place of the source's address, its offset, the number of valid bytes.
template <int Bytes>
void copy(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const more = w.program->lists.data() + o.list;
  const auto* from = w.at<u64>(o.b);
  const auto offset = static_cast<u64>(static_cast<s32>(more[0]));
  const auto* valid = more[1] != kNone ? w.at<u32>(more[1]) : nullptr;
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::copy_async<Bytes>(reinterpret_cast<void*>(at[lane]), reinterpret_cast<const void*>(from[lane] + offset),
                              valid != nullptr ? static_cast<int>(valid[lane]) : Bytes, o.where);
  });
}
void commit(Warp& w, const Op&) {
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    detail::commit_copies();
  });
}
void wait(Warp& w, const Op& o) {
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    if (o.value < 0) detail::commit_copies();  // wait_all takes in what no group holds yet
    detail::wait_for_copies(o.value < 0 ? 0 : static_cast<unsigned>(o.value), o.where);
  });
}

}  // namespace

void decode_copy(Decoder& d) {
  if (std::find(d.words.begin(), d.words.end(), "bulk") != d.words.end()) return decode_bulk(d);
  if (!d.take("async")) d.refuse("is not run in this form");
  if (d.take("commit_group")) {
    d.operands(0);
    d.op.run = commit;
    return d.emit();
  }
  if (d.take("wait_all")) {
    d.operands(0);
    d.op.run = wait;
    d.op.value = -1;
    return d.emit();
  }
  if (d.take("wait_group")) {
    d.operands(1);
    d.op.run = wait;
    d.op.value = d.integer(d.operand(0), "a number of groups");
    if (d.op.value < 0 || d.op.value > 1 << 20) d.refuse("waits for too many groups");
    return d.emit();
  }
  take_hints(d);
  if (!(d.take("shared") || d.take("shared::cta")) || !d.take("global")) d.refuse("is not run in this form");
  d.operands(3, 4);
  decode_address_of(d, d.operand(0), Space::shared);
  const std::int64_t bytes = d.integer(d.operand(2), "a number of bytes");
  d.op.run = bytes == 16 ? copy<16> : bytes == 8 ? copy<8> : bytes == 4 ? copy<4> : nullptr;
  const Operand& from = d.operand(1);
  if (d.op.run == nullptr || from.kind != Operand::Kind::address || from.base != Operand::Kind::reg)
    d.refuse("is not run in this form");
  if (from.value != static_cast<s32>(from.value)) d.refuse("has an offset beyond 32 bits");
  Operand base = from;
  base.kind = Operand::Kind::reg;
  d.in(&Op::b, base, Type::b64);
  d.program.lists.push_back(static_cast<Place>(static_cast<s32>(from.value)));
  if (d.count() == 4) d.in_list(d.operand(3), Type::u32);
  else d.no_list();
  d.emit();
}

}  // namespace simt::ptx
