// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/model/apart.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"

namespace assay {

void KernelMachine::run(const Step& step, const Op&, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  const std::size_t bytes = kernel.workspace_bytes(problem.args());
  const auto free_it = [this](void* p) { backend_.release(p); };
  std::unique_ptr<void, decltype(free_it)> workspace(bytes ? backend_.allocate(bytes, 0, "workspace") : nullptr, free_it);
  if (bytes) backend_.fill(workspace.get(), std::byte{0xff}, bytes);
  const std::string where = fmt::format("{}/{}, '{}' of layer {}", kernel.op, kernel.name, step.name, step.layer);
  now_at(where);
  try {
    backend_.run(backend_.launcher(kernel), problem.args(), workspace.get(), how_);
  } catch (const NoMemory&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw StepFault(fmt::format("{}: {}", where, e.what()));
  }
}

void* ContractMachine::allocate(std::size_t bytes, std::string_view) {
  std::vector<std::byte> all(bytes + 1);
  void* const p = all.data();
  memory_.emplace(p, std::move(all));
  return p;
}
void ContractMachine::write(void* to, const void* host, std::size_t bytes) {
  if (bytes) std::memcpy(to, host, bytes);
}
void ContractMachine::read(void* host, const void* from, std::size_t bytes) {
  if (bytes) std::memcpy(host, from, bytes);
}

void ContractMachine::run(const Step& step, const Op& op, Problem& problem) {
  const Kernel& kernel = choice_.kernel(step, problem.args());
  now_at("the measure of the band");
  if (const Legality ok = problem.legal(); !ok)
    throw std::logic_error(fmt::format("step {} of {}: {}", step.name, op.name, ok.why));
  problem.solve();
  int output = 0;
  for (std::size_t k = 0; k < op.tensors.size(); ++k) {
    if (op.tensors[k].role != Role::output) continue;
    const Tensor& t = *problem.tensors()[k];
    const std::span<const double> golden = problem.golden(output);
    const std::uint64_t key = random::key(seed_, steps_ * 8 + static_cast<std::uint64_t>(output), random::Purpose::value);
    std::vector<double> values(golden.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < golden.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const double deviation = problem.bound_with(Errors::typical, kernel.numerics, output, at);
      values[i] = golden[i] + (deviation > 0 ? deviation * random::normal(key, i) : 0);
    }
    // Note: an output of the same step does not depend on this one.
    for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
    ++output;
  }
  ++steps_;
}

}  // namespace assay
