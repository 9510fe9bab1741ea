// SPDX-License-Identifier: Apache-2.0
// Bytes as counted on simt against the contract's formula, exactly, in three orders of threads and blocks.
#include <map>

#include "catch_shim.hpp"
#include "simt/machine.hpp"
#include "validate/case.hpp"
#include "validate/image.hpp"

namespace assay {
namespace {

struct Shape {
  std::int64_t rows, cols;
};

// Runs the kernel on simt and returns what it moved, by tensor.
std::map<std::string, simt::Counts> counted(const Kernel& k, const Case& c, simt::Order order, Cost& cost) {
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
  simt::configure({.order = order, .seed = 5, .count_sectors = true});
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

TEST_CASE("warp_row and block_row move what the contract says, in three orders", "[traffic]") {
  for (const char* name_of_kernel : {"warp_row", "block_row"})
    for (const DType dtype : {f16, bf16, f32})
      for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{129, 261}, Shape{131, 2056}, Shape{17, 4096}})
        for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::shuffle}) {
          Case c{.op = "layernorm_residual", .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
          c.dims[Axis::rows] = s.rows, c.dims[Axis::cols] = s.cols;
          Cost cost;
          const auto counts = counted(*find_kernel("layernorm_residual", name_of_kernel), c, order, cost);
          INFO(name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
          const auto matrix = static_cast<std::uint64_t>(s.rows * s.cols * size_of(dtype));
          const auto vector = static_cast<std::uint64_t>(s.cols * size_of(dtype));
          std::uint64_t read = 0, written = 0;
          for (const auto& [tensor, n] : counts) read += n.unique_read_bytes, written += n.unique_written_bytes;
          CHECK(static_cast<double>(read) == cost.bytes_read);
          CHECK(static_cast<double>(written) == cost.bytes_written);
          // The matrices pass once, the vectors once a row.
          CHECK(counts.at("x").read_bytes == matrix);
          CHECK(counts.at("residual").read_bytes == matrix);
          CHECK(counts.at("y").written_bytes == matrix);
          CHECK(counts.at("y").read_bytes == 0);
          CHECK(counts.at("gamma").read_bytes == vector * static_cast<std::uint64_t>(s.rows));
          CHECK(counts.at("beta").read_bytes == vector * static_cast<std::uint64_t>(s.rows));
          // Rows that start and end at sectors are moved in whole sectors, each once.
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
        for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{131, 261}, Shape{5, 2048}, Shape{2, 9001}})
          for (const simt::Order order : {simt::Order::forward, simt::Order::shuffle}) {
            if (name_of_kernel[0] == 'w' && s.cols > 2048) continue;
            Case c{.op = op, .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
            c.dims[Axis::rows] = s.rows, c.dims[Axis::cols] = s.cols;
            Cost cost;
            const auto counts = counted(*find_kernel(op, name_of_kernel), c, order, cost);
            INFO(op << "/" << name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
            const auto matrix = static_cast<std::uint64_t>(s.rows * s.cols * size_of(dtype));
            std::uint64_t read = 0, written = 0;
            for (const auto& [tensor, n] : counts) {
              read += n.unique_read_bytes, written += n.unique_written_bytes;
              const bool vector = tensor == "gamma" || tensor == "beta", output = tensor == "s" || tensor == "y";
              CHECK(n.written_bytes == (output ? matrix : 0));
              CHECK(n.read_bytes == (output ? 0 : matrix));  // the vectors once a row
              if (!vector && s.cols * size_of(dtype) % 32 == 0) CHECK(n.read_sectors + n.written_sectors == matrix / 32);
            }
            CHECK(static_cast<double>(read) == cost.bytes_read);
            CHECK(static_cast<double>(written) == cost.bytes_written);
          }
}

TEST_CASE("softmax moves each byte once while a row fits registers", "[traffic]") {
  for (const char* name_of_kernel : {"warp_row", "block_row"})
    for (const DType dtype : {f16, f32})
      for (const Shape s : {Shape{1, 256}, Shape{9, 1000}, Shape{131, 261}, Shape{5, 2048}})
        for (const simt::Order order : {simt::Order::forward, simt::Order::shuffle}) {
          Case c{.op = "softmax", .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
          c.dims[Axis::rows] = s.rows, c.dims[Axis::cols] = s.cols;
          Cost cost;
          const auto counts = counted(*find_kernel("softmax", name_of_kernel), c, order, cost);
          INFO(name_of_kernel << " " << name(dtype) << " " << s.rows << "x" << s.cols);
          CHECK(static_cast<double>(counts.at("x").read_bytes) == cost.bytes_read);
          CHECK(static_cast<double>(counts.at("y").written_bytes) == cost.bytes_written);
          CHECK(counts.at("y").read_bytes == 0);
        }
}

TEST_CASE("attention_scores/mma_tiled writes P and nothing else, in whole sectors, and reads K twice a block", "[traffic]") {
  for (const std::int64_t queries : {1, 130, 256})
    for (const bool causal : {false, true})
      for (const simt::Order order : {simt::Order::forward, simt::Order::shuffle}) {
        Case c{.op = "attention_scores", .dtype = f16, .seed = 3, .source = {}, .reduced = {}};
        c.dims[Axis::batch] = c.dims[Axis::heads] = c.dims[Axis::kv_heads] = 1;
        c.dims[Axis::seq_q] = queries, c.dims[Axis::seq_k] = 208, c.dims[Axis::head_dim] = 64;
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

}  // namespace assay
