// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/step_worker.hpp"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "validate/base/error.hpp"

namespace assay {

namespace {

// The images of a step's tensors as they lie in memory; an absent one has no bytes.
std::vector<Placement> placements_of(Problem& problem) {
  std::vector<Placement> all;
  for (const Tensor* t : problem.tensors()) {
    Placement& place = all.emplace_back(Placement{.tensor = *t});
    if (t->size() > 0) place.bytes = static_cast<std::size_t>((t->offset(t->size() - 1) + 1) * size_of(t->dtype));
  }
  return all;
}

// The case as far as an order has it.
Case case_of(const Step& step, const Op& op, Problem& problem) {
  Case c{.op = std::string(op.name), .dims = step.dims};
  for (std::size_t i = op.tensors.size(); i-- > 0;)
    if (!op.tensors[i].options.dtype) c.dtype = problem.tensors()[i]->dtype;
  for (const auto& [name, value] : step.attributes) c.attributes[std::string(name)] = value;
  return c;
}

}  // namespace

void StepWorker::run(const Step& step, const Kernel& kernel, const Op& op, Problem& problem, const RunOptions& how) {
  const Packing packing = pack(op, placements_of(problem));
  const SharedMemory inputs(packing.input_bytes), outputs(packing.output_bytes);
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (is_given(op.tensors[i]) && packing.placements[i].bytes)
      backend_.read(inputs.data() + packing.given[i], problem.tensors()[i]->data, packing.placements[i].bytes);

  Order order = order_of(op, case_of(step, op, problem), packing, kernel.name);
  order.id = ++orders_;
  order.runs = {{.how = how, .garbage = kGarbage[0]}};
  if (!process_) process_ = std::make_unique<WorkerProcess>(kernel.loaded->command);
  process_->send(order, inputs, outputs);
  const std::optional<Reply> reply = process_->receive();
  if (!reply || reply->id != order.id) throw std::runtime_error(process_->cause_of_death());
  if (reply->status == Reply::Status::failed) throw std::runtime_error(reply->message);
  if (reply->status != Reply::Status::done)
    throw BadInput(
        fmt::format("{}/{} cannot compute '{}' of layer {}: {}", kernel.op, kernel.name, step.name, step.layer, reply->message));

  // An output may be a part of a larger tensor, so only its elements are written.
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    const Placement& place = packing.placements[i];
    if (op.tensors[i].role != Role::output || !place.bytes) continue;
    const Tensor& t = *problem.tensors()[i];
    const auto element = static_cast<std::size_t>(size_of(t.dtype));
    std::vector<std::byte> image(place.bytes);
    backend_.read(image.data(), t.data, place.bytes);
    for (std::int64_t e = 0; e < t.size(); ++e) {
      const std::size_t at = static_cast<std::size_t>(t.offset(e)) * element;
      std::memcpy(image.data() + at, outputs.data() + packing.at[i] + at, element);
    }
    backend_.write(t.data, image.data(), place.bytes);
  }
}

}  // namespace assay
