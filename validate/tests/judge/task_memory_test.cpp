// SPDX-License-Identifier: Apache-2.0
// The memory that a task is told to need is what the code allocates for it, by hand for one op, and for all ops in proportion.
#include <memory>

#include "catch_shim.hpp"
#include "validate/tasks/given.hpp"
#include "validate/tasks/memory.hpp"
#include "validate/tasks/selection.hpp"

namespace assay {
namespace {

Task sized_task(const std::string& line) {
  const std::vector<OpShape> shapes = op_shapes();
  const Case c = parse_repro(line, shapes).what;
  return {&op_named(c.op), c, {}};
}

TaskMemory memory_of(const std::string& line) { return assay::memory_of(sized_task(line), {}); }

TEST_CASE("memory: of an op of three matrices it is counted by hand", "[memory]") {
  constexpr double kMatrix = 4e6;
  const TaskMemory m = memory_of("add f32 rows=1000 cols=1000");
  CHECK(m.prepared == 2 * kMatrix + 3 * 2 * kMatrix);  // the inputs; of f64 the golden and bounds for two kinds of errors
  CHECK((m.preparing > m.prepared && m.preparing < 1.5 * m.prepared));
  // Outputs of two runs, and in the worker all matrices, one to compare with, and the maps of simt.
  CHECK(m.kernel == 2 * kMatrix + 4 * kMatrix + 2 * kMatrix / 4 + kMatrix / 8);
  CHECK(m.peak() == m.prepared + m.kernel);
  CHECK(m.with_workspace(1000, "simt").peak() == m.peak() + 1250);
  CHECK(m.with_workspace(1000, "cuda").peak() == m.peak());
  CHECK(assay::memory_of(sized_task("add f32 rows=1000 cols=1000"), {.backend = "cuda"}).prepared == m.prepared + 2 * kMatrix);
}

TEST_CASE("memory: that of parts does not grow with their number", "[memory]") {
  const auto of_parts = [](const std::string& line) {
    const TaskMemory m = memory_of(line);
    return m.preparing - m.prepared;
  };
  for (const std::string op : {"layernorm_linear", "rmsnorm_gemm", "linear"}) {
    const double few = of_parts(op + " f32 tokens=10000 hidden=1000 out=64");
    CHECK(few > 0);
    CHECK(of_parts(op + " f32 tokens=100000 hidden=1000 out=64") == few);
  }
  // dQ is cut by queries, dK and dV by keys: none has all pairs at once.
  const double pairs = 8192.0 * 8192;
  CHECK(of_parts("attention_backward f16 batch=1 seq_q=8192 seq_k=8192 heads=1 kv_heads=1 head_dim=64") < 16 * pairs);
}

TEST_CASE("memory: of every op it grows with the case, and an empty case needs next to none", "[memory]") {
  for (const Op& op : ops()) {
    Case c;
    c.op = op.name;
    for (const AxisUse& use : op.axes) c.dims[use.axis] = 8;
    Case large = c, empty = c;
    large.dims[op.axes[0].axis] = 8000;
    empty.dims[op.axes[0].axis] = 0;
    INFO(op.name);
    const TaskMemory small = assay::memory_of({&op, c, {}}, {});
    CHECK(small.prepared > 0);
    CHECK(assay::memory_of({&op, large, {}}, {}).kernel > 20 * small.kernel);
    if (op.axes[0].least == 0) CHECK(assay::memory_of({&op, empty, {}}, {}).peak() <= small.peak());
  }
}

TEST_CASE("memory: relations take more, and given tensors have the golden of those that a fill makes", "[memory]") {
  const Task task =
      sized_task("paged_attention f16 batch=2 seq_q=2 heads=2 kv_heads=2 head_dim=8 pages=8 page_size=4 max_pages=3");
  const JudgeOptions all{.relations = Relations::all};
  // Note: the peak may be that of the golden, which takes the more the more threads compute it.
  CHECK(assay::memory_of(task, all).kernel > assay::memory_of(task, {}).kernel);
  const double plain = assay::memory_of(task, {}).peak(), related = assay::memory_of(task, all).peak();
  TensorFile tensors = filled_tensors(*task.op, task.c);
  tensors.metadata.erase(kCaseKey);
  const auto given = std::make_shared<const Given>(given_case(std::move(tensors), {}));
  REQUIRE(given->c.fill == kGivenFill);
  const TaskMemory of_given = assay::memory_of({task.op, given->c, {}, given}, all);
  CHECK(of_given.preparing == assay::memory_of(task, all).preparing);
  CHECK((of_given.peak() > 0.9 * plain && of_given.peak() <= related));
}

TEST_CASE("memory: a case that does not fit is named with both numbers", "[memory]") {
  const Task task = sized_task("add f32 rows=1000 cols=1000");
  CHECK(too_large(task, 1 << 20, 1 << 20).empty());
  CHECK(too_large(task, 3 << 20, 1 << 20) == "needs about 3.0 MiB of memory and 1.0 MiB are free here");
}

}  // namespace
}  // namespace assay
