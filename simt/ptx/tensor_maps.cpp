// SPDX-License-Identifier: Apache-2.0
// Tensor maps in memory: tensormap.replace writes a field of one in shared memory, and tensormap.cp_fenceproxy publishes it.  The
// 128 bytes of a map are a device::TensorMap, so 128 zeros are a map without fields.
#include "tensor_maps.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "findings.hpp"
#include "watch.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using detail::Access;
using device::TensorMap;

constexpr std::size_t kBytes = sizeof(TensorMap);

// Maps that this launch published, and those that this block has fenced since.
std::vector<u64> made, fenced;

[[noreturn]] void refuse(std::string why, Where where) { detail::stop_with("bad_box", std::move(why), where); }

enum class Field : std::uint8_t { address, rank, box, extent, stride, step, type, interleave, swizzle, fill };
constexpr std::string_view kFields[] = {"global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
                                        "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"};

template <class T>
void put(u64 map, std::size_t offset, T v, Where where) {
  auto* const at = reinterpret_cast<std::byte*>(map) + offset;
  detail::access<sizeof(T), Access::write>(at, where);
  std::memcpy(at, &v, sizeof v);
}

// A bit of TensorMap::unsimulated.
void note(u64 map, unsigned bit, bool unusual, Where where) {
  std::uint8_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<std::byte*>(map) + offsetof(TensorMap, unsimulated), 1);
  bits = static_cast<std::uint8_t>(unusual ? bits | 1u << bit : bits & ~(1u << bit));
  put(map, offsetof(TensorMap, unsimulated), bits, where);
}

// Element types by their numbers in PTX: their bytes.
constexpr std::uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
constexpr u64 kFloat32 = 7;

void replace_in(u64 map, Field field, unsigned axis, u64 v, Where where) {
  switch (field) {
    case Field::address: return put(map, offsetof(TensorMap, data), v, where);
    case Field::rank: return put(map, offsetof(TensorMap, rank), static_cast<std::uint8_t>(v < 5 ? v + 1 : 255), where);
    case Field::box:
      return put(map, offsetof(TensorMap, box) + 2 * axis, static_cast<std::uint16_t>(std::min<u64>(v, 0xffff)), where);
    case Field::extent: return put(map, offsetof(TensorMap, extent) + 4 * axis, static_cast<u32>(v), where);
    case Field::stride:
      if (axis > 3) refuse("tensormap.replace of the stride of axis " + std::to_string(axis), where);
      return put(map, offsetof(TensorMap, stride) + 8 * axis, v, where);
    case Field::step: return note(map, axis, v != 1, where);
    case Field::type:
      put(map, offsetof(TensorMap, element_bytes), v < std::size(kElementBytes) ? kElementBytes[v] : std::uint8_t{0}, where);
      return put(map, offsetof(TensorMap, is_float32), static_cast<std::uint8_t>(v == kFloat32), where);
    case Field::interleave: return note(map, 5, v != 0, where);
    case Field::swizzle:
      put(map, offsetof(TensorMap, swizzle), static_cast<std::uint8_t>(std::min<u64>(v, 3)), where);
      return note(map, 6, v > 3, where);
    case Field::fill: return note(map, 7, v != 0, where);
  }
}

// value and n: field and axis; the list: the new value.
void replace(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const Place p = w.program->lists[o.list];
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    const u64 v = w.program->lists[o.list + 1] != 0 ? w.at<u64>(p)[lane] : w.at<u32>(p)[lane];
    if (at[lane] % 64 != 0) refuse("tensormap.replace at an address that is no multiple of 64", o.where);
    replace_in(at[lane], static_cast<Field>(o.n >> 3), o.n & 7, v, o.where);
  });
}

// The map goes from a to the further address, by the first lane for all.
void publish(Warp& w, const Op& o) {
  u64 from[kLanes];
  addresses(w, o, from);
  const auto lane = static_cast<unsigned>(std::countr_zero(w.mask));
  const u64 to = further_address(w, w.program->lists.data() + o.list + 1, lane);
  become(w, lane);
  if (to % 128 != 0 || from[lane] % 128 != 0) refuse("tensormap.cp_fenceproxy at an address that is no multiple of 128", o.where);
  for (unsigned i = 0; i < kBytes; i += 16) {
    auto *const source = reinterpret_cast<std::byte*>(from[lane] + i), *const target = reinterpret_cast<std::byte*>(to + i);
    detail::access<16, Access::read>(source, o.where);
    if (detail::options.watch) detail::watch.expect(source);
    detail::access<16, Access::write>(target, o.where);
    std::memcpy(target, source, 16);
  }
  std::erase(fenced, to);
  if (std::find(made.begin(), made.end(), to) == made.end()) made.push_back(to);
}

