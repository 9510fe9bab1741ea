// SPDX-License-Identifier: Apache-2.0
// Kernels that lack a barrier or a wait.  The watch finds each in every order of the threads, even if the output is right.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "catch_shim.hpp"
#include "simt/machine.hpp"
#include "validate/cases/case.hpp"
#include "validate/problem/image.hpp"

namespace assay {
namespace {

// Runs a kernel watched and returns the kind of the finding, or "none".
std::string found(const Kernel& k, const Case& c, simt::ThreadOrder order) {
  const Op& op = *find_op(k.op);
  const std::vector<Placement> placements = place(op, c);
  std::vector<std::byte*> pointers;
  for (std::size_t i = 0; i < placements.size(); ++i) {
    pointers.push_back(static_cast<std::byte*>(simt::allocate(placements[i].bytes, placements[i].offset, op.tensors[i].name)));
    if (op.tensors[i].role == Role::output) continue;
    fill_image(op, c, static_cast<int>(i), placements[i], pointers.back(), {});
    simt::mark_written(pointers.back(), placements[i].bytes);
  }
  const auto problem = op.make();
  attach(*problem, c, placements, pointers);
  REQUIRE(k.supports(problem->args()).ok);
  REQUIRE(k.workspace_bytes(problem->args()) == 0);
  const simt::Configured configured({.order = order, .seed = 5, .watch = true});
  std::string kind = "none";
  try {
    k.on_simt(problem->args(), {});
  } catch (const simt::Fault& fault) {
    kind = fault.finding().kind;
    INFO(fault.what());
    // The finding is in the kernel's file or one that its room shares; a bad shuffle's is in the reduction that shuffles.
    const std::string& file = fault.finding().file;
    const std::string own = kind == "bad_shuffle" ? std::string("cuda/core/reduce") : fmt::format("cuda/{}/", k.op);
    CHECK((file.find(k.name) != std::string::npos || file.find(own) != std::string::npos));
  }
  for (std::byte* p : pointers) simt::release(p);
  return kind;
}

Case case_of(std::string op, DType dtype, const std::map<Axis, std::int64_t>& dims) {
  Case c{.op = std::move(op), .dtype = dtype, .seed = 3, .source = {}, .reduced = {}};
  for (const auto& [axis, extent] : dims) c.dims[axis] = extent;
  return c;
}

void expect(const char* kernel, const Case& c, const std::set<std::string>& kinds) {
  for (const simt::ThreadOrder order : {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle}) {
    INFO(c.op << "/" << kernel << ", order " << static_cast<int>(order));
    const std::string kind = found(*find_kernel(c.op, kernel), c, order);
    CAPTURE(kind);
    CHECK(kinds.count(kind) == 1);
  }
}

}  // namespace

TEST_CASE("a missing barrier is a race in every order of threads", "[watch]") {
  expect("missing_second_barrier", case_of("layernorm_residual", f32, {{Axis::rows, 3}, {Axis::cols, 300}}), {"shared_race"});
  expect(
      "missing_barrier",
      case_of(
          "attention_forward", f16,
          {{Axis::batch, 1}, {Axis::seq_q, 70}, {Axis::seq_k, 200}, {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 8}}),
      {"shared_race"});
  expect("missing_barrier", case_of("residual_rmsnorm", f16, {{Axis::rows, 3}, {Axis::cols, 1000}}), {"shared_race"});
  expect("missing_barrier", case_of("embedding", f16, {{Axis::tokens, 70}, {Axis::vocab, 40}, {Axis::hidden, 72}}),
         {"shared_race", "uninitialised"});  // a reader that comes first uses an index that was never written
}

TEST_CASE("a missing wait touches bytes in flight in every order of threads", "[watch]") {
  expect(
      "missing_wait",
      case_of(
          "attention_forward", f16,
          {{Axis::batch, 1}, {Axis::seq_q, 40}, {Axis::seq_k, 100}, {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 16}}),
      {"in_flight"});
  expect(
      "missing_async_wait",
      case_of(
          "attention_scores", f16,
          {{Axis::batch, 1}, {Axis::seq_q, 5}, {Axis::seq_k, 70}, {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 16}}),
      {"in_flight"});
  expect("missing_async_wait", case_of("linear", f16, {{Axis::tokens, 20}, {Axis::hidden, 40}, {Axis::out, 16}}), {"in_flight"});
}

TEST_CASE("what goes wrong in a ring of boxes is found in every order of threads", "[watch]") {
  const Case c = case_of("linear", f16, {{Axis::tokens, 200}, {Axis::hidden, 264}, {Axis::out, 200}});
  expect("ring_missing_wait", c, {"in_flight", "wgmma_reads"});
  expect("ring_early_release", c, {"wgmma_reads"});
  expect("ring_expects_tail", c, {"in_flight", "deadlock"});
  expect("ring_one_never_releases", c, {"deadlock"});
  expect("ring_clamped_while_running", c, {"wgmma_registers"});
  expect("ring_unfenced_store", c, {"unfenced"});
  expect("ring_barriers_untold", c, {"unfenced"});
  expect("ring_buffer_reused", c, {"wgmma_reads"});
  expect("ring_pairs_copied", c, {"left_behind", "deadlock"});
  expect("ring_store_left", c, {"left_behind"});
  expect("ring_greedy_registers", c, {"bad_registers"});
  expect("ring_stages_overlap", c, {"in_flight", "wgmma_reads"});
  expect("ring_unaligned_stage", c, {"bad_box"});
  Case biased = c;
  biased.attributes["bias"] = 1;
  expect("ring_one_begin", biased, {"wgmma_unordered"});
}

TEST_CASE("threads that return before a barrier are found in every order of threads", "[watch]") {
  expect("early_return_before_barrier", case_of("layernorm_residual", f32, {{Axis::rows, 3}, {Axis::cols, 33}}),
         {"barrier_divergence", "bad_shuffle"});
}

}  // namespace assay
