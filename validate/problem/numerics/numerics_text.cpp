// SPDX-License-Identifier: Apache-2.0
#include "validate/problem/numerics/numerics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <set>
#include <type_traits>

#include "ops/core/stored.hpp"

namespace assay {

namespace {

std::string chain_text(const Chain& c) { return c.extra ? fmt::format("{}+{}", c.lanes, c.extra) : fmt::format("{}", c.lanes); }

// "tf32", "bf16*2:3": two pieces of bf16, of which three products are added.
std::string factors_text(const Factors& f) {
  if (f.precision == 0) return {};
  const std::string format = f.precision == 11 ? "tf32" : f.precision == 8 ? "bf16" : fmt::format("{}bits", f.precision);
  return f.pieces == 1 ? format : fmt::format("{}*{}:{}", format, f.pieces, f.products);
}

// In as many digits as it takes to read the same number again.
std::string exactly(double v) {
  const std::string few = fmt::format("{:g}", v);
  return std::strtod(few.c_str(), nullptr) == v ? few : fmt::format("{}", v);
}
template <auto Field>
std::string number(const Numerics& n) {
  return n.*Field == Numerics{}.*Field ? std::string{} : exactly(static_cast<double>(n.*Field));
}
// Omits a word: back to the default, unless the kernel declares less.
template <auto Field>
void omit(Numerics& n) {
  n.*Field = std::min(n.*Field, Numerics{}.*Field);
}
template <auto Field>
std::string flag(const Numerics& n) {
  return n.*Field ? std::string(kYes) : std::string{};
}

template <auto Field>
std::string names(const Numerics& n) {
  return std::string(n.*Field);
}

template <class T>
bool read_whole(std::string_view text, T least, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to >= least;
}
bool read_chain(std::string_view text, Chain& to) {
  const std::size_t plus = std::min(text.find('+'), text.size());
  return read_whole<std::int64_t>(text.substr(0, plus), 1, to.lanes) &&
         (plus == text.size() || read_whole<std::int64_t>(text.substr(plus + 1), 0, to.extra));
}
bool read_factors(std::string_view text, Factors& to) {
  const std::size_t star = std::min(text.find('*'), text.size()), colon = std::min(text.find(':'), text.size());
  const std::string_view format = text.substr(0, star);
  if (format == "tf32") to.precision = 11;
  else if (format == "bf16") to.precision = 8;
  else if (!format.ends_with("bits") || !read_whole(format.substr(0, format.size() - 4), 1, to.precision) || to.precision > 24)
    return false;
  if (star == text.size()) return true;
  return colon > star && colon < text.size() && read_whole(text.substr(star + 1, colon - star - 1), 1, to.pieces) &&
         read_whole(text.substr(colon + 1), 1, to.products) && to.pieces <= 8 && to.products <= to.pieces * to.pieces;
}
template <auto Field>
bool read_number(std::string_view text, Numerics& n) {
  auto& to = n.*Field;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  const auto most = std::is_integral_v<std::decay_t<decltype(to)>> ? 999'999 : std::numeric_limits<double>::max();
  return error == std::errc() && end == text.data() + text.size() && to >= 0 && static_cast<double>(to) <= most;
}
template <auto Field>
bool read_flag(std::string_view text, Numerics& n) {
  return n.*Field = text == kYes;
}

// Whether a list has names, each once.  `is_item`: of what stands between the commas.
template <class IsItem>
bool is_list(std::string_view text, IsItem&& is_item) {
  std::set<std::string_view> seen;
  bool fits = !text.empty() && text != kYes && text.back() != ',';
  each_name(text, [&](std::string_view item) { fits = fits && is_item(item) && seen.insert(name_of(item)).second; });
  return fits;
}
bool read_stores(std::string_view text, Numerics& n) {
  n.stores = lasting(std::string(text));
  if (!said_of(text, kAllSteps).empty() && text.find(',') != text.npos) return false;  // beside other names it says nothing
  return is_list(text, [](std::string_view item) {
    const std::string_view name = name_of(item);
    const auto dtype = name == item ? f32 : parse_dtype(item.substr(name.size() + 1));
    return is_name(name) && dtype && is_float(*dtype);
  });
}
bool read_ways(std::string_view text, Numerics& n) {
  n.ways = lasting(std::string(text));
  return is_list(text, is_name);
}

constexpr NumericsWord kWords[] = {
    {"accumulate", "Sums, and all values between input and output, have this dtype.", "sum = fmaf(x, w, sum)",
     [](const Numerics& n) { return std::string(name(n.accumulate)); },
     [](std::string_view text, Numerics& n) {
       const auto dtype = parse_dtype(text);
       n.accumulate = dtype.value_or(f32);
       return dtype && is_float(*dtype);
     },
     [](Numerics& n) { n.accumulate = DType::f32; }},
    {"chain", "A+B: each sum has A partial sums side by side, then B additions in a row to join them.",
     "for (h = lane; h < n; h += A) sum += x[h];  then log2(A) shuffles", [](const Numerics& n) { return chain_text(n.chain); },
     [](std::string_view text, Numerics& n) { return read_chain(text, n.chain); }},
    {"factors",
     "Factors of products are rounded to nearest to this format before they are multiplied. tf32*2:3 splits each into 2 pieces, "
     "and adds 3 products for a term.",
     "mma of tf32 or bf16 on f32 inputs; x1 = tf32(x), x2 = tf32(x - x1), x1 w1 + x1 w2 + x2 w1",
     [](const Numerics& n) { return factors_text(n.factors); },
     [](std::string_view text, Numerics& n) { return read_factors(text, n.factors); }, [](Numerics& n) { n.factors = {}; }},
    {"mma_terms", "Products that a step of the tensor core adds before it truncates the sum.", "mma.sync, wgmma",
     number<&Numerics::mma_terms>, read_number<&Numerics::mma_terms>},
    {"stores",
     "Results of these steps of the formula are rounded to the storage dtype before they are read. weights:f16 is rounded to "
     "f16; "
     "all: of every step. `describe OP` lists them.",
     "one CUDA kernel for the product, one for the bias; P as f16 fragments for P V", names<&Numerics::stores>, read_stores,
     nullptr, &Numerics::stores},
    {"ways", "What the formula says in two ways is computed in the second of them. `describe OP` lists these.",
     "w[h] = half(gamma[h] * w[h]) in a LayerNorm before a product: `folded`", names<&Numerics::ways>, read_ways, nullptr,
     &Numerics::ways},
    {"function_error", "Relative error of exp, log, tanh, erf, sin and cos, in units of 2^-24.", "expf: 4 (2 ulp)",
     number<&Numerics::function_error>, read_number<&Numerics::function_error>, omit<&Numerics::function_error>},
    {"exponent_error", "A sigmoid's exp is taken by exp2: relative error of the exponent, in units of 2^-24.",
     "exp2(x * 1.442695f): 2", number<&Numerics::exponent_error>, read_number<&Numerics::exponent_error>,
     omit<&Numerics::exponent_error>},
    {"quotient_error",
     "Relative error of the quotient of a sigmoid, of softmax, of attention's output, and of a norm's 1 / root, in units of "
     "2^-24; 1 is a division.",
     "a * rcp(b)", number<&Numerics::quotient_error>, read_number<&Numerics::quotient_error>, omit<&Numerics::quotient_error>},
    {"root_error",
     "Relative error of a norm's square root, in units of 2^-24; 1 is sqrtf. An approximate rsqrt declares its own.", "rsqrtf(v)",
     number<&Numerics::root_error>, read_number<&Numerics::root_error>, omit<&Numerics::root_error>},
    {"cancelling_gelu", "GELU is computed as x/2 (1 + tanh) or x/2 (1 + erf), which cancels for negative x.",
     "0.5f * x * (1 + tanhf(v))", flag<&Numerics::cancelling_gelu>, read_flag<&Numerics::cancelling_gelu>,
     omit<&Numerics::cancelling_gelu>},
    {"tanh_sigmoid", "A sigmoid is computed as (1 + tanh(x/2)) / 2, which cancels for negative x.",
     "0.5f * x * (1 + tanhf(0.5f * x))", flag<&Numerics::tanh_sigmoid>, read_flag<&Numerics::tanh_sigmoid>,
     omit<&Numerics::tanh_sigmoid>},
    {"fused_exponent",
     "exp(x - max), or of any difference, is taken by one FMA, so that the rounding of max log2(e) is an error of the exponent.",
     "exp2f(fmaf(x, log2e, -(max * log2e)))", flag<&Numerics::fused_exponent>, read_flag<&Numerics::fused_exponent>,
     omit<&Numerics::fused_exponent>},
    {"folded_affine", "LayerNorm folds gamma and beta into the norm.", "a = r * gamma, y = x * a + (beta - mean * a)",
     flag<&Numerics::folded_affine>, read_flag<&Numerics::folded_affine>, omit<&Numerics::folded_affine>},
    {"running_moments", "LayerNorm updates mean and variance value by value (Welford), in one chain.",
     "d = x - mean, mean += d / k, squares += d * (x - mean)", flag<&Numerics::running_moments>,
     read_flag<&Numerics::running_moments>, omit<&Numerics::running_moments>},
    {"rescales",
     "A+B: an online softmax multiplies a sum of n terms by exp(old maximum - new maximum) at most ceil(n/A) + B times.",
     "sum = sum * expf(old - max) + e",
     [](const Numerics& n) { return n.rescales.lanes ? chain_text(n.rescales) : std::string{}; },
     [](std::string_view text, Numerics& n) { return read_chain(text, n.rescales); }},
    {"flushes_subnormals", "Subnormal results of exp and the like become zero.", "ex2.approx.ftz.f32",
     flag<&Numerics::flushes_subnormals>, read_flag<&Numerics::flushes_subnormals>, omit<&Numerics::flushes_subnormals>},
    {"flushes_storage", "Inputs, outputs and partial sums in memory below 2^-126 become zero.",
     "atomicAdd of floats in global memory; a library that is compiled with -ftz=true", flag<&Numerics::flushes_storage>,
     read_flag<&Numerics::flushes_storage>, omit<&Numerics::flushes_storage>},
    {"angle_error", "Relative error of a rotary angle, in units of 2^-24, before its reduction modulo 2 pi.",
     "position * powf(base, -2 * i / dim)", number<&Numerics::angle_error>, read_number<&Numerics::angle_error>},
    {"reduced_angle_error", "Absolute error of the reduced angle, in units of 2^-24 radians.",
     "the angle reduced in f64, then rounded to f32", number<&Numerics::reduced_angle_error>,
     read_number<&Numerics::reduced_angle_error>},
    {"of_output", "Each step of a composite op has numerics of its own.", "KERNEL(transformer_layer)",
     [](const Numerics& n) { return n.of_output ? std::string(kYes) : std::string{}; },
     [](std::string_view, Numerics&) { return false; }},
};

}  // namespace

std::span<const NumericsWord> numerics_words() { return kWords; }

const NumericsWord& word_of(std::string_view text) {
  return *std::ranges::find(kWords, text.substr(0, text.find('=')), &NumericsWord::word);
}

std::string claims_too_much(const Numerics& n) {
  constexpr double kMost = 0.01, kUnit = 0x1p-24;
  constexpr std::pair<std::string_view, double Numerics::*> kErrors[] = {{"function_error", &Numerics::function_error},
                                                                         {"exponent_error", &Numerics::exponent_error},
                                                                         {"quotient_error", &Numerics::quotient_error},
                                                                         {"root_error", &Numerics::root_error}};
  for (const auto& [word, error] : kErrors)
    if (n.*error * kUnit > kMost) return fmt::format("{}={:g} ({:.0f} %)", word, n.*error, 100 * n.*error * kUnit);
  return {};
}

std::string text_of(const Numerics& n) {
  std::string text;
  for (const NumericsWord& w : kWords)
    if (const std::string value = w.value(n); !value.empty())
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", w.word, value == kYes ? "" : "=" + value);
  return text;
}

}  // namespace assay
