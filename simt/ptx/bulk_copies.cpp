// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and cp.reduce.async.bulk: boxes of tensors, and rows of bytes, between global and shared memory.
#include <algorithm>
#include <string>

#include "device_hopper.hpp"
#include "findings.hpp"
#include "tensor_copy.hpp"
#include "tensor_maps.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;

// a: the address in shared memory; n: coordinates; the list: the map's address (3), coordinates, and of a load its barrier (3).
template <bool Loads, bool Adds>
void copy_tensor(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const more = w.program->lists.data() + o.list;
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    const device::TensorMap map = map_at(w, further_address(w, more, lane), o.where);
    int coordinates[5] = {};
    for (unsigned k = 0; k < o.n; ++k) coordinates[k] = w.at<s32>(more[3 + k])[lane];
    auto* const shared = reinterpret_cast<void*>(at[lane]);
    if constexpr (Loads) {
      auto* const barrier = reinterpret_cast<void*>(further_address(w, more + 3 + o.n, lane));
      detail::tensor_boxes.copy(shared, map, coordinates, o.n, barrier, o.where);
    } else {
      detail::tensor_boxes.store(map, shared, coordinates, o.n, Adds, o.where);
    }
  });
}

// The same for a row of bytes.  The list: the global address (3), bytes, and of a load its barrier (3).
template <bool Loads, bool Adds>
void copy_row(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  const Place* const more = w.program->lists.data() + o.list;
  w.each_lane([&](unsigned lane) {
    become(w, lane);
    const u64 global = further_address(w, more, lane);
    const u32 bytes = w.at<u32>(more[3])[lane];
    if (bytes % 16 != 0 || bytes >= 1u << 20 || global % 16 != 0)
      detail::stop_with("bad_box",
                        "a bulk copy of " + std::to_string(bytes) +
                            " bytes; they and both addresses are multiples of 16, and there are fewer than 2^20",
                        o.where);
    if (bytes == 0) return;
    const device::TensorMap map = detail::map_of_bytes(reinterpret_cast<const void*>(global), bytes);
    const int start[] = {0, 0};
    auto* const shared = reinterpret_cast<void*>(at[lane]);
    if constexpr (Loads) {
      auto* const barrier = reinterpret_cast<void*>(further_address(w, more + 4, lane));
      detail::tensor_boxes.copy(shared, map, start, 2, barrier, o.where, true);
    } else {
      detail::tensor_boxes.store(map, shared, start, 2, Adds, o.where, true);
    }
  });
}

void commit_stores(Warp& w, const Op&) {
  w.each_lane([&](unsigned lane) { detail::tensor_boxes.commit(w.thread[lane].id); });
}
void wait_for_stores(Warp& w, const Op& o) {
  w.each_lane([&](unsigned lane) { detail::tensor_boxes.wait(w.thread[lane].id, static_cast<unsigned>(o.value)); });
}

unsigned take_rank(Decoder& d) {
  const int rank = d.take_one({"1d", "2d", "3d", "4d", "5d"});
  if (rank < 0) d.refuse("names no rank from 1d to 5d");
  d.take("tile");
  return static_cast<unsigned>(rank) + 1;
}

void decode_groups(Decoder& d, bool waits) {
  d.operands(waits ? 1 : 0);
  d.op.run = waits ? wait_for_stores : commit_stores;
  if (waits) d.op.value = d.integer(d.operand(0), "a number of groups");
  if (d.op.value < 0 || d.op.value > 1 << 20) d.refuse("waits for too many groups");
  d.emit();
}

}  // namespace

void decode_bulk(Decoder& d) {
  const bool adds = d.take("reduce");
  if (!d.take("async") || !d.take("bulk")) d.refuse("is not run in this form");
  if (d.take("commit_group")) return decode_groups(d, false);
  if (d.take("wait_group")) {
    d.take("read");
    return decode_groups(d, true);
  }
  if (d.take("prefetch")) return d.words.clear();
  d.program.asynchronous = true;
  if (d.take("multicast::cluster")) d.refuse("is run within a block only");
  const bool tensor = d.take("tensor");
  const auto shared = std::find_if(d.words.begin(), d.words.end(), [](std::string_view s) { return s.starts_with("shared"); });
  const auto global = std::find(d.words.begin(), d.words.end(), "global");
  if (shared == d.words.end() || global == d.words.end()) d.refuse("is run between global and shared memory only");
  const bool loads = shared < global;
  d.take("global");
  if (d.take_one({"shared::cta", "shared::cluster"}) < 0) d.refuse("is not run in this form");
  const unsigned rank = tensor ? take_rank(d) : 0;
  if (!d.take(loads ? "mbarrier::complete_tx::bytes" : "bulk_group") || (loads && adds)) d.refuse("is not run in this form");
  if (adds && !d.take("add")) d.refuse("is run for additions only");
  if (adds && !tensor && !d.take("f32")) d.refuse("is run for f32 only");
  const std::size_t hint = d.take("L2::cache_hint") ? 1 : 0, count = (tensor ? 2 : 3) + (loads ? 1u : 0u);
  d.operands(count + hint);
  const Operand &in_shared = d.operand(tensor && !loads ? 1 : loads ? 0 : 1), &other = d.operand(loads ? 1 : 0);
  if (tensor) d.op.run = loads ? copy_tensor<true, false> : adds ? copy_tensor<false, true> : copy_tensor<false, false>;
  else d.op.run = loads ? copy_row<true, false> : adds ? copy_row<false, true> : copy_row<false, false>;
  decode_address_of(d, in_shared, Space::shared);
  d.op.n = static_cast<std::uint8_t>(rank);
  further_address(d, other, tensor ? Space::generic : Space::global);
  if (other.count != rank) d.refuse("has " + std::to_string(other.count) + " coordinates");
  for (unsigned k = 0; k < rank; ++k) d.in_list(d.f.operands[other.more + k], Type::s32);
  if (!tensor) d.in_list(d.operand(2), Type::u32);
  if (loads) further_address(d, d.operand(tensor ? 2 : 3), Space::shared);
  d.emit();
}

}  // namespace simt::ptx
