// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/probe/probe.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "validate/probe/probe.hpp"
#include "validate/probe/subject.hpp"

namespace assay {

namespace {

constexpr std::size_t kPerDigest = 64;  // instructions

class WordSubject : public ProbeSubject {
 public:
  WordSubject(const InstructionInfo& what, const ProbeClass& c) : what_(what.what), class_(c) {
    instruction = what.name;
    inputs = c.name;
    instructions = c.instructions;
    min_arch = what.min_arch;
    words_per_digest = kPerDigest * 32 * static_cast<std::size_t>(what.words_out);
    words_out = static_cast<std::size_t>(instructions * 32 * what.words_out);
  }
  ProbeBits inputs_bits() const override { return probe_inputs(what_, class_); }
  void run(Backend& backend, const std::uint32_t* in, std::uint32_t* out) const override {
    const ProbeArgs args{.instruction = what_, .count = instructions, .in = in, .out = out};
#if defined(ASSAY_GPU)
    if (backend.name() == "cuda") return backend.run(on_gpu::run_probe, &args, nullptr, {});
#endif
    backend.run(on_simt::run_probe, &args, nullptr, {});
  }
  std::optional<double> worst_error(const ProbeBits& in, const ProbeBits& out) const override {
    if (what_ != Instruction::exp2_approx) return std::nullopt;
    double worst = 0;
    for (std::size_t k = 0; k < in.size(); ++k)
      worst = std::max(worst, exp2_error(std::bit_cast<float>(in[k]), std::bit_cast<float>(out[k])));
    return worst;
  }
  std::string_view difference(std::uint32_t a, std::uint32_t b) const override { return assay::difference(what_, a, b); }
  std::string explain(const ProbeBits& in, std::int64_t at) const override { return assay::explain(what_, in, at); }

 private:
  Instruction what_;
  ProbeClass class_;
};

}  // namespace

ProbeSubjects word_subjects() {
  ProbeSubjects all;
  for (const InstructionInfo& what : kInstructions)
    for (const ProbeClass& c : probe_classes(what.what)) all.push_back(std::make_unique<WordSubject>(what, c));
  return all;
}

}  // namespace assay
