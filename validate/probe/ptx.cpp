// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <memory>
#include <span>

#include "simt/ptx/ptx.hpp"
#include "validate/backends/cuda_ptx.hpp"
#include "validate/probe/probe.hpp"
#include "validate/probe/ptx_forms.hpp"
#include "validate/probe/subject.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

constexpr unsigned kBlocksPerDigest = 64, kDigests = 8;  // of a form
constexpr std::size_t kWordsIn = 8, kWordsOut = 4;       // of a thread

constexpr std::uint64_t kEdges[] = {
    0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0xffffffff,
    // f32: one, infinity, NaN, subnormals, least and largest normal ones
    0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
    // pairs of f16: one, infinity, NaN, subnormals
    0x3c003c00, 0x7c00fc00, 0x7e000001, 0x03ff8001,
    // 2^23, 2^31; f64: one, infinity, NaN, subnormal, largest
    0x4b000000, 0x4f000000, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x000fffffffffffff, 0x7fefffffffffffff,
    0x8000000000000000, 0x7fffffffffffffff, 0xffffffffffffffff};

// An operand: an edge value, a small number, a float or a double near one of moderate exponent, or any bits.
std::uint64_t operand(std::uint64_t key, std::uint64_t at) {
  const std::uint64_t r = random::mix(key + at * random::kGamma), more = random::mix(r + random::kGamma);
  switch (r >> 61) {
    case 0: return kEdges[more % std::size(kEdges)];
    case 1: return more & 63;
    case 2:
    case 3:
      return (more & 0x807fffff'807fffff) | (std::uint64_t{118 + (more >> 24 & 15)} << 23) |
             (std::uint64_t{1016 + (more >> 24 & 15)} << 52);
    case 4: return (more & 0x800fffff'ffffffff) | (std::uint64_t{1016 + (r & 15)} << 52);
    default: return more;
  }
}

struct PtxLaunch {
  const simt::ptx::Program* on_simt;
  cuda::PtxModule* on_gpu;
  unsigned blocks;
  const std::uint32_t* in;
  std::uint32_t* out;
};

void launch_on_simt(const void* args, const Launch& launch) {
  const auto& l = *static_cast<const PtxLaunch*>(args);
  const void* const parameters[] = {l.in, l.out};
  const simt::ptx::Shape shape{.grid = {l.blocks}, .block = {kPtxThreads}};
  simt::ptx::launch(*l.on_simt, shape, launch.stream, std::as_bytes(std::span(parameters)));
}
void launch_on_gpu(const void* args, const Launch& launch) {
  const auto& l = *static_cast<const PtxLaunch*>(args);
  const void* in = l.in;
  void* out = l.out;
  void* parameters[] = {&in, &out};
  l.on_gpu->launch("probe", {{l.blocks, 1, 1}, {kPtxThreads, 1, 1}, 0, launch.stream}, parameters);
}

class PtxSubject : public ProbeSubject {
 public:
  explicit PtxSubject(const std::string& form) : text_(ptx_module_of(form)), doubles_(form.find("%fd0") != form.npos) {
    const auto module = std::make_shared<const simt::ptx::Module>(simt::ptx::parse(text_, "probe.ptx"));
    program_ = simt::ptx::decode(module, *module->find("probe"));
    instruction = form;
    inputs = "mixed";
    min_arch = 0;
    exact = program_->rests.on != simt::ptx::Fidelity::modelled;
    words_per_digest = kBlocksPerDigest * kPtxThreads * kWordsOut;
    keep(kDigests);
  }
  void keep(std::size_t digests) override {
    blocks_ = kBlocksPerDigest * static_cast<unsigned>(std::min<std::size_t>(digests, kDigests));
    instructions = blocks_ * kPtxThreads / 32;
    words_out = threads() * kWordsOut;
  }
  ProbeBits inputs_bits() const override {
    const std::uint64_t key = random::key(kProbeSeed, random::hash(instruction), random::Purpose::value);
    ProbeBits in;
    in.reserve(threads() * kWordsIn);
    constexpr std::size_t kAll = std::size(kEdges);  // each pair of edge values comes first
    for (std::size_t i = 0; i < threads(); ++i)
      for (std::size_t k = 0; k < 4; ++k) {
        const std::uint64_t v = i >= kAll * kAll || k > 1 ? operand(key, 4 * i + k) : kEdges[k == 0 ? i / kAll : i % kAll];
        in.push_back(static_cast<std::uint32_t>(v));
        in.push_back(static_cast<std::uint32_t>(v >> 32));
      }
    return in;
  }
  void run(Backend& backend, const std::uint32_t* in, std::uint32_t* out) const override {
    if (backend.name() == "simt") {
      const PtxLaunch launch{program_.get(), nullptr, blocks_, in, out};
      return backend.run(launch_on_simt, &launch, nullptr, {});
    }
    cuda::PtxModule compiled(text_);
    const PtxLaunch launch{nullptr, &compiled, blocks_, in, out};
    backend.run(launch_on_gpu, &launch, nullptr, {});
  }
  // Note: a NaN of f64 keeps bits of an operand on a GPU.
  void forget(ProbeBits& out) const override {
    for (std::size_t i = 0; doubles_ && i < out.size(); i += kWordsOut)
      if ((out[i + 1] & 0x7fffffff) > 0x7ff00000 || ((out[i + 1] & 0x7fffffff) == 0x7ff00000 && out[i] != 0)) {
        out[i] = 0;
        out[i + 1] = 0x7ff80000;
      }
  }
  std::string explain(const ProbeBits& in, std::int64_t at) const override {
    const std::size_t first = static_cast<std::size_t>(at) / kWordsOut * kWordsIn;
    std::string text = at % kWordsOut < 2 ? "of" : "second result, of";
    for (std::size_t k = 0; k < kWordsIn; k += 2) text += fmt::format(" {:08x}{:08x}", in[first + k + 1], in[first + k]);
    return text;
  }

 private:
  std::size_t threads() const { return std::size_t{blocks_} * kPtxThreads; }

  std::string text_;
  bool doubles_;
  unsigned blocks_ = 0;
  std::shared_ptr<const simt::ptx::Program> program_;
};

}  // namespace

ProbeSubjects ptx_subjects(std::vector<std::string>& refused) {
  ProbeSubjects all;
  for (const std::string& form : ptx_forms()) {
    try {
      all.push_back(std::make_unique<PtxSubject>(form));
    } catch (const simt::ptx::Refused& e) {
      refused.push_back(fmt::format("{}  ({})", form, e.what()));
    }
  }
  return all;
}

}  // namespace assay