void acquire(Warp& w, const Op& o) {
  const Place* const map = w.program->lists.data() + o.list;
  w.each_lane([&](unsigned lane) { fenced.push_back(further_address(w, map, lane)); });
  std::sort(fenced.begin(), fenced.end());
  fenced.erase(std::unique(fenced.begin(), fenced.end()), fenced.end());
}

}  // namespace

void forget_maps(bool of_launch) {
  fenced.clear();
  if (of_launch) made.clear();
}

TensorMap map_at(const Warp& w, std::uint64_t address, Where where) {
  TensorMap map{};
  if (address % 64 != 0) refuse("a tensor map at an address that is no multiple of 64", where);
  if (address >> 56 == kParameterWindow >> 56) {
    const u64 at = address & (kParameterWindow - 1);
    if (at > w.program->parameter_bytes || w.program->parameter_bytes - at < kBytes)
      refuse("a tensor map beyond the parameters of the kernel", where);
    std::memcpy(&map, w.parameters + at, kBytes);
    return map;
  }
  for (unsigned i = 0; i < kBytes; i += 16) detail::access<16, Access::read>(reinterpret_cast<const void*>(address + i), where);
  if (std::find(made.begin(), made.end(), address) != made.end() && !std::binary_search(fenced.begin(), fenced.end(), address))
    detail::stop_with("unfenced",
                      "a copy by a tensor map that this launch made, without a fence.proxy.tensormap that acquires it", where);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(address);
  if (bytes[offsetof(TensorMap, swizzle)] > 3 || bytes[offsetof(TensorMap, is_float32)] > 1)
    refuse("a copy by 128 bytes that are no tensor map", where);
  std::memcpy(&map, bytes, kBytes);
  return map;
}

void decode_tensor_map(Decoder& d) {
  if (d.take("cp_fenceproxy")) {
    const bool right = d.take("global") && d.take("shared::cta") && d.take("tensormap::generic") && d.take("release") &&
                       d.take_one({"cta", "cluster", "gpu", "sys"}) >= 0 && d.take("sync") && d.take("aligned");
    d.operands(3);
    if (!right || d.integer(d.operand(2), "a number of bytes") != static_cast<std::int64_t>(kBytes))
      d.refuse("is not run in this form");
    d.op.run = publish;
    d.op.flow = Flow::together;
    decode_address_of(d, d.operand(1), Space::shared);
    d.no_list();
    further_address(d, d.operand(0), Space::global);
    return d.emit();
  }
  if (!d.take("replace") || !d.take("tile") || !d.take("b1024")) d.refuse("is not run in this form");
  std::size_t field = 0;
  while (field < std::size(kFields) && !d.take(kFields[field])) ++field;
  if (field == std::size(kFields)) d.refuse("is not run for this field");
  const bool of_axis = field >= 2 && field <= 5;
  const Space space = take_space(d);
  const Type t = d.take_type();
  d.operands(of_axis ? 3 : 2);
  std::int64_t axis = 0;
  if (of_axis) axis = d.integer(d.operand(1), "an axis");
  if (axis < 0 || axis > 4) d.refuse("names an axis beyond 4");
  d.op.run = replace;
  d.op.n = static_cast<std::uint8_t>(field << 3 | static_cast<std::size_t>(axis));
  decode_address_of(d, d.operand(0), space);
  d.in_list(d.operand(of_axis ? 2 : 1), t);
  d.program.lists.push_back(bits_of(t) == 64);
  d.emit();
}

// fence.proxy.tensormap::generic.{acquire,release}
void decode_tensor_map_fence(Decoder& d) {
  const bool acquires = d.take("acquire");
  if ((!acquires && !d.take("release")) || d.take_one({"cta", "cluster", "gpu", "sys"}) < 0) d.refuse("is not run in this form");
  d.operands(acquires ? 2 : 0);
  if (!acquires) return;
  if (d.integer(d.operand(1), "a number of bytes") != static_cast<std::int64_t>(kBytes)) d.refuse("is not run in this form");
  d.op.run = acquire;
  further_address(d, d.operand(0), Space::generic);
  d.emit();
}

}  // namespace simt::ptx
