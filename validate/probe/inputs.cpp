// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/core/dtype.hpp"
#include "validate/probe/probe.hpp"
#include "validate/values/random.hpp"

namespace assay {

namespace {

constexpr int kLanes = 32;

bool is_mma(Instruction i) { return i <= Instruction::mma_m16n8k8_bfloat16; }
bool is_matrix(Instruction i) { return i >= Instruction::ldmatrix_x1 && i <= Instruction::ldmatrix_trans_x4; }
bool is_copy(Instruction i) { return i >= Instruction::cp_async_4 && i <= Instruction::cp_async_16; }
bool is_pack(Instruction i) { return i == Instruction::pack_half || i == Instruction::pack_bfloat16; }
bool is_unpack(Instruction i) { return i == Instruction::unpack_half || i == Instruction::unpack_bfloat16; }
bool is_multiply(Instruction i) { return i == Instruction::multiply_packed_half || i == Instruction::multiply_packed_bfloat16; }
bool is_atomic(Instruction i) { return i == Instruction::atomic_add_global || i == Instruction::atomic_add_shared; }
bool gives_floats(Instruction i) {
  return is_mma(i) || is_wgmma(i) || is_unpack(i) || is_atomic(i) || i == Instruction::exp2_approx;
}
bool of_half(Instruction i) { return std::string_view(info(i).name).find("half") != std::string_view::npos; }

// An IEEE floating-point format, from which values are composed field by field.
struct Format {
  int fraction_bits;
  std::uint32_t bias;
  std::uint32_t special() const { return 2 * bias + 1; }  // the exponent field of infinity and NaN
  std::uint32_t mask() const { return (1u << fraction_bits) - 1; }
  std::uint32_t value(std::uint32_t sign, std::uint32_t field, std::uint32_t fraction) const {
    return ((sign & 1) * (special() + 1) + field) << fraction_bits | (fraction & mask());
  }
};
constexpr Format kHalf{10, 15}, kBfloat16{7, 127}, kFloat{23, 127};

// A value of class `c`, made from 64 random bits.
std::uint32_t value_of(const Format& f, std::string_view c, std::uint64_t r) {
  const bool wide = f.bias > 100 && c == "subnormal";
  const std::uint32_t spread = wide ? 50 : 13;  // number of exponents, centred on that of 1
  const auto fraction = static_cast<std::uint32_t>(r), sign = static_cast<std::uint32_t>(r >> 63);
  const auto pick = static_cast<std::uint32_t>(r >> 32 & 0x7fffffff);
  const std::uint32_t near_one = f.bias - spread / 2 + pick / 8 % spread;
  if (c == "any_bits") return f.value(sign, pick % (f.special() + 1), fraction);
  // Note: for bfloat16 and float only exponents whose products seldom overflow; any_bits has the others.
  if (c == "finite") return f.value(sign, f.bias > 100 ? 127 - 68 + pick % 133 : pick % f.special(), fraction);
  if (c == "cancelling") return f.value(sign, f.bias + pick % 2, fraction);
  if (c == "subnormal") return f.value(sign, pick % 4 == 0 ? near_one : pick % 8 == 1 ? 1 : 0, fraction);
  if (c == "zeros") return pick % 4 < 2 ? f.value(sign, 0, 0) : f.value(sign, near_one, pick % 4 == 2 ? 0 : fraction);
  return f.value(sign, near_one, fraction);
}

// A factor of a product.  In class "least" the exponents of products go from 2^-127 down to 2^-154, those of one instruction over
// 7 of them.
std::uint32_t factor_of(const Format& f, std::string_view c, std::uint64_t r, bool is_a, std::uint64_t instruction) {
  if (c != "least") return value_of(f, c, r);
  const auto pick = static_cast<std::uint32_t>(r >> 32 & 0x7fffffff), drop = static_cast<std::uint32_t>(3 * (instruction % 8));
  const std::uint32_t field = is_a ? f.bias - 2 - drop - pick % 6 : pick % 3;
  return f.value(static_cast<std::uint32_t>(r >> 63), field, static_cast<std::uint32_t>(r));
}

std::uint32_t mma_operand(const Format& f, std::string_view c, std::uint64_t key, std::uint64_t counter, bool is_a, bool minus,
                          std::uint64_t instruction) {
  const std::uint64_t r = random::bits(key, 2 * counter), s = random::bits(key, 2 * counter + 1);
  const std::uint32_t low = factor_of(f, c, r, is_a, instruction), word = low | factor_of(f, c, s, is_a, instruction) << 16;
  if (minus) return is_a ? word | 0x80008000u : word & 0x7fff7fffu;
  if (c != "cancelling") return word;
  // The pair's products have nearly the same size and opposite signs.
  const auto last_bits = static_cast<std::uint32_t>(s & 3 & s >> 2 & s >> 4);
  return low | (low ^ (is_a ? 0x8000u : 0u) ^ last_bits) << 16;
}

std::uint32_t accumulator(std::string_view c, std::uint64_t r, bool half, bool minus) {
  const auto pick = static_cast<std::uint32_t>(r >> 32 & 0x7fffffff), fraction = static_cast<std::uint32_t>(r);
  const auto sign = static_cast<std::uint32_t>(r >> 63);
  const auto above = [&](std::uint32_t least, std::uint32_t n) { return kFloat.value(sign, least + pick % n, fraction); };
  if (c == "any_bits") return above(0, 256);
  if (c == "finite") return half ? above(127 - 35, 71) : above(0, 255);
  if (c == "cancelling") return above(127 - 28, 30);
  if (minus) return 0x80000000u | (pick % 4 == 0 ? above(127, 2) : 0);
  if (c == "subnormal" && pick % 4 == 0) return kFloat.value(sign, 0, 0);
  if (c == "subnormal") return pick % 3 == 0 ? kFloat.value(sign, 0, fraction) : half ? above(127 - 48, 30) : above(0, 24);
  if (c == "zeros") return pick % 4 < 3 ? kFloat.value(sign, 0, 0) : above(127, 2);
  if (c == "least") return kFloat.value(sign, 0, pick % 4 == 0 ? fraction >> pick / 4 % 24 : 0);
  return above(127 - 13, 27);
}

// A float that an instruction will round to the 16-bit format `f`.
std::uint32_t to_be_rounded(const Format& f, std::string_view c, std::uint64_t r) {
  const int dropped = 23 - f.fraction_bits;
  const auto pick = static_cast<std::uint32_t>(r >> 32 & 0x7fffffff), fraction = static_cast<std::uint32_t>(r);
  const auto sign = static_cast<std::uint32_t>(r >> 63);
  if (c == "any_bits") return static_cast<std::uint32_t>(r);
  // For half the magnitudes go from 2^-22 to above its least normal number (class subnormal), else to beyond its largest.
  // Note: for bfloat16 `least` wraps around, so that its class subnormal has exponent field 254 alone.
  const std::uint32_t least = 127 - f.bias - static_cast<std::uint32_t>(std::min(f.fraction_bits, 7));
  const std::uint32_t range = c == "subnormal" ? static_cast<std::uint32_t>(f.fraction_bits) : 2 * f.bias + 8;
  const std::uint32_t v = kFloat.value(sign, std::min(least + pick % range, 254u), fraction);
  const std::uint32_t tail = (1u << (dropped - 1)) + (pick / 512 % 4 == 0 ? 1u : pick / 512 % 4 == 1 ? ~0u : 0u);
  return c == "ties" ? (v & ~((1u << dropped) - 1)) | tail : v;
}

// Two packed factors of a product.  In class "subnormal" their exponents add up to about that of the least normal number.
std::uint32_t factors(const Format& f, std::string_view c, std::uint64_t key, std::uint64_t counter, int which) {
  std::uint32_t word = 0;
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::uint64_t r = random::bits(key, 4 * counter + i), s = random::bits(key, 4 * counter + 2 + i);
    std::uint32_t value = value_of(f, c, which == 0 ? r : s);
    if (c == "subnormal") {
      const std::uint32_t first = static_cast<std::uint32_t>(r >> 40) % f.special();
      const auto wanted = static_cast<std::int32_t>(f.bias + 5) - static_cast<std::int32_t>(first) -
                          static_cast<std::int32_t>((s >> 40) % static_cast<std::uint64_t>(f.fraction_bits + 8));
      const auto second = static_cast<std::uint32_t>(std::clamp(wanted, 0, static_cast<std::int32_t>(f.special() - 1)));
      value = f.value(static_cast<std::uint32_t>((which == 0 ? r : s) >> 63), which == 0 ? first : second,
                      static_cast<std::uint32_t>(which == 0 ? r : s));
    }
    word |= value << 16 * i;
  }
  return word;
}

// Input word `w` of lane `lane`, which is counted over all instructions.
std::uint32_t input_word(Instruction i, std::string_view c, std::uint64_t key, std::uint64_t lane, int w) {
  const Format& f = of_half(i) ? kHalf : kBfloat16;
  const std::uint64_t counter = lane * static_cast<std::uint64_t>(info(i).words_in) + static_cast<std::uint64_t>(w);
  const std::uint64_t r = random::bits(key, counter);
  if (is_mma(i) || is_wgmma(i)) {
    const int of_a = is_wgmma(i) || info(i).words_in == 10 ? 4 : 2;
    const std::uint64_t instruction = lane / (is_wgmma(i) ? 4 * kLanes : kLanes);
    const bool is_a = w < of_a, minus = c == "zeros" && instruction % 2 != 0;  // minus: all products and c are negative
    if (w >= info(i).words_in - info(i).words_out) return accumulator(c, random::bits(key, 2 * counter), of_half(i), minus);
    if (i < Instruction::wgmma_tf32_n64) return mma_operand(f, c, key, counter, is_a, minus, instruction);
    const std::uint32_t value = factor_of(kFloat, c, random::bits(key, 2 * counter), is_a, instruction);
    return !minus ? value : is_a ? value | 0x80000000u : value & 0x7fffffffu;
  }
  if (is_matrix(i) && w == 4) return static_cast<std::uint32_t>(r % kLanes);
  if (is_copy(i) && w == 4) {
    const int bytes = 4 << (static_cast<int>(i) - static_cast<int>(Instruction::cp_async_4));
    return static_cast<std::uint32_t>(r % static_cast<std::uint64_t>(bytes + 1));
  }
  if (is_pack(i)) return to_be_rounded(f, c, r);
  if (is_unpack(i)) return static_cast<std::uint32_t>(2 * lane | (2 * lane + 1) << 16);
  if (is_multiply(i)) return factors(f, c, key, lane, w);
  // Terms and sums around the least normal number, whose exponent field is 1.
  if (is_atomic(i) && c == "subnormal")
    return kFloat.value(static_cast<std::uint32_t>(r >> 63), static_cast<std::uint32_t>(r >> 32) % 4,
                        static_cast<std::uint32_t>(r));
  if (i == Instruction::exp2_approx && c == "exponents")
    return std::bit_cast<std::uint32_t>(static_cast<float>(random::uniform(key, counter) * 280 - 150));
  return static_cast<std::uint32_t>(r);
}

}  // namespace

