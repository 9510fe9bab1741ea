// SPDX-License-Identifier: Apache-2.0
// Bytes that simt counts must equal the contract's formula exactly, in three orders of threads and blocks.
#include <algorithm>
#include <map>
#include <string_view>

#include "catch_shim.hpp"
#include "simt/machine.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/image.hpp"

namespace assay {
namespace {

struct Shape {
  std::int64_t rows, cols;
};

// Runs the kernel on simt and returns the bytes that it moved, by tensor.
std::map<std::string, simt::Counts> counted(const Kernel& k, const Case& c, simt::ThreadOrder order, Cost& cost) {
  const Op& op = *find_op(k.op);
  const std::vector<Placement> placements = place(op, c);
  std::vector<std::byte*> pointers;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    pointers.push_back(static_cast<std::byte*>(simt::allocate(placements[i].bytes, placements[i].offset, op.tensors[i].name)));
    fill_image(op, c, static_cast<int>(i), placements[i], pointers.back(), {});
  }
  const auto problem = op.make();
  attach(*problem, c, placements, pointers);
  REQUIRE(k.supports(problem->args()).ok);
  cost = problem->cost();
  const simt::Configured configured({.order = order, .seed = 5, .count_sectors = true});
  simt::reset_counts();
  k.on_simt(problem->args(), {});
  std::map<std::string, simt::Counts> counts;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    counts[std::string(op.tensors[i].name)] = simt::counts(pointers[i]);
    simt::release(pointers[i]);
  }
  return counts;
}

}  // namespace

