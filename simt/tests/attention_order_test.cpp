// SPDX-License-Identifier: Apache-2.0
// The order in which blocks take the tiles of attention (cuda/core/head_tile.cuh, cuda/attention_forward/hopper_tiles.cuh): each
// tile is taken once, and no block works much longer than another.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/attention_forward/hopper_flash.cuh"
#include "simt_testing.hpp"

namespace {

using assay::attention_forward;
namespace room = assay::on_simt::attention_forward_room;
namespace head_tile = assay::on_simt::head_tile;
using Shape = room::HopperShape<128, 2, room::Does::masks>;
using Spread = room::HopperShape<64, 3, room::Does::no_mask>;

struct Order {
  std::map<std::tuple<int, int, int>, int> taken;  // by batch, head and first query: how often
  // Key blocks of a block of threads, each by how many of its warpgroups have queries, and 0.7 for each tile.
  double longest = 0, mean = 0;
};

template <class S>
Order order_of(int batches, int heads, int group, int tokens, attention_forward::Mask mask, int blocks) {
  room::Problem<simt::device::half> p{};
  p.batches = batches;
  p.heads = heads;
  p.group = group;
  p.dim = 128;
  p.mask = mask;
  p.set_lengths(tokens, tokens);
  const room::Schedule schedule = room::schedule(p, S::kQueries, !p.masked());
  const auto before = std::pair(simt::device::gridDim, simt::device::blockIdx);
  simt::device::gridDim = {static_cast<unsigned>(blocks), 1, 1};
  Order order;
  for (int b = 0; b < blocks; ++b) {
    simt::device::blockIdx = {static_cast<unsigned>(b), 0, 0};
    double work = 0;
    room::for_tiles<S>(
        p, schedule, [](room::PackedTile&) { return false; },
        [&](const auto&, const room::HopperTile& t) {
          ++order.taken[{t.batch, t.head, t.first_query}];
          work += 1.0 * (t.end - t.begin) * std::min(S::kGroups, (tokens - t.first_query + 63) / 64) / S::kGroups + 0.7;
        });
    order.longest = std::max(order.longest, work);
    order.mean += work / blocks;
  }
  std::tie(simt::device::gridDim, simt::device::blockIdx) = before;
  return order;
}

// Of packed sequences.  Blocks as they run: each takes a tile when it has done the one before.  The mean is at least the longest
// tile's work, since no order is better.
Order packed_order(int heads, const std::vector<int>& q_starts, const std::vector<int>& k_starts, attention_forward::Mask mask) {
  constexpr int kBlocks = 132;
  room::Problem<simt::device::half> p{};
  p.batches = static_cast<int>(q_starts.size()) - 1;
  p.heads = heads;
  p.group = 1;
  p.dim = 128;
  p.mask = mask;
  const simt::testing::Buffer<int> q(q_starts.size()), k(k_starts.size());
  std::copy(q_starts.begin(), q_starts.end(), q.get());
  std::copy(k_starts.begin(), k_starts.end(), k.get());
  p.q_starts = q.get();
  p.k_starts = k.get();
  const simt::testing::Buffer<std::int64_t> workspace(room::PackedOrder::bytes(p.batches) / sizeof(std::int64_t));
  const room::PackedOrder packed = room::PackedOrder::at(workspace.get(), p.batches);
  simt::testing::run_block(room::attention_forward_order_sequences<simt::device::half, Shape::kQueries>, room::kOrderThreads, p,
                           kBlocks, packed);
  const auto before = simt::device::blockIdx;
  std::vector<room::PackedTaker> takers;
  std::set<std::pair<double, std::size_t>> ready;  // when a block has done its tile
  for (unsigned b = 0; b < kBlocks; ++b) {
    simt::device::blockIdx = {b, 0, 0};
    takers.emplace_back();
    ready.insert({0, b});
  }
  simt::device::blockIdx = before;
  Order order;
  double longest_tile = 0;
  while (!ready.empty()) {
    const auto [time, b] = *ready.begin();
    ready.erase(ready.begin());
    order.longest = std::max(order.longest, time);
    const room::PackedTile tile = takers[b].tile(p, packed, Shape::kQueries);
    if (tile.sequence < 0) continue;
    ++order.taken[{tile.sequence, tile.head, tile.tile}];
    auto of = p;
    of.select(tile.sequence);
    room::HopperTile t{};
    room::set_tile<Shape>(t, of, tile.tile);
    const double work = t.end - t.begin + 0.7;
    longest_tile = std::max(longest_tile, work);
    order.mean += work / kBlocks;
    takers[b].take(packed);
    ready.insert({time + work, b});
  }
  order.mean = std::max(order.mean, longest_tile);
  return order;
}

template <class S>
void each_tile_once() {
  for (const auto mask : {attention_forward::Mask::none, attention_forward::Mask::causal})
    for (const int heads : {1, 2, 5, 7, 12, 31})
      for (const int batches : {1, 3})
        for (const int tokens : {1, 129, 1000, 5000, 20000})
          for (const int blocks : {1, 2, 3, 7, 132}) {
            const auto order = order_of<S>(batches, heads, 1, tokens, mask, blocks);
            const auto tiles = static_cast<std::size_t>((tokens + S::kQueries - 1) / S::kQueries);
            INFO(heads << " heads, " << batches << " sequences, " << tokens << " tokens, " << blocks << " blocks");
            REQUIRE(order.taken.size() == tiles * static_cast<std::size_t>(heads * batches));
            REQUIRE(std::all_of(order.taken.begin(), order.taken.end(), [](const auto& t) { return t.second == 1; }));
          }
}

}  // namespace

