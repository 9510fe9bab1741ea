// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/contract_machine.hpp"

#include <fmt/format.h>

#include <cstring>

#include "validate/model/apart.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/values/random.hpp"

namespace assay {

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
void ContractMachine::fill(void* to, std::byte value, std::size_t bytes) {
  if (bytes) std::memset(to, std::to_integer<int>(value), bytes);
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
    const std::span<const double> deviations = problem.bounds_with(Errors::typical, kernel.numerics, output);
    std::vector<double> values(golden.size());
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < golden.size(); ++i) {
      values[i] = golden[i] + (deviations[i] > 0 ? deviations[i] * random::normal(key, i) : 0);
    }
    // Note: an output of the same step does not depend on this one.
    for (std::size_t i = 0; i < values.size(); ++i) t.set(static_cast<std::int64_t>(i), values[i]);
    ++output;
  }
  ++steps_;
}

}  // namespace assay