std::vector<ProbeClass> probe_classes(Instruction i) {
  if (is_mma(i) || is_wgmma(i)) {
    // Four of these counts make one instruction of a warpgroup, so 256 give 64 instructions of 64 × n results.
    const std::int64_t few = is_wgmma(i) ? 256 : 1024, some = is_wgmma(i) ? 1024 : 2048, many = is_wgmma(i) ? 1024 : 4096;
    std::vector<ProbeClass> all{{"any_bits", few},    {"finite", some},   {"moderate", many},
                                {"cancelling", many}, {"subnormal", few}, {"zeros", few}};
    if (!of_half(i)) all.push_back({"least", few});  // the least product of two halves is 2^-48
    return all;
  }
  if (is_pack(i)) return {{"any_bits", 512}, {"ties", 1024}, {"subnormal", 512}};
  if (is_unpack(i)) return {{"every", 1024}};
  if (is_multiply(i)) return {{"any_bits", 512}, {"moderate", 512}, {"subnormal", 1024}};
  if (is_atomic(i)) return {{"subnormal", 1024}};
  if (i == Instruction::exp2_approx) return {{"any_bits", 512}, {"exponents", 2048}};
  return {{"any_bits", 512}};
}

std::vector<std::uint32_t> probe_inputs(Instruction i, const ProbeClass& c) {
  const std::uint64_t key = random::key(kProbeSeed, random::hash(info(i).name) ^ random::hash(c.name), random::Purpose::value);
  std::vector<std::uint32_t> in;
  in.reserve(static_cast<std::size_t>(c.instructions * kLanes * info(i).words_in));
  for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(c.instructions * kLanes); ++lane)
    for (int w = 0; w < info(i).words_in; ++w) in.push_back(input_word(i, c.name, key, lane, w));
  return in;
}