TEST_CASE("warp_row and block_row move the formula's bytes, in three orders of threads", "[traffic]") {
  for (const char* name_of_kernel : {"warp_row", "block_row"})
    for (const DType dtype : {f16, bf16, f32})
      for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{129, 261}, Shape{131, 2056}, Shape{17, 4096}})
        for (const simt::ThreadOrder order :
             {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle}) {
          if (name_of_kernel == std::string_view("warp_row") && s.cols * size_of(dtype) > 8192)
            continue;  // more than a warp holds
          Case c{.op = "layernorm_residual", .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
          c.dims[Axis::rows] = s.rows;
          c.dims[Axis::cols] = s.cols;
          Cost cost;
          const auto counts = counted(*find_kernel("layernorm_residual", name_of_kernel), c, order, cost);
          INFO(name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
          const auto matrix = static_cast<std::uint64_t>(s.rows * s.cols * size_of(dtype));
          const auto vector = static_cast<std::uint64_t>(s.cols * size_of(dtype));
          std::uint64_t read = 0, written = 0;
          for (const auto& [tensor, n] : counts) {
            read += n.unique_read_bytes;
            written += n.unique_written_bytes;
          }
          CHECK(static_cast<double>(read) == cost.bytes_read);
          CHECK(static_cast<double>(written) == cost.bytes_written);
          // Each matrix is moved once, each vector once per row.
          CHECK(counts.at("x").read_bytes == matrix);
          CHECK(counts.at("residual").read_bytes == matrix);
          CHECK(counts.at("y").written_bytes == matrix);
          CHECK(counts.at("y").read_bytes == 0);
          CHECK(counts.at("gamma").read_bytes == vector * static_cast<std::uint64_t>(s.rows));
          CHECK(counts.at("beta").read_bytes == vector * static_cast<std::uint64_t>(s.rows));
          // Rows aligned to sectors are moved in whole sectors, each once.
          if (s.cols * size_of(dtype) % 32 == 0) {
            CHECK(counts.at("x").read_sectors == matrix / 32);
            CHECK(counts.at("y").written_sectors == matrix / 32);
          }
        }
}

TEST_CASE("norms read each byte of x and residual once and write each of s and y once", "[traffic]") {
  for (const char* op : {"layernorm", "rmsnorm", "residual_layernorm", "residual_rmsnorm"})
    for (const char* name_of_kernel : {"warp_row", "block_row"})
      for (const DType dtype : {f16, f32})
        for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{131, 261}, Shape{5, 2048}, Shape{2, 8191}})
          for (const simt::ThreadOrder order : {simt::ThreadOrder::forward, simt::ThreadOrder::shuffle}) {
            if (name_of_kernel[0] == 'w' && s.cols > 2048) continue;
            Case c{.op = op, .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
            c.dims[Axis::rows] = s.rows;
            c.dims[Axis::cols] = s.cols;
            Cost cost;
            const auto counts = counted(*find_kernel(op, name_of_kernel), c, order, cost);
            INFO(op << "/" << name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
            const auto matrix = static_cast<std::uint64_t>(s.rows * s.cols * size_of(dtype));
            std::uint64_t read = 0, written = 0;
            for (const auto& [tensor, n] : counts) {
              read += n.unique_read_bytes;
              written += n.unique_written_bytes;
              const bool vector = tensor == "gamma" || tensor == "beta", output = tensor == "s" || tensor == "y";
              CHECK(n.written_bytes == (output ? matrix : 0));
              CHECK(n.read_bytes == (output ? 0 : matrix));  // vectors are read once per row
              if (!vector && s.cols * size_of(dtype) % 32 == 0) CHECK(n.read_sectors + n.written_sectors == matrix / 32);
            }
            CHECK(static_cast<double>(read) == cost.bytes_read);
            CHECK(static_cast<double>(written) == cost.bytes_written);
          }
}

TEST_CASE("softmax moves each byte once if a row fits in registers", "[traffic]") {
  for (const char* name_of_kernel : {"warp_row", "block_row"})
    for (const DType dtype : {f16, f32})
      for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{131, 261}, Shape{5, 2048}})
        for (const simt::ThreadOrder order : {simt::ThreadOrder::forward, simt::ThreadOrder::shuffle}) {
          Case c{.op = "softmax", .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
          c.dims[Axis::rows] = s.rows;
          c.dims[Axis::cols] = s.cols;
          Cost cost;
          const auto counts = counted(*find_kernel("softmax", name_of_kernel), c, order, cost);
          INFO(name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
          CHECK(static_cast<double>(counts.at("x").read_bytes) == cost.bytes_read);
          CHECK(static_cast<double>(counts.at("y").written_bytes) == cost.bytes_written);
          CHECK(counts.at("y").read_bytes == 0);
        }
}

TEST_CASE("attention_scores/mma_tiled writes only P, in whole sectors, and reads K twice per block", "[traffic]") {
  for (const std::int64_t queries : {1, 130, 256})
    for (const bool causal : {false, true})
      for (const simt::ThreadOrder order : {simt::ThreadOrder::forward, simt::ThreadOrder::shuffle}) {
        Case c{.op = "attention_scores", .dtype = f16, .seed = 3, .source = {}, .reduced = {}};
        c.dims[Axis::batch] = c.dims[Axis::heads] = c.dims[Axis::kv_heads] = 1;
        c.dims[Axis::seq_q] = queries;
        c.dims[Axis::seq_k] = 208;
        c.dims[Axis::head_dim] = 64;
        if (causal) c.attributes["mask"] = 1;
        Cost cost;
        const Kernel& kernel = *find_kernel("attention_scores", "mma_tiled");
        const auto counts = counted(kernel, c, order, cost);
        INFO(queries << " queries, causal " << causal);
        const auto p = static_cast<std::uint64_t>(queries * 208 * 2), k = std::uint64_t{208 * 64 * 2};
        CHECK(counts.at("p").written_bytes == p);
        CHECK(counts.at("p").unique_written_bytes == p);
        CHECK(counts.at("p").written_sectors == p / 32);
        CHECK(counts.at("p").read_bytes == 0);
        CHECK(counts.at("q").read_bytes == static_cast<std::uint64_t>(queries * 64 * 2));
        if (!causal) CHECK(counts.at("k").read_bytes == 2 * k * static_cast<std::uint64_t>((queries + 127) / 128));
        else CHECK(counts.at("k").read_bytes <= 2 * k * static_cast<std::uint64_t>((queries + 127) / 128));
      }
}

// A block has 128 queries of one head, or 64 if head_dim > 128.  It reads tiles of 64 keys of K and V until none of its queries
// sees a later key: the first ceil(v / 64) tiles, where v is the number of keys that its last query sees, which sees the most.
// The last tile is cut off at the last key.
TEST_CASE("attention_forward/mma_tiled reads Q once, K and V once per block that sees them, and writes O once", "[traffic]") {
  struct Sizes {
    std::int64_t queries, keys, heads, kv_heads, dim;
  };
  for (const Sizes z : {Sizes{1, 208, 1, 1, 64}, Sizes{130, 208, 2, 1, 64}, Sizes{256, 300, 1, 1, 128}, Sizes{200, 77, 1, 1, 40},
                        Sizes{130, 192, 1, 1, 256}})
    for (const char* mask : {"none", "causal", "causal_top_left"})
      for (const simt::ThreadOrder order : {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle}) {
        const bool causal = mask[0] == 'c', top_left = std::string_view(mask) == "causal_top_left";
        Case c{.op = "attention_forward", .dtype = f16, .seed = 3, .source = {}, .reduced = {}};
        c.dims[Axis::batch] = 2;
        c.dims[Axis::heads] = z.heads;
        c.dims[Axis::kv_heads] = z.kv_heads;
        c.dims[Axis::seq_q] = z.queries;
        c.dims[Axis::seq_k] = z.keys;
        c.dims[Axis::head_dim] = z.dim;
        if (causal) c.attributes["mask"] = top_left ? 2 : 1;
        Cost cost;
        const auto counts = counted(*find_kernel("attention_forward", "mma_tiled"), c, order, cost);
        INFO(z.queries << " queries, " << z.keys << " keys, head_dim " << z.dim << ", " << mask);

        const auto visible = [&](std::int64_t query) {
          const std::int64_t end = query + 1 + (top_left ? 0 : z.keys - z.queries);
          return causal ? std::clamp<std::int64_t>(end, 0, z.keys) : z.keys;
        };
        const std::int64_t block = z.dim <= 128 ? 128 : 64;
        std::int64_t rows = 0;  // of K, summed over the blocks of a head
        for (std::int64_t first = 0; first < z.queries; first += block)
          rows += std::min((visible(std::min(first + block, z.queries) - 1) + 63) / 64 * 64, z.keys);
        const auto bytes = [&](std::int64_t heads, std::int64_t of_rows) {
          return static_cast<std::uint64_t>(2 * heads * of_rows * z.dim * 2);
        };
        const std::uint64_t q = bytes(z.heads, z.queries), kv = bytes(z.heads, rows);
        CHECK(counts.at("q").read_bytes == q);
        CHECK(counts.at("q").unique_read_bytes == q);
        CHECK(counts.at("k").read_bytes == kv);
        CHECK(counts.at("v").read_bytes == kv);
        CHECK(counts.at("o").written_bytes == q);
        CHECK(counts.at("o").unique_written_bytes == q);
        CHECK(counts.at("o").read_bytes == 0);
        CHECK(counts.at("lse").written_bytes == static_cast<std::uint64_t>(2 * z.heads * z.queries * 4));
        CHECK(counts.at("lse").unique_written_bytes == counts.at("lse").written_bytes);
        // Rows of 40 channels do not fill whole sectors.
        if (z.dim * 2 % 32 == 0) {
          CHECK(counts.at("k").read_sectors == kv / 32);
          CHECK(counts.at("o").written_sectors == q / 32);
        }
        // With one block per head and no mask, the bytes are those of the contract's formula.
        if (!causal && z.queries <= block && z.heads == z.kv_heads) CHECK(static_cast<double>(2 * kv + q) == cost.bytes_read);
      }
}

}  // namespace assay