TEST_CASE("attention: each tile is taken once, whatever the groups of heads", "[simt]") {
  each_tile_once<Shape>();
  each_tile_once<Spread>();
}

TEST_CASE("attention: with a mask no block of threads works 7 % longer than the mean", "[simt]") {
  struct Row {
    int batches, heads, tokens;
  };
  for (const auto& [batches, heads, tokens] : {Row{32, 16, 512},
                                               {16, 16, 1024},
                                               {8, 16, 2048},
                                               {4, 16, 4096},
                                               {2, 16, 8192},
                                               {1, 16, 16384},
                                               {1, 32, 1024},
                                               {1, 32, 2048},
                                               {1, 32, 4096}}) {
    const Order order = order_of<Shape>(batches, heads, 1, tokens, attention_forward::Mask::causal, 132);
    INFO(heads << " heads, " << tokens << " tokens");
    CHECK(order.longest < 1.07 * order.mean);
  }
}

TEST_CASE("attention: without a mask each block of threads takes its share of the tiles with idle warpgroups", "[simt]") {
  const Order order = order_of<Spread>(16, 32, 1, 1024, attention_forward::Mask::none, 132);
  CHECK(order.longest < 1.07 * order.mean);
}

TEST_CASE("attention: packed tiles are taken once each, and with 16 heads no block works 10 % longer than the mean", "[simt]") {
  std::uint64_t random = 7;
  const auto length = [&](int mean) {  // one in four is 0
    random = random * 6364136223846793005 + 1442695040888963407;
    return (random >> 33) % 4 == 0 ? 0 : static_cast<int>((random >> 36) % static_cast<unsigned>(2 * mean));
  };
  for (const auto mask : {attention_forward::Mask::none, attention_forward::Mask::causal})
    for (const int batches : {1, 8, 40, 700})
      for (const bool equal : {true, false}) {
        const int mean = 16384 / batches;
        std::vector<int> queries = {0}, keys = {0};
        for (int s = 0; s < batches; ++s) {
          queries.push_back(queries.back() + (equal ? mean : length(mean)));
          keys.push_back(keys.back() + (equal ? mean : length(mean)));
        }
        std::size_t tiles = 0;
        for (std::size_t s = 1; s < queries.size(); ++s)
          tiles += static_cast<std::size_t>((queries[s] - queries[s - 1] + Shape::kQueries - 1) / Shape::kQueries);
        for (const int heads : {16, 15}) {  // of 15, two at a time and one at the end where a sequence has 16,384 keys
          INFO(batches << " sequences, " << (equal ? "equal" : "different") << " lengths, " << heads << " heads");
          const Order order = packed_order(heads, queries, keys, mask);
          CHECK(order.taken.size() == tiles * static_cast<std::size_t>(heads));
          CHECK(std::all_of(order.taken.begin(), order.taken.end(),
                            [&](const auto& t) { return t.second == 1 && std::get<1>(t.first) < heads; }));
          if (heads == 16) CHECK(order.longest < 1.1 * order.mean);
        }
      }
}

TEST_CASE("attention: a division by multiplication is exact", "[simt]") {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d < 3000; ++d) divisors.push_back(d);
  for (int k = 12; k < 31; ++k)
    for (const std::int64_t by : {-1, 0, 1}) divisors.push_back((std::int64_t{1} << k) + by);
  divisors.push_back(INT32_MAX);
  std::uint64_t wrong = 0, random = 1;
  for (const std::int64_t d : divisors) {
    const head_tile::Divisor by(d);
    const auto check = [&](std::int64_t n) {
      if (n >= 0 && n <= INT32_MAX) wrong += by.of(static_cast<int>(n)) != n / d;
    };
    const std::int64_t most = INT32_MAX / d;  // multiples of d and what lies next to them
    for (const std::int64_t m : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, most / 2, most - 1, most})
      for (const std::int64_t by_one : {-1, 0, 1}) check(m * d + by_one);
    for (int i = 0; i < 50; ++i)
      check(static_cast<std::int64_t>((random = random * 6364136223846793005 + 1442695040888963407) >> 33));
    check(INT32_MAX);
  }
  CHECK(wrong == 0);
}
