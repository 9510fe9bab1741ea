// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/base/stopwatch.hpp"
#include "validate/problem/contents/contents.hpp"
#include "validate/problem/sample.hpp"
#include "validate/tasks/given.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

// Note: filling a model's weights a second time would cost more than all the rest, so their elements are reversed instead.
bool is_large(const Tensor& t) { return t.contiguous() && t.size() > std::int64_t{1} << 22; }
void reverse_elements(const std::byte* from, std::byte* to, const Tensor& t) {
  const auto element = static_cast<std::size_t>(size_of(t.dtype)), bytes = static_cast<std::size_t>(t.bytes());
  for (std::size_t at = 0; at < bytes; at += element) std::memcpy(to + bytes - element - at, from + at, element);
}

// Copies the elements for which keeps(index) holds.  Note: not the bytes between them, which may be more than there is memory.
template <class Keeps>
void keep_elements(const std::byte* from, std::byte* to, const Tensor& t, Keeps keeps) {
  const auto element = static_cast<std::size_t>(size_of(t.dtype));
  const bool contiguous = t.contiguous();  // as large ones are, where offset() would cost more than the copy
  for (std::int64_t i = 0; i < t.size(); ++i)
    if (keeps(i)) {
      const std::size_t at = static_cast<std::size_t>(contiguous ? i : t.offset(i)) * element;
      std::memcpy(to + at, from + at, element);
    }
}

// Makes `to` the image `from` with one pair of neighbours of 8 exchanged, which changes no row's sum, mean or largest element.
void exchange_neighbours(const std::byte* from, std::byte* to, const Tensor& t, std::uint64_t seed) {
  const auto element = static_cast<std::size_t>(size_of(t.dtype));
  const std::int64_t length = t.shape[t.rank - 1];
  keep_elements(from, to, t, [](std::int64_t) { return true; });
  for (std::int64_t i = 0; i + 1 < t.size(); i += 2) {
    if ((i + 1) % length == 0 || !(i == t.size() / 4 * 2 || random::one_in(seed, static_cast<std::uint64_t>(i), 8))) continue;
    const auto a = static_cast<std::size_t>(t.offset(i)) * element, b = static_cast<std::size_t>(t.offset(i + 1)) * element;
    std::memcpy(to + a, from + b, element);
    std::memcpy(to + b, from + a, element);
  }
}

// Fills the second set of inputs: the same case with other values.  For seeds of 8 n + 1 only one element of 16 has another, for
// those of 8 n + 5 some elements have changed places, and for those of 4 n + 3 only the elements of one tensor change, or of all
// integer ones, since these are valid together only.
void fill_second_set(const Op& op, const Case& c, const Packing& packing, std::byte* inputs) {
  Case changed = c;
  changed.seed ^= 0x9e3779b97f4a7c15u;
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (is_given(op.tensors[i]) && packing.placements[i].tensor.size() > 0) given.push_back(i);
  const bool one_alone = c.seed % 4 == 3 && !given.empty();
  const std::size_t alone = one_alone ? given[random::mix(changed.seed) % given.size()] : 0;
  for (std::size_t i = 0; i < op.tensors.size(); ++i) {
    if (!is_given(op.tensors[i])) continue;
    const Placement& p = packing.placements[i];
    const std::byte* first = inputs + packing.given[i];
    std::byte* second = inputs + packing.input_bytes + packing.given[i];
    if (is_large(p.tensor)) reverse_elements(first, second, p.tensor);
    else fill_image(op, changed, static_cast<int>(i), p, second, {});
    const bool integers = is_index(p.tensor.dtype);
    const bool changes = i == alone || (integers && is_index(packing.placements[alone].tensor.dtype));
    if (one_alone && !changes) keep_elements(first, second, p.tensor, [](std::int64_t) { return true; });
    if (c.seed % 8 == 5 && !integers && p.tensor.size() > 1 && p.tensor.shape[p.tensor.rank - 1] > 1)
      exchange_neighbours(first, second, p.tensor, changed.seed);
    else if (c.seed % 4 == 1)  // a kernel that compares a few elements then finds the inputs unchanged
      keep_elements(first, second, p.tensor, [&](std::int64_t k) {
        return integers || (k != p.tensor.size() / 3 && !random::one_in(changed.seed, static_cast<std::uint64_t>(k), 16));
      });
  }
}

bool has_second_set(const Case& c, const OpShape& op, bool replayed) {
  constexpr std::uint64_t kOneIn = 8;
  constexpr std::int64_t kMostElements = std::int64_t{1} << 17;
  return replayed || (random::mix(c.seed) % kOneIn == 0 && elements(c, op) <= kMostElements);
}

}  // namespace

bool all_finite(const Op& op, const Packing& packing, const std::byte* inputs) {
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (is_given(op.tensors[i]) && !all_finite(packing.placements[i].tensor, inputs + packing.given[i])) return false;
  return true;
}

std::shared_ptr<Prepared> prepare(const Task& task, std::size_t first_record, bool replayed, PrepareTimes* times) {
  const Stopwatch filling;
  auto p = std::make_shared<Prepared>();
  p->task = &task;
  p->first_record = first_record;
  const bool second_set = !task.given && has_second_set(task.c, task.op->shape(), replayed);
  p->packing = pack(*task.op, task.c);
  p->input_sets = second_set ? 2 : 1;
  p->inputs = SharedMemory(p->input_sets * p->packing.input_bytes);
  for (std::size_t i = 0; i < task.op->tensors.size(); ++i) {
    const bool given = is_given(task.op->tensors[i]);
    p->given.push_back(given ? p->inputs.data() + p->packing.given[i] : nullptr);
    if (given) make_image(task, i, p->packing.placements[i], p->given.back());
  }
  if (std::any_of(task.kernels.begin(), task.kernels.end(), [](const Kernel* k) { return k->finite_inputs; }))
    p->finite = all_finite(*task.op, p->packing, p->inputs.data());
  if (second_set) fill_second_set(*task.op, task.c, p->packing, p->inputs.data());
  if (times) times->inputs_s = filling.seconds();
  const Stopwatch solving;
  solve_given(*p);
  if (times) times->golden_s = solving.seconds();
  return p;
}

void solve_given(Prepared& p) {
  const Task& task = *p.task;
  p.problem = task.op->make();
  attach(*p.problem, task.c, p.packing.placements, p.given);
  if (const Legality ok = p.problem->legal(); !ok)
    throw BadInput(fmt::format("{}: {}.", repro(task.c, task.op->shape()), ok.why));
  const Fill& fill = fill_of(task);
  const bool exact_with = !fill.exact_with || fill.exact_with(task.c);
  // Note: the few values of a probe round alike.
  // And sums of numbers from a range may have terms of one sign.
  const bool ranges = has_ranges(*task.op, task.c);
  p.problem->set_errors(fill.coherent || ranges || !exact_with ? Errors::coherent : Errors::independent);
  p.problem->solve(sampled_rows(*task.op, task.c, *p.problem));
  p.scattered = fill.scattered && !fill.coherent && !ranges;
  p.exact = fill.exact && fill.exact(task.c.dims, task.c.dtype) && exact_with;
}

}  // namespace assay
