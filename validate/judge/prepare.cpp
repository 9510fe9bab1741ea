// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/prepare.hpp"

#include <fmt/format.h>

#include <chrono>

#include "validate/base/error.hpp"
#include "validate/judge/memory.hpp"
#include "validate/problem/sample.hpp"

namespace assay {

std::shared_ptr<Prepared> prepare(const Task& task, std::size_t first_record, PrepareTimes* times) {
  using HostClock = std::chrono::steady_clock;
  const HostClock::time_point start = HostClock::now();
  auto p = std::make_shared<Prepared>();
  p->task = &task;
  p->first_record = first_record;
  p->bytes = memory_of(*task.op, task.c);
  p->packing = pack(*task.op, task.c);
  p->inputs = SharedMemory(p->packing.input_bytes);
  p->problem = task.op->make();
  std::vector<std::byte*> images;
  for (std::size_t i = 0; i < task.op->tensors.size(); ++i) {
    const bool given = is_given(task.op->tensors[i]);
    images.push_back(given ? p->inputs.data() + p->packing.given[i] : nullptr);
    if (given) fill_image(*task.op, task.c, static_cast<int>(i), p->packing.placements[i], images.back(), {});
  }
  attach(*p->problem, task.c, p->packing.placements, images);
  if (const Legality ok = p->problem->legal(); !ok)
    throw BadInput(fmt::format("{}: {}.", repro(task.c, task.op->shape()), ok.why));
  const HostClock::time_point filled = HostClock::now();
  const Fill& fill = find_fill(*task.op, task.c.fill);
  p->problem->set_errors(fill.coherent ? Errors::coherent : Errors::independent);
  p->problem->solve(sampled_rows(*task.op, task.c, *p->problem));
  p->scattered = fill.scattered && !fill.coherent;
  if (times) times->inputs_s = std::chrono::duration<double>(filled - start).count();
  if (times) times->golden_s = std::chrono::duration<double>(HostClock::now() - filled).count();
  p->exact = fill.exact && fill.exact(task.c.dims, task.c.dtype);
  return p;
}

}  // namespace assay
