// SPDX-License-Identifier: Apache-2.0
// The order in which blocks take the tiles of attention (cuda/core/head_tile.cuh, cuda/attention_forward/hopper_tiles.cuh): each
// tile is taken once, and no block works much longer than another.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "catch_shim.hpp"
#include "cuda/attention_forward/hopper_flash.cuh"

namespace {

using assay::attention_forward;
namespace room = assay::on_simt::attention_forward_room;
namespace head_tile = assay::on_simt::head_tile;
using Shape = room::HopperShape<128, 2, false>;
using Spread = room::HopperShape<64, 3, false, true>;

struct Order {
  std::map<std::tuple<int, int, int>, int> taken;  // by batch, head and first query: how often
  // Key blocks of a block of threads, each by how many of its warpgroups have queries, and 0.7 for each tile.
  double longest = 0, mean = 0;
};

template <class S>
Order order_of(int batches, int heads, int group, int tokens, attention_forward::Mask mask, int blocks) {
  room::Problem<simt::device::half> p{};
  p.batches = batches, p.heads = heads, p.group = group, p.dim = 128, p.mask = mask;
  p.set_lengths(tokens, tokens);
  const room::Schedule schedule = room::schedule(p, S::kQueries, !p.masked());
  const auto before = std::pair(simt::device::gridDim, simt::device::blockIdx);
  simt::device::gridDim = {static_cast<unsigned>(blocks), 1, 1};
  Order order;
  for (int b = 0; b < blocks; ++b) {
    simt::device::blockIdx = {static_cast<unsigned>(b), 0, 0};
    double work = 0;
    room::for_tiles<S>(p, schedule, [&](const auto&, const room::HopperTile& t) {
      ++order.taken[{t.batch, t.head, t.first_query}];
      work += 1.0 * (t.end - t.begin) * std::min(S::kGroups, (tokens - t.first_query + 63) / 64) / S::kGroups + 0.7;
    });
    order.longest = std::max(order.longest, work), order.mean += work / blocks;
  }
  std::tie(simt::device::gridDim, simt::device::blockIdx) = before;
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
