// SPDX-License-Identifier: Apache-2.0
// bench --memory: the device memory that a row's kernels need, as the backend allocates it.  No kernel is launched and no byte is
// touched, so a row has its full size on any machine.
#include <fmt/format.h>

#include <algorithm>

#include "validate/bench/bench.hpp"
#include "validate/console/table.hpp"
#include "validate/problem/image.hpp"
#include "validate/records/fields/other_fields.hpp"
#include "validate/records/fields/writer.hpp"

namespace assay {

namespace {

// Owns device memory and tells by how much the backend's memory in use has grown.
class MeasuredMemory {
 public:
  explicit MeasuredMemory(Backend& backend) : backend_(backend), before_(backend.memory_in_use()) {}
  ~MeasuredMemory() {
    for (void* p : memory_) backend_.release(p);
  }
  MeasuredMemory(const MeasuredMemory&) = delete;
  MeasuredMemory& operator=(const MeasuredMemory&) = delete;
  std::byte* add(std::size_t bytes, std::size_t offset, std::string_view label) {
    memory_.push_back(backend_.allocate(bytes, offset, label));
    return static_cast<std::byte*>(memory_.back());
  }
  // Note: on a GPU other processes may free memory meanwhile, so the difference could be below zero.
  std::size_t bytes() const { return std::max(backend_.memory_in_use(), before_) - before_; }

 private:
  Backend& backend_;
  std::size_t before_;
  std::vector<void*> memory_;
};

struct Row {
  const Kernel* kernel;
  std::size_t tensors, workspace;
  std::size_t peak() const { return tensors + workspace; }
};

// "-50.2 %": the change from the baseline's bytes; empty if the baseline has none.
std::string less(std::size_t mine, std::size_t baseline) {
  return baseline ? fmt::format("{:+.1f} %", 100 * (static_cast<double>(mine) / static_cast<double>(baseline) - 1)) : "";
}

}  // namespace

void bench_memory(Backend& backend, const BenchShape& shape, const BenchFlags& flags, const BenchOut& out) {
  const std::vector<Placement> placements = place(*shape.op, shape.c);
  MeasuredMemory tensors(backend);
  std::vector<std::byte*> pointers;
  for (std::size_t i = 0; i < placements.size(); ++i)
    pointers.push_back(placements[i].bytes ? tensors.add(placements[i].bytes, placements[i].offset, shape.op->tensors[i].name)
                                           : nullptr);
  const std::unique_ptr<Problem> problem = shape.op->make();
  attach(*problem, shape.c, placements, pointers);
  const std::size_t of_tensors = tensors.bytes();
  std::vector<Row> rows;
  for (const Kernel* k : bench_candidates(shape, flags)) {
    if (!backend.launcher(*k) || !needs_arch(*k, backend.arch()).empty()) continue;
    if (!k->available() || !k->supports(problem->args())) continue;
    MeasuredMemory workspace(backend);
    if (const std::size_t bytes = k->workspace_bytes(problem->args())) workspace.add(bytes, 0, "workspace");
    rows.push_back({k, of_tensors, workspace.bytes()});
  }
  const auto baseline = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.kernel->name == flags.baseline; });
  std::vector<TableRow> table;
  for (const Row& r : rows) {
    const bool compared = baseline != rows.end() && baseline->kernel != r.kernel;
    table.push_back({std::string(r.kernel->name), fmt::format("{}", r.tensors), fmt::format("{}", r.workspace),
                     compared ? less(r.workspace, baseline->workspace) : "", fmt::format("{}", r.peak()),
                     compared ? less(r.peak(), baseline->peak()) : ""});
    MemoryRecord m{.tensor_bytes = r.tensors, .workspace_bytes = r.workspace};
    m.row = {.op = std::string(shape.op->name),
             .kernel = std::string(r.kernel->name),
             .backend = std::string(backend.name()),
             .dtype = shape.c.dtype,
             .shape = summary_of(shape.c)};
    out.write(record_line("memory", m));
  }
  print_wrapped(fmt::format("{} {} {}", shape.op->name, name(shape.c.dtype), summary_of(shape.c)));
  print_table({"kernel", "tensors", "workspace", "", "together", ""}, table, "lrrrrr");
}

}  // namespace assay
