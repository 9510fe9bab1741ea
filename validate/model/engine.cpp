// SPDX-License-Identifier: Apache-2.0
#include "validate/model/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "ops/core/dense.hpp"
#include "validate/base/error.hpp"

namespace assay {

std::int64_t pages_for(std::span<const std::int64_t> lengths, std::int64_t page_size) {
  std::int64_t pages = 0;
  for (const std::int64_t length : lengths) pages += (length + page_size - 1) / page_size;
  return pages;
}

Engine::Engine(const LoadedModel& model, Machine& machine, const EngineOptions& options)
    : model_(model), machine_(machine), options_(options), pool_(options.pages, options.page_size) {}
Engine::~Engine() = default;

Engine::Owned Engine::allocate(std::int64_t bytes, std::string_view label) {
  return Owned(machine_.allocate(static_cast<std::size_t>(bytes), label), Freed{&machine_});
}

std::int64_t Engine::open() {
  sequences_.emplace(next_, Sequence{});
  return next_++;
}

void Engine::close(std::int64_t sequence) {
  pool_.release(sequences_.at(sequence).pages);
  sequences_.erase(sequence);
}

// The copy of a weight on the machine, which is made when a step first reads it.
void* Engine::copy_of(const ModelTensor& weight) {
  const reference::Decoder& d = model_.decoder;
  const Tensor& first = *weight.weights.at(0);
  std::int64_t bytes = 0;
  for (const Tensor* w : weight.weights) {
    if (w->rank == 0) throw std::logic_error(fmt::format("a step reads the weight '{}', which the model lacks", weight.name));
    bytes += w->bytes();
  }
  Owned& copy = weights_.try_emplace({first.data, weight.weights.size()}, nullptr, Freed{&machine_}).first->second;
  if (copy) return copy.get();
  const std::int64_t padded = first.data == d.head.data ? head_rows(d) * d.hidden * size_of(d.head.dtype) : bytes;
  copy = allocate(padded, weight.name);
  auto* to = static_cast<std::byte*>(copy.get());
  for (const Tensor* w : weight.weights) {
    machine_.write(to, w->data, static_cast<std::size_t>(w->bytes()));
    to += w->bytes();
  }
  machine_.fill(to, std::byte{0}, static_cast<std::size_t>(padded - bytes));
  return copy.get();
}

// The memory of that name, allocated if it is not there yet, and then filled with `bits` if there are any.
Engine::Memory Engine::memory_in(Memories& all, const std::string& name, std::int64_t elements, DType dtype,
                                 std::optional<std::byte> bits) {
  auto& [memory, of] = all.try_emplace(name, Owned(nullptr, Freed{&machine_}), dtype).first->second;
  if (!memory) {
    const std::int64_t bytes = elements * size_of(dtype);
    memory = allocate(bytes, name);
    if (bits) machine_.fill(memory.get(), *bits, static_cast<std::size_t>(bytes));
  }
  return {memory.get(), of};
}

Engine::Memory Engine::memory_of(const ModelTensor& tensor, std::int64_t elements, DType dtype) {
  switch (tensor.kind) {
    case ModelTensor::Kind::weight:
    case ModelTensor::Kind::table: return {copy_of(tensor), tensor.weights[0]->dtype};
    case ModelTensor::Kind::cache: return memory_in(pools_, tensor.name, elements, dtype, std::byte{0xff});  // NaN
    case ModelTensor::Kind::pass: break;
  }
  const ModelTensor::Within& in = tensor.within;
  if (in.whole.empty()) return memory_in(*pass_, tensor.name, elements, dtype);
  const Memory whole = memory_in(*pass_, in.whole, in.elements, dtype);
  return {static_cast<std::byte*>(whole.data) + in.first * size_of(dtype), dtype, in.row_stride};
}

// Gives the step's problem its tensors and attributes.
void Engine::place(const Step& step, const Op& op, Problem& problem) {
  for (const auto& [name, value] : step.attributes) problem.set_attribute(name, value);
  for (std::size_t k = 0; k < op.tensors.size(); ++k) {
    const TensorSpec& spec = op.tensors[k];
    const ModelTensor* const is = step.part(spec.name);
    if (!is) continue;
    Tensor t{.dtype = spec.options.dtype.value_or(model_.dtype), .rank = static_cast<int>(spec.axes.size())};
    for (int a = 0; a < t.rank; ++a) t.shape[a] = spec.axes[static_cast<std::size_t>(a)].of(step.dims);
    make_contiguous(t);
    const Memory m = memory_of(*is, t.size(), t.dtype);
    t.data = m.data;
    if (m.row_stride && t.rank == 4) {
      t.stride[0] = t.shape[1] * m.row_stride;
      t.stride[1] = m.row_stride;
    } else if (m.row_stride) t.stride[0] = m.row_stride;
    *problem.tensors()[k] = t;
  }
}

void Engine::put(const std::string& name, const std::vector<std::int32_t>& values) {
  const Memory m = memory_in(*pass_, name, static_cast<std::int64_t>(values.size()), i32);
  machine_.write(m.data, values.data(), values.size() * sizeof(std::int32_t));
}

// Takes pages for the new tokens, and for those ahead, and says where the new ones are.
Engine::Inputs Engine::enter(std::span<const NewTokens> news, std::int64_t ahead) {
  const reference::Decoder& d = model_.decoder;
  Inputs in{.shape = {.batch = static_cast<std::int64_t>(news.size()), .pages = pool_.total(), .page_size = pool_.page_size()}};
  PassShape& s = in.shape;
  for (const NewTokens& n : news) {
    const Sequence& sequence = sequences_.at(n.sequence);
    const auto count = static_cast<std::int64_t>(n.tokens.size());
    if (count == 0) throw BadInput("a sequence has no tokens, and at least one was expected");
    if (sequence.length + count + ahead > d.positions)
      throw BadInput(fmt::format("a sequence would have {} positions, and the model takes {}", sequence.length + count + ahead,
                                 d.positions));
    for (const std::int32_t id : n.tokens)
      if (id < 0 || id >= d.vocab) throw BadInput(fmt::format("the token {} is not one of 0 to {}", id, d.vocab - 1));
    s.seq = std::max(s.seq, count);
  }
  // Note: either all sequences get their pages, or none does.
  std::vector<std::pair<Sequence*, std::size_t>> grown;
  try {
    for (const NewTokens& n : news) {
      Sequence& sequence = sequences_.at(n.sequence);
      grown.emplace_back(&sequence, sequence.pages.size());
      pool_.grow(sequence.pages, sequence.length + static_cast<std::int64_t>(n.tokens.size()) + ahead);
    }
  } catch (const OutOfPages&) {
    for (const auto& [sequence, had] : grown) {
      std::vector<std::int32_t> back(sequence->pages.begin() + static_cast<std::ptrdiff_t>(had), sequence->pages.end());
      sequence->pages.resize(had);
      pool_.release(back);
    }
    throw;
  }
  s.at_once = s.seq > 1;
  auto& [shape, ids, positions, lengths, table] = in;
  for (const NewTokens& n : news) {
    Sequence& sequence = sequences_.at(n.sequence);
    s.at_once = s.at_once && sequence.length == 0 && static_cast<std::int64_t>(n.tokens.size()) == s.seq;
    s.max_pages = std::max(s.max_pages, static_cast<std::int64_t>(sequence.pages.size()));
    const auto padding = static_cast<std::size_t>(s.seq) - n.tokens.size();
    ids.insert(ids.end(), padding, 0);
    positions.insert(positions.end(), padding, 0);
    for (const std::int32_t id : n.tokens) {
      ids.push_back(id);
      positions.push_back(static_cast<std::int32_t>(sequence.length++));
    }
    lengths.push_back(static_cast<std::int32_t>(sequence.length));
  }
  table.assign(static_cast<std::size_t>(s.batch * s.max_pages), -1);
  for (std::size_t b = 0; b < news.size(); ++b) {
    const auto& pages = sequences_.at(news[b].sequence).pages;
    std::copy(pages.begin(), pages.end(), table.begin() + static_cast<std::ptrdiff_t>(b) * s.max_pages);
  }
  return in;
}

std::vector<std::vector<double>> Engine::feed(std::span<const NewTokens> news, bool all_logits, Observer* observer) {
  fed_.clear();
  pass_ = &fed_;
  const Inputs in = enter(news);
  shape_ = in.shape;
  shape_.all_logits = all_logits;
  shape_.at_once = false;
  put("ids", in.ids);
  put("positions", in.positions);
  put("lengths", in.lengths);
  put("page_table", in.table);
  for (const Step& step : plan(model_.decoder, shape_, options_.ops)) {
    const Op& op = *find_op(step.op);
    const std::unique_ptr<Problem> problem = op.make();
    place(step, op, *problem);
    if (observer) observer->before(step, op, *problem);
    machine_.run(step, op, *problem);
    if (observer) observer->after(step, op, *problem);
  }
  const std::int64_t vocab = model_.decoder.vocab, columns = head_rows(model_.decoder), rows = all_logits ? shape_.seq : 1;
  std::vector<std::byte> stored(static_cast<std::size_t>(shape_.batch * rows * columns * size_of(model_.dtype)));
  machine_.read(stored.data(), fed_.at("logits").first.get(), stored.size());
  std::vector<std::vector<double>> logits;
  for (std::int64_t b = 0; b < shape_.batch; ++b) {
    const std::int64_t count = all_logits ? static_cast<std::int64_t>(news[static_cast<std::size_t>(b)].tokens.size()) : 1;
    std::vector<double>& mine = logits.emplace_back(static_cast<std::size_t>(count * vocab));
    for (std::int64_t i = 0; i < count * vocab; ++i) {
      const std::int64_t row = (b + 1) * rows - count + i / vocab;
      mine[static_cast<std::size_t>(i)] = decode(model_.dtype, stored.data(), row * columns + i % vocab);
    }
  }
  return logits;
}

// Writes what differs from what the device has.
void Engine::put_changed(Kept& kept, const Inputs& in) {
  pass_ = &kept.memory;
  const auto one = [&](const char* name, std::vector<std::int32_t>& had, const std::vector<std::int32_t>& now) {
    if (had != now) {
      put(name, now);
      had = now;
    }
  };
  one("ids", kept.device.ids, in.ids);
  one("positions", kept.device.positions, in.positions);
  one("lengths", kept.device.lengths, in.lengths);
  one("page_table", kept.device.table, in.table);
  kept.device.shape = in.shape;
}

// Makes the steps of a pass, and the machine's record of them.
void Engine::make(Kept& kept, const Inputs& in) {
  kept = Kept{};
  put_changed(kept, in);
  shape_ = in.shape;
  kept.steps = plan(model_.decoder, shape_, options_.ops);
  std::vector<PlacedStep> placed;
  for (const Step& step : kept.steps) {
    const Op& op = *find_op(step.op);
    place(step, op, *kept.problems.emplace_back(op.make()));
    placed.push_back({step, op, *kept.problems.back()});
  }
  Tensor& logits = kept.next.logits = {.dtype = model_.dtype, .rank = 2, .shape = {shape_.batch, model_.decoder.vocab}};
  logits.data = kept.memory.at("logits").first.get();
  logits.stride = {head_rows(model_.decoder), 1};
  const auto integers = [&](const char* name, std::int64_t count) {
    return static_cast<std::int32_t*>(memory_in(*pass_, name, count, i32).data);
  };
  const bool goes_on = shape_.seq == 1;
  kept.next.next = integers(goes_on ? "ids" : "next", shape_.batch);
  if (goes_on) {
    kept.next.positions = integers("positions", shape_.batch);
    kept.next.lengths = integers("lengths", shape_.batch);
    kept.next.most_positions = shape_.max_pages * shape_.page_size;
    kept.next.history = integers("history", shape_.batch * kept.next.most_positions);
  }
  step_times_.clear();
  kept.replay = machine_.record(placed, kept.next, goes_on, step_times_);
  kept.device = {};  // recording ran the steps
}

// Rounds the sequences of a pass of single tokens up to a power of two, and their pages up to what the longest may come to have.
// Note: rows beyond the sequences have the length 0, so they write nothing to the cache and see nothing of it.
void Engine::round_up(Inputs& in) const {
  PassShape& s = in.shape;
  const std::int64_t positions = options_.most_positions ? options_.most_positions : model_.decoder.positions;
  const std::int64_t width = std::max(s.max_pages, std::min(pages_for(std::array{positions}, s.page_size), s.pages));
  const auto rows = std::bit_ceil(static_cast<std::size_t>(s.batch));
  std::vector<std::int32_t> table(rows * static_cast<std::size_t>(width), -1);
  for (std::int64_t b = 0; b < s.batch; ++b)
    std::copy_n(in.table.begin() + b * s.max_pages, s.max_pages, table.begin() + b * width);
  in.ids.resize(rows);
  in.positions.resize(rows);
  in.lengths.resize(rows);
  in.table = std::move(table);
  s.batch = static_cast<std::int64_t>(rows);
  s.max_pages = width;
}

std::vector<std::vector<std::int32_t>> Engine::next(std::span<const NewTokens> news, int count) {
  Inputs in = enter(news, count - 1);
  const auto batch = static_cast<std::ptrdiff_t>(news.size());
  const bool single = in.shape.seq == 1;
  if (!single && count != 1) throw std::logic_error("passes of several tokens do not follow each other by themselves");
  in.shape.at_once = in.shape.at_once && options_.prompts_at_once;
  if (single) round_up(in);
  Kept& kept = single ? decoding_[in.shape.batch] : prompt_;
  if (!kept.replay || kept.device.shape != in.shape) make(kept, in);
  // What the device chose for the rows beyond the sequences may stay there.
  if (single && kept.device.ids.size() == in.ids.size())
    std::copy(kept.device.ids.begin() + batch, kept.device.ids.end(), in.ids.begin() + batch);
  put_changed(kept, in);
  kept.replay->run(count);
  std::vector<std::int32_t> last(static_cast<std::size_t>(in.shape.batch));
  machine_.read(last.data(), kept.next.next, last.size() * sizeof(std::int32_t));
  if (!single) {
    kept.device.ids.clear();  // Note: a prompt is written even if it is the last one again
    return {last};
  }
  std::vector<std::vector<std::int32_t>> tokens(static_cast<std::size_t>(count));
  if (count > 1) {
    const std::int64_t most = kept.next.most_positions;
    std::vector<std::int32_t> history(static_cast<std::size_t>(in.shape.batch * most));
    machine_.read(history.data(), kept.next.history, history.size() * sizeof(std::int32_t));
    for (std::ptrdiff_t b = 0; b < batch; ++b)
      for (std::ptrdiff_t k = 0; k + 1 < count; ++k)
        tokens[static_cast<std::size_t>(k)].push_back(
            history[static_cast<std::size_t>(b * most + kept.device.positions[static_cast<std::size_t>(b)] + 1 + k)]);
  }
  tokens.back().assign(last.begin(), last.begin() + batch);
  kept.device.ids = std::move(last);
  for (std::size_t b = 0; b < news.size(); ++b) {
    kept.device.positions[b] += count;
    kept.device.lengths[b] += count;
    sequences_.at(news[b].sequence).length += count - 1;
  }
  return tokens;
}

void Engine::restart(std::int64_t pages, std::int64_t most_positions) {
  sequences_.clear();
  decoding_.clear();
  prompt_ = Kept{};
  fed_.clear();
  pools_.clear();
  options_.pages = pages;
  options_.most_positions = most_positions;
  pool_ = PagePool(pages, options_.page_size);
}

}  // namespace assay
