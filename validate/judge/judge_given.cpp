// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/judge_given.hpp"

#include <fmt/format.h>

#include "validate/base/error.hpp"
#include "validate/base/memory.hpp"
#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

namespace {

// Throws NoMemory unless values and magnitudes in f64 fit, of which a golden has as many as there are output elements.
void require_room(const Given& given) {
  double needed = 0;
  const std::vector<Placement> placements = places_of(given);
  for (std::size_t i = 0; i < placements.size(); ++i)
    if (given.op->tensors[i].role == Role::output) needed += 2 * 8 * static_cast<double>(placements[i].tensor.size());
  if (needed > static_cast<double>(available_memory()))
    throw NoMemory(fmt::format("the golden needs about {:.0f} bytes of memory, and {} are free", needed, available_memory()));
}

// What neither the file nor one run shows.
std::vector<std::string> not_checked(const Given& given, const Prepared& p) {
  std::vector<std::string> all = left_unchecked("files", {});
  all.insert(all.end(), {"second_run", "relations"});
  if (!p.scattered && !p.exact) all.emplace_back("together");
  for (std::size_t i = 0; i < given.outputs.size(); ++i)
    if (given.op->tensors[i].role == Role::output && p.packing.placements[i].tensor.rank && !given.outputs[i].rank)
      all.push_back(fmt::format("output {}", given.op->tensors[i].name));
  return all;
}

}  // namespace

TensorFile golden_tensors(const Given& given, bool unrounded) {
  require_room(given);
  const Op& op = *given.op;
  const std::unique_ptr<Problem> problem = problem_of(given);
  problem->solve();
  const std::vector<Placement> placements = places_of(given);
  TensorFile file;
  file.metadata = {{kOpKey, std::string(op.name)},
                   {kValuesKey, unrounded ? "golden in f64, not rounded" : "golden in f64, rounded once to the dtype"}};
  int output = 0;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    if (op.tensors[i].role != Role::output) continue;
    const std::span<const double> golden = problem->golden(output++);
    const Tensor& t = placements[i].tensor;
    if (t.rank == 0) continue;
    const DType dtype = unrounded ? f64 : t.dtype;
    const auto image = std::make_shared<std::vector<std::byte>>(golden.size() * static_cast<std::size_t>(size_of(dtype)) + 1);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < golden.size(); ++k) encode(dtype, image->data(), static_cast<std::int64_t>(k), golden[k]);
    file.tensors.push_back({.name = std::string(op.tensors[i].name),
                            .dtype = std::string(name(dtype)),
                            .known = dtype,
                            .shape = {t.shape.begin(), t.shape.begin() + t.rank},
                            .data = std::span(*image).first(image->size() - 1)});
    file.memory.push_back(image);
  }
  return file;
}

Kernel kernel_elsewhere(const Op& op, const std::string& numerics) {
  Kernel k;
  k.op = op.name;
  k.name = "elsewhere";
  k.numerics = numerics_from(numerics, op.name);
  k.declares_numerics = !numerics.empty();
  return k;
}

Record judge_given(const std::shared_ptr<const Given>& given, const Kernel& kernel, const Onlookers& onlookers) {
  require_room(*given);
  const Op& op = *given->op;
  const Task task{&op, given->c, {&kernel}, given};
  Prepared p;
  p.task = &task;
  p.first_record = 0;
  p.packing.placements = places_of(*given);
  Images outputs;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    p.given.push_back(is_given(op.tensors[i]) ? given->tensors[i].as<std::byte>() : nullptr);
    outputs.push_back(given->outputs.at(i).as<std::byte>());
  }
  solve_given(p);
  Record r = blank_record(task, kernel, "files", not_checked(*given, p));
  r.cost = p.problem->cost();
  r.rows_checked = p.problem->rows().sample;
  r.rows = p.problem->rows().total;
  r.exact = p.asks_exact(kernel.numerics);
  judge_outputs(p, kernel, {.images = {&outputs, 1}}, onlookers, r);
  return r;
}

}  // namespace assay
