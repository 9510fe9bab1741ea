// SPDX-License-Identifier: Apache-2.0
// Kernels on the host, each in a few lines, bound to the C interface as those of libassay_kernels.so are: what the tests have of
// that object without a GPU (exported_test.py, python/tests/test_kernels.py).
#include <cmath>
#include <stdexcept>

#include "ops/linear.hpp"
#include "ops/rope.hpp"
#include "ops/softmax.hpp"
#include "validate/backends/library/exported.hpp"

namespace assay {
namespace {

namespace serial {
// y = x weight' + bias, one chain, through a workspace of f32.
void run(const linear::Args& a, const Launch& l) {
  const std::int64_t out = a.y.shape[1], hidden = a.x.shape[1];
  float* const sums = static_cast<float*>(l.workspace);
  for (std::int64_t i = 0; i < a.y.size(); ++i) {
    sums[i] = 0;
    for (std::int64_t h = 0; h < hidden; ++h)
      sums[i] = std::fmaf(static_cast<float>(a.x.at(i / out * hidden + h)), static_cast<float>(a.weight.at(i % out * hidden + h)),
                          sums[i]);
  }
  Tensor y = a.y;
  for (std::int64_t i = 0; i < a.y.size(); ++i)
    y.set(i, a.bias.data ? sums[i] + static_cast<float>(a.bias.at(i % out)) : sums[i]);
}
const KernelTraits<linear> traits = {
    .dtypes = {f16, bf16, f32},
    .min_arch = 0,
    .tiles = {tile(Axis::tokens, 1), tile_bytes(Axis::out, 64)},
    .workspace_bytes = [](const linear::Args& a) { return static_cast<std::size_t>(a.y.size()) * sizeof(float); }};
}  // namespace serial

namespace narrow {
// Preferred to `serial`, but takes short rows alone, where x begins at a multiple of 16 bytes; throws for 13 tokens.
void run(const linear::Args& a, const Launch& l) {
  if (a.x.shape[0] == 13) throw std::runtime_error("13 tokens");
  serial::run(a, l);
}
const KernelTraits<linear> traits = {.dtypes = {f32},
                                     .min_arch = 0,
                                     .supports =
                                         [](const linear::Args& a) {
                                           if (a.x.shape[1] > 8) return Legality::no("a row exceeds 8 channels");
                                           if (reinterpret_cast<std::uintptr_t>(a.x.data) % 16)
                                             return Legality::no("x is not aligned to 16 bytes");
                                           return Legality::yes();
                                         },
                                     .workspace_bytes = serial::traits.workspace_bytes};
}  // namespace narrow

namespace by_pairs {
void run(const rope::Args& a, const Launch&) {
  for (const auto& [from, to] : {std::pair{&a.q, a.q_out}, std::pair{&a.k, a.k_out}}) {
    const std::int64_t dim = from->shape[3], heads = from->shape[2];
    for (std::int64_t i = 0; i < from->size(); i += dim)
      for (std::int64_t d = 0; d < dim; ++d) {
        if (d < a.rotary() && !a.first_of_pair(d)) continue;
        Tensor y = to;
        if (d >= a.rotary()) {
          y.set(i + d, from->at(i + d));
          continue;
        }
        const double frequency =
            a.given_frequencies
                ? a.frequencies.at(a.pair(d))
                : std::pow(a.base_used(), -2.0 * static_cast<double>(a.pair(d)) / static_cast<double>(a.rotary()));
        const double t = a.position(i / dim / heads) * frequency;
        const double one = from->at(i + d), other = from->at(i + a.partner(d)), c = std::cos(t), s = std::sin(t);
        y.set(i + d, one * c - other * s);
        y.set(i + a.partner(d), one * s + other * c);
      }
  }
}
const KernelTraits<rope> traits = {
    .dtypes = {f16, bf16, f32}, .min_arch = 0, .numerics = {.function_error = 1, .angle_error = 0x1p-21}};
}  // namespace by_pairs

namespace wrong {
// FAULT: softmax without the division by the sum.
void run(const softmax::Args& a, const Launch&) {
  Tensor y = a.y;
  for (std::int64_t i = 0; i < y.size(); ++i) y.set(i, std::exp(a.x.at(i)));
}
const KernelTraits<softmax> traits = {.dtypes = {f32}, .min_arch = 0, .deterministic = false, .finite_inputs = true};
}  // namespace wrong

}  // namespace

template <>
void link_op<linear>() {}
template <>
void link_op<rope>() {}
template <>
void link_op<softmax>() {}

}  // namespace assay

const AssayPlugin* assay_plugin(uint32_t) {
  using namespace assay;
  static const AssayPlugin* const plugin = [] {
    static exported::Kernels all;
    static const LinkKernel<softmax, wrong::traits, wrong::run> wrong_linked("softmax", Flavour::on_gpu, "wrong.cu", "");
    all.add(wrong_linked.kernel, "No division.");
    static const LinkKernel<linear, narrow::traits, narrow::run> narrow_linked("linear", Flavour::on_gpu, "narrow.cu", "");
    all.add(narrow_linked.kernel, "Short rows.");
    static const LinkKernel<linear, serial::traits, serial::run> serial_linked("linear", Flavour::on_gpu, "serial.cu", "");
    all.add(serial_linked.kernel, "One chain.");
    static const LinkKernel<rope, by_pairs::traits, by_pairs::run> by_pairs_linked("rope", Flavour::on_gpu, "by_pairs.cu", "");
    all.add(by_pairs_linked.kernel, "In f64.");
    return all.plugin();
  }();
  return plugin;
}
extern "C" ASSAY_EXPORT const char* assay_last_error() { return assay::exported::last_error().c_str(); }
