// SPDX-License-Identifier: Apache-2.0
// A decoder at work: sequences with a paged key/value cache, fed with tokens pass by pass.  A prefill is a pass with many new
// tokens of a sequence, a step of decoding one with a single one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/model/machine/machine.hpp"
#include "validate/model/pages.hpp"
#include "validate/model/weights.hpp"

namespace assay {

struct EngineOptions {
  Ops ops = Ops::fused;
  std::int64_t pages = 0, page_size = 256;
  std::int64_t most_positions = 0;  // of a sequence that next() continues; 0: those of the model
  bool prompts_at_once = false;     // next() reads prompts of equal lengths by attention_forward
};

// Sees each step of a pass.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void before(const Step&, const Op&, Problem&) = 0;
  virtual void after(const Step&, const Op&, Problem&) = 0;
};

// The new tokens of a sequence.
struct NewTokens {
  std::int64_t sequence;
  std::span<const std::int32_t> tokens;
};

class Engine {
 public:
  Engine(const LoadedModel& model, Machine& machine, const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::int64_t open();                // a new sequence
  void close(std::int64_t sequence);  // gives its pages back
  std::int64_t length(std::int64_t sequence) const { return sequences_.at(sequence).length; }
  const PagePool& pages() const { return pool_; }
  const EngineOptions& options() const { return options_; }

  // Runs one pass.  Returns the logits of each sequence, of every new token or of the last alone: rows of `vocab`.  Throws
  // OutOfPages, BadInput for a token outside the vocabulary or too many positions, StepFault.
  std::vector<std::vector<double>> feed(std::span<const NewTokens> news, bool all_logits, Observer* observer = nullptr);

  // Runs one pass and returns the likeliest next token of each sequence.  The steps are made once for each number of sequences
  // (rounded up to a power of two) if each has one new token, and kept; the last pass of another shape is kept too.  On a GPU a
  // pass of single tokens is one CUDA graph.  Throws as feed() does.
  std::vector<std::int32_t> next(std::span<const NewTokens> news) { return next(news, 1).front(); }
  // The same for `count` passes that follow each other without waiting for the host, each with the tokens of the one before it;
  // more than one only if each sequence has one new token.  Returns the tokens of each pass.
  std::vector<std::vector<std::int32_t>> next(std::span<const NewTokens> news, int count);
  // Forgets sequences, cache and kept passes; weights stay.
  void restart(std::int64_t pages, std::int64_t most_positions);
  // The times of the steps of the last pass that next() made, if the machine has a clock.
  const std::vector<StepTime>& step_times() const { return step_times_; }

 private:
  struct Sequence {
    std::int64_t length = 0;
    std::vector<std::int32_t> pages{};
  };
  // Elements in the machine's memory; each row, of a token, begins row_stride elements after the one before it, if that is not 0.
  struct Memory {
    void* data = nullptr;
    DType dtype = f32;
    std::int64_t row_stride = 0;
  };
  struct Freed {
    Machine* machine;
    void operator()(void* p) const { machine->release(p); }
  };
  using Owned = std::unique_ptr<void, Freed>;
  using Memories = std::map<std::string, std::pair<Owned, DType>>;
  // What a pass is given beside the weights: [batch, seq] twice, [batch], [batch, max_pages].
  struct Inputs {
    PassShape shape{};
    std::vector<std::int32_t> ids{}, positions{}, lengths{}, table{};
  };
  // A pass that is run again and again.
  struct Kept {
    Inputs device{};  // as they are on the device
    Memories memory{};
    std::vector<Step> steps{};
    std::vector<std::unique_ptr<Problem>> problems{};
    NextTokens next{};
    std::unique_ptr<Replay> replay{};
  };

  Owned allocate(std::int64_t bytes, std::string_view label);
  void* copy_of(const ModelTensor& weight);
  Memory memory_in(Memories& all, const std::string& name, std::int64_t elements, DType dtype,
                   std::optional<std::byte> bits = {});
  Memory memory_of(const ModelTensor&, std::int64_t elements, DType dtype);
  void place(const Step&, const Op&, Problem&);
  void put(const std::string& name, const std::vector<std::int32_t>& values);
  Inputs enter(std::span<const NewTokens> news, std::int64_t ahead = 0);  // and `ahead` more of each sequence
  void round_up(Inputs& in) const;
  void make(Kept& kept, const Inputs& in);
  void put_changed(Kept& kept, const Inputs& in);

  const LoadedModel& model_;
  Machine& machine_;
  EngineOptions options_;
  PagePool pool_;
  std::map<std::int64_t, Sequence> sequences_;
  std::int64_t next_ = 0;
  // By the address of the first on the host, and how many follow each other.
  std::map<std::pair<const void*, std::size_t>, Owned> weights_;
  Memories pools_;                         // k_pool and v_pool of each layer
  Memories fed_;                           // what the steps of feed() write and read
  Memories* pass_ = &fed_;                 // of the pass that is being made
  PassShape shape_;                        // of that pass
  std::map<std::int64_t, Kept> decoding_;  // by the number of sequences
  Kept prompt_;
  std::vector<StepTime> step_times_;
};

// The number of pages that sequences of these lengths need.
std::int64_t pages_for(std::span<const std::int64_t> lengths, std::int64_t page_size);

}  // namespace assay