double exp2_error(float x, float got) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(x) || std::isnan(got)) return std::isnan(x) && std::isnan(got) ? 0 : kWrong;
  if (got < 0) return kWrong;
  // Results beyond the largest number or below the least normal one count as equal to those limits.
  const double right = std::clamp(std::exp2(static_cast<double>(x)), 0x1p-126, 0x1p128);
  const double result = std::min(std::max(static_cast<double>(got), 0x1p-126), 0x1p128);
  const bool flushed = got == 0 || got >= 0x1p-126f;
  return flushed ? std::fabs(result - right) / right * 0x1p24 : kWrong;
}

std::string_view difference(Instruction i, std::uint32_t a, std::uint32_t b) {
  const auto is_nan = [](std::uint32_t u) { return (u & 0x7fffffffu) > 0x7f800000u; };
  if (!gives_floats(i)) return "bits";
  if (is_nan(a) && is_nan(b)) return "a NaN's payload";
  if (is_nan(a) || is_nan(b)) return "NaN or not";
  if (((a | b) & 0x7fffffffu) == 0) return "the sign of a zero";
  if ((a & 0x7fffffffu) == 0x7f800000u || (b & 0x7fffffffu) == 0x7f800000u) return "infinite or not";
  return "value";
}

std::string explain(Instruction i, const std::vector<std::uint32_t>& in, std::int64_t at) {
  const InstructionInfo& what = info(i);
  const std::int64_t lane = at / what.words_out % kLanes, first = at / what.words_out / kLanes * kLanes;
  const auto word = [&](std::int64_t of_lane, int w) {
    return in[static_cast<std::size_t>((first + of_lane) * what.words_in + w)];
  };
  if (is_wgmma(i)) return fmt::format("lane {} of its warp", lane);
  if (!is_mma(i)) {
    std::string text = fmt::format("lane {}:", lane);
    for (int w = 0; w < what.words_in; ++w) text += fmt::format(" {:08x}", word(lane, w));
    if (is_matrix(i)) text += "  (row addresses and their words lie in other lanes)";
    return text;
  }
  const int a_words = what.words_in == 10 ? 4 : 2, b_words = a_words / 2, c = static_cast<int>(at % 4);
  const auto m = lane / 4 + 8 * (c / 2), n = 2 * (lane % 4) + c % 2;
  const std::uint32_t c_bits = word(lane, a_words + b_words + c);
  std::string text = fmt::format("row {}, column {}: c {:08x} ({:a})", m, n, c_bits, std::bit_cast<float>(c_bits));
  for (int k = 0; k < 4 * a_words; ++k) {
    const std::uint32_t pair_a = word(4 * (m % 8) + k % 8 / 2, static_cast<int>(m / 8) + 2 * (k / 8));
    const std::uint32_t pair_b = word(4 * n + k % 8 / 2, a_words + k / 8);
    const auto value_text = [&](std::uint32_t pair) {
      const auto bits = static_cast<std::uint16_t>(pair >> 16 * (k % 2));
      return fmt::format("{:04x} ({:a})", bits, decode(of_half(i) ? f16 : bf16, &bits, 0));
    };
    text += fmt::format("\n      k {:2}: a {}, b {}", k, value_text(pair_a), value_text(pair_b));
  }
  return text;
}

}  // namespace assay
