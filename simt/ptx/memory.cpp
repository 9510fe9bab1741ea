// SPDX-License-Identifier: Apache-2.0
// ld, st and cvta.  Every access goes through the machine's access(), lane by lane; those of a warp that lie in one allocation
// are checked and counted at once where no one watches.
#include "memory.hpp"

#include <string>

#include "arena.hpp"
#include "async.hpp"
#include "findings.hpp"
#include "grid.hpp"
#include "ticks.hpp"
#include "watch.hpp"

namespace simt::ptx {

namespace {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using detail::Access;

Space space_of(const Op& o) { return static_cast<Space>(o.how & kSpaceBits); }

// How the accesses of a warp lie, if they were checked at once.
enum class Reach : std::uint8_t {
  unchecked,  // lane by lane: they are wrong, lie in several allocations, or somebody needs to see each
  scattered,
  neighbours,  // in the order of the lanes, without gaps
  one          // all at one place
};

// Marks the bytes of one access.
template <unsigned Bytes>
void mark(std::uintptr_t map, u64 address) {
  auto* const bits = reinterpret_cast<unsigned char*>(map + (address >> 3));
  if constexpr (Bytes >= 8) std::memset(bits, 0xff, Bytes / 8);
  else *bits = static_cast<unsigned char>(*bits | ((1u << Bytes) - 1u) << (address & 7));
}

// Whether each access to a slot is watched, and nothing else wants to see it.
bool only_watched(u64 slot) {
  return detail::options.watch && !detail::options.count_sectors &&
         (slot != detail::shared_memory.slot || (!detail::running_block.asynchronous && !detail::async_copies.in_flight()));
}

// Checks and counts the accesses of a warp at once, if they lie in one allocation and are right, and nobody needs to see each.
// The other lanes then have the address of the first that takes part, so that loops over all lanes need no mask.
template <unsigned Bytes, Access Kind>
Reach together(const Warp& w, u64 (&at)[kLanes], Where where) {
  const u32 lanes = w.mask;
  const auto count = static_cast<unsigned>(std::popcount(lanes));
  const u64 first = at[std::countr_zero(lanes) & 31],
            id = first >> 32;  // Note: some lane takes part, which the compiler cannot know
  if (id >= detail::kSlots) return Reach::unchecked;
  const bool watched = Kind == Access::read && only_watched(id);
  if (!watched && detail::hot.ticks < static_cast<std::int64_t>(count)) return Reach::unchecked;
  if (lanes != 0xffffffffu)
    for (unsigned i = 0; i < kLanes; ++i) at[i] = (lanes >> i & 1) != 0 ? at[i] : first;
  detail::Slot& s = detail::slots[id];
  const u64 begin = s.begin, limit = s.limit[std::countr_zero(Bytes)];
  u64 beyond = 0, apart = 0, differ = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    beyond |= at[i] - begin < limit ? 0 : ~u64{0};
    apart |= at[i] ^ (first + u64{i} * Bytes);
    differ |= at[i] ^ first;
  }
  if (beyond != 0 || ((first | differ) & (Bytes - 1)) != 0) return Reach::unchecked;
  (is_write(Kind) ? s.written_bytes : s.read_bytes) += u64{Bytes} * count;
  if (watched) {
    detail::watch.read_by_lanes(w.thread->id, lanes, at, Bytes, where);
    become(w, static_cast<unsigned>(std::countr_zero(lanes)));
    detail::time_limit.slow_ticks += static_cast<int>(count);
    if (detail::time_limit.slow_ticks >= detail::kTicks) detail::tick(where);
  } else {
    detail::hot.ticks -= count;
  }
  const std::uintptr_t map = is_write(Kind) ? detail::hot.written_map : detail::hot.read_map;
  if (differ == 0) {
    mark<Bytes>(map, first);
    return Reach::one;
  }
  if (apart == 0 && first % 8 == 0) {
    std::memset(reinterpret_cast<void*>(map + (first >> 3)), 0xff, Bytes * kLanes / 8);
    return Reach::neighbours;
  }
  return Reach::scattered;
}

// The value that one element of a load leaves in its register.
template <class E>
void put(const Warp& w, Place p, bool wide, unsigned lane, E v) {
  if (sizeof(E) < 8 && wide)
    w.at<u64>(p)[lane] = static_cast<u64>(static_cast<std::conditional_t<std::is_signed_v<E>, std::int64_t, u64>>(v));
  else w.at<Store<E>>(p)[lane] = to_lane<E>(v);
}
// The same for all lanes that execute.
template <class E>
void put_all(const Warp& w, Place p, bool wide, const E* v, unsigned apart) {
  if (sizeof(E) < 8 && wide)
    for_lanes(w, w.at<u64>(p), [=](unsigned i) {
      return static_cast<u64>(static_cast<std::conditional_t<std::is_signed_v<E>, std::int64_t, u64>>(v[i * apart]));
    });
  else for_lanes(w, w.at<Store<E>>(p), [=](unsigned i) { return to_lane<E>(v[i * apart]); });
}

// The bytes of the kernel's parameters there, for the running thread.
const std::byte* parameter_at(const Warp& w, u64 at, unsigned bytes, Where where) {
  if (at > w.program->parameter_bytes || w.program->parameter_bytes - at < bytes)
    detail::stop_with("out_of_bounds",
                      "read of a parameter at byte " + std::to_string(at) + " of " + std::to_string(w.program->parameter_bytes),
                      where);
  return w.parameters + at;
}

template <class E, unsigned Count>
void load(Warp& w, const Op& o) {
  constexpr unsigned kBytes = sizeof(E) * Count;
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const to = w.program->lists.data() + o.list;
  const Space space = space_of(o);
  const bool wide = o.how & kWideRegister;
  // Note: in a dependent launch each read is checked by itself, for it may be an early one.
  const bool apart = space == Space::local || detail::running_launch.grid->dependent;
  const Reach reach = apart ? Reach::unchecked : together<kBytes, Access::read>(w, at, o.where);
  if (reach != Reach::unchecked) {
    alignas(32) E values[kLanes][Count];
    if (reach == Reach::neighbours) {
      std::memcpy(values, reinterpret_cast<const void*>(at[0]), sizeof values);
    } else if (reach == Reach::one) {
      for (unsigned i = 0; i < kLanes; ++i) std::memcpy(values[i], reinterpret_cast<const void*>(at[0]), kBytes);
    } else {
      const std::uintptr_t map = detail::hot.read_map;
      for (unsigned i = 0, end = static_cast<unsigned>(std::bit_width(w.mask)); i < end; ++i) {
        std::memcpy(values[i], reinterpret_cast<const void*>(at[i]), kBytes);
        mark<kBytes>(map, at[i]);
      }
    }
    for (unsigned k = 0; k < Count; ++k)
      if (to[k] != kNone) put_all<E>(w, to[k], wide, &values[0][k], Count);
    return;
  }
  w.each_lane([&](unsigned lane) {
    const void* from = reinterpret_cast<const void*>(at[lane]);
    become(w, lane);
    if (space == Space::local || (space == Space::generic && at[lane] >> 56 == kLocalWindow >> 56))
      from = own(w, lane, at[lane] & (kLocalWindow - 1), kBytes, false, o.where);
    else if (space == Space::generic && at[lane] >> 56 == kParameterWindow >> 56)
      from = parameter_at(w, at[lane] & (kParameterWindow - 1), kBytes, o.where);
    else detail::access<kBytes, Access::read>(from, o.where);
    E v[Count];
    std::memcpy(v, from, kBytes);
    for (unsigned k = 0; k < Count; ++k)
      if (to[k] != kNone) put<E>(w, to[k], wide, lane, v[k]);
  });
}

template <class E, unsigned Count>
void store(Warp& w, const Op& o) {
  constexpr unsigned kBytes = sizeof(E) * Count;
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const from = w.program->lists.data() + o.list;
  alignas(32) E values[kLanes][Count];
  for (unsigned k = 0; k < Count; ++k) {
    const auto* v = w.at<Store<E>>(from[k]);
    for (unsigned lane = 0; lane < kLanes; ++lane) values[lane][k] = static_cast<E>(v[lane]);
  }
  const Space space = space_of(o);
  const Reach reach = space == Space::local ? Reach::unchecked : together<kBytes, Access::write>(w, at, o.where);
  if (reach == Reach::neighbours) {  // so all lanes take part
    std::memcpy(reinterpret_cast<void*>(at[0]), values, sizeof values);
    return;
  }
  if (reach != Reach::unchecked) {
    const std::uintptr_t map = detail::hot.written_map;
    w.each_lane([&](unsigned lane) {
      std::memcpy(reinterpret_cast<void*>(at[lane]), values[lane], kBytes);
      if (reach == Reach::scattered) mark<kBytes>(map, at[lane]);
    });
    return;
  }
  w.each_lane([&](unsigned lane) {
    void* to = reinterpret_cast<void*>(at[lane]);
    become(w, lane);
    if (space == Space::local || (space == Space::generic && at[lane] >> 56 == kLocalWindow >> 56)) {
      to = own(w, lane, at[lane] & (kLocalWindow - 1), kBytes, true, o.where);
    } else {
      if (detail::options.watch) detail::watch.expect(reinterpret_cast<const std::byte*>(values[lane]));
      detail::access<kBytes, Access::write>(to, o.where);
    }
    std::memcpy(to, values[lane], kBytes);
  });
}

// A kernel's parameters: the same bytes for every lane, unless a register says where.
template <class E, unsigned Count>
void load_parameter(Warp& w, const Op& o) {
  const Place* const to = w.program->lists.data() + o.list;
  const bool wide = o.how & kWideRegister;
  const auto value_at = [&](u64 at, unsigned lane, E(&v)[Count]) {
    become(w, lane);
    std::memcpy(v, parameter_at(w, at, sizeof v, o.where), sizeof v);
  };
  E v[Count];
  if (o.a == kNone) {
    value_at(static_cast<u64>(o.value), static_cast<unsigned>(std::countr_zero(w.mask)), v);
    for (unsigned k = 0; k < Count; ++k)
      if (to[k] != kNone) put_all<E>(w, to[k], wide, &v[k], 0);
    return;
  }
  w.each_lane([&](unsigned lane) {
    const u64 from = o.how & kWideAddress ? w.at<u64>(o.a)[lane] : w.at<u32>(o.a)[lane];
    value_at(from + static_cast<u64>(o.value), lane, v);
    for (unsigned k = 0; k < Count; ++k)
      if (to[k] != kNone) put<E>(w, to[k], wide, lane, v[k]);
  });
}

struct Runs {
  Run load = nullptr, store = nullptr, parameter = nullptr;
};
template <class E, unsigned Count>
constexpr Runs kRuns{load<E, Count>, store<E, Count>, load_parameter<E, Count>};
template <class E>
Runs runs(unsigned count) {
  if (count == 1) return kRuns<E, 1>;
  if (count == 2) return kRuns<E, 2>;
  if constexpr (sizeof(E) <= 4)
    if (count == 4) return kRuns<E, 4>;
  return {};
}
Runs runs_of(Type t, unsigned count) {
  switch (t) {
    case Type::s8: return runs<s8>(count);
    case Type::b8:
    case Type::u8: return runs<u8>(count);
    case Type::s16: return runs<s16>(count);
    case Type::s32: return runs<s32>(count);
    default: break;
  }
  switch (bits_of(t)) {
    case 16: return runs<u16>(count);
    case 32: return runs<u32>(count);
    case 64: return runs<u64>(count);
    default: return {};
  }
}

// The parts of a vector operand, or the operand itself.
unsigned parts(const Decoder& d, const Operand& o) {
  return o.kind == Operand::Kind::vector ? o.count : (static_cast<void>(d), 1);
}

bool entry_parameter(const Decoder& d, const Operand& o) {
  return o.base != Operand::Kind::variable || (!o.outer && o.id < d.f.parameters.size());
}

void decode_access(Decoder& d, bool stores) {
  take_hints(d);
  Space space = take_space(d);
  const int vector = d.take_one({"v2", "v4"});
  const Type t = d.take_type();
  d.operands(2, 3);  // a third is a hint for the cache
  const Operand &address = d.operand(stores ? 0 : 1), &value = d.operand(stores ? 1 : 0);
  const unsigned count = vector < 0 ? 1 : vector == 0 ? 2 : 4;
  if (parts(d, value) != count)
    d.refuse("has " + std::to_string(parts(d, value)) + " values where " + std::to_string(count) + " were expected");
  const Runs runs = runs_of(t, count);
  const bool parameter = space == Space::param && entry_parameter(d, address);
  if (parameter && stores) d.refuse("writes to a parameter of the kernel");
  if (space == Space::param && !parameter) space = Space::local;
  d.op.run = stores ? runs.store : parameter ? runs.parameter : runs.load;
  if (d.op.run == nullptr) d.refuse("is not run for this type");
  decode_address_of(d, address, space);
  for (unsigned k = 0; k < count; ++k) {
    const Operand& one = value.kind == Operand::Kind::vector ? d.part(value, k) : value;
    if (stores) d.in_list(one, t, true);
    else d.out_list(one, t, true);
    if (!stores && one.kind == Operand::Kind::reg && d.bits_of_register(one) == 64) d.op.how |= kWideRegister;
  }
  d.emit();
}

}  // namespace

void decode_load(Decoder& d) { decode_access(d, false); }
void decode_store(Decoder& d) { decode_access(d, true); }

}  // namespace simt::ptx
