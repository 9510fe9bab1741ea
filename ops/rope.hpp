// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding:  pairs (a, b) of channels of q and k become (a cos t - b sin t, a sin t + b cos t),
//                             t = position * f, f = base^(-2i/rotary_dim) or frequencies[i] for pair i
//
// Su et al. 2021, arXiv 2104.09864, eq. 34.  half: pair i is channels i and i + rotary_dim/2 (GPT-NeoX, Llama in Hugging Face
// form); interleaved: 2i and 2i + 1 (GPT-J).  Channels from rotary_dim on are copied.  position = offset + positions[b,s], or
// offset + s.  rotary_dim 0 means head_dim rounded down to even; base 0 means 10,000.  A NaN or inf affects its own pair.
// A table of frequencies gives scaled ones, as Llama 3.1 has; base is then not read.  It has head_dim elements, because no axis
// counts pairs.  Elements from rotary_dim/2 on are not read, but are between 0 and 1 too.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct rope {
  enum class Layout { half, interleaved };

  struct Args {
    Tensor q;            // [batch, seq_q, heads, head_dim]
    Tensor k;            // [batch, seq_q, kv_heads, head_dim]
    Tensor positions;    // [batch, seq_q], i32; absent: 0, 1, 2, ...
    Tensor frequencies;  // [head_dim], f32, radians a position; absent: by base
    Tensor q_out;        // shape of q, written; in place: the memory of q
    Tensor k_out;        // shape of k, written; in place: the memory of k
    bool explicit_positions = false;
    Layout layout = Layout::half;
    bool in_place = false;
    bool given_frequencies = false;
    double rotary_dim = 0, base = 10000, offset = 0;

    std::int64_t rotary() const { return rotary_dim == 0 ? q.shape[3] / 2 * 2 : static_cast<std::int64_t>(rotary_dim); }
    double base_used() const { return base == 0 ? 10000 : base; }
    // For channel d < rotary(): the index of its pair, and the other channel of the pair.
    std::int64_t pair(std::int64_t d) const { return layout == Layout::interleaved ? d / 2 : d % (rotary() / 2); }
    std::int64_t partner(std::int64_t d) const {
      const std::int64_t half = rotary() / 2;
      return layout == Layout::interleaved ? d ^ 1 : d < half ? d + half : d - half;
    }
    bool first_of_pair(std::int64_t d) const { return partner(d) > d; }
    // The position of token b * seq_q + s; positions must be in host memory.
    double position(std::int64_t token) const {
      return offset + (positions.data ? positions.at(token) : static_cast<double>(token % q.shape[1]));
    }
  };

  // f32 holds every position.  cuda/core/rotation.cuh derives its error of an angle for exponents log2(base) of at most 60, and
  // for frequencies of at most 1, as those by base are.
  static constexpr double kMostPosition = 0x1p24, kMostBase = 0x1p60;
  static constexpr AxisUse axes[] = {
      {Axis::batch, 0}, {Axis::seq_q, 0}, {Axis::heads, 1}, {Axis::kv_heads, 1}, {Axis::head_dim, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("q", a.q, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim});
    v.input("k", a.k, {Axis::batch, Axis::seq_q, Axis::kv_heads, Axis::head_dim});
    v.input("positions", a.positions, {Axis::batch, Axis::seq_q},
            {.dtype = i32, .present_if = "positions", .holds = positions_of_tokens()});
    v.input("frequencies", a.frequencies, {Axis::head_dim}, {.dtype = f32, .present_if = "frequencies", .holds = between(0, 1)});
    v.output("q_out", a.q_out, {Axis::batch, Axis::seq_q, Axis::heads, Axis::head_dim},
             {.in_place_of = "q", .in_place_if = "in_place"});
    v.output("k_out", a.k_out, {Axis::batch, Axis::seq_q, Axis::kv_heads, Axis::head_dim},
             {.in_place_of = "k", .in_place_if = "in_place"});
    v.choice("positions", a.explicit_positions, {"consecutive", "explicit"});
    v.choice("layout_of_pairs", a.layout, {"half", "interleaved"});
    v.choice("in_place", a.in_place, {"no", "yes"});
    v.choice("frequencies", a.given_frequencies, {"by_base", "given"});
    v.attribute("rotary_dim", a.rotary_dim, 0);
    v.attribute("base", a.base, 10000);
    v.attribute("offset", a.offset, 0);
  }

  // Reads positions, which are in host memory.
  static Legality legal(const Args& a) {
    const double dim = static_cast<double>(a.q.shape[3]);
    if (a.q.shape[2] % a.k.shape[2]) return Legality::no("heads must be a multiple of kv_heads");
    if (!(a.rotary_dim >= 0 && a.rotary_dim <= dim) || std::fmod(a.rotary_dim, 2) != 0)
      return Legality::no("rotary_dim must be even and no more than head_dim");
    if (a.base != 0 && !(a.base >= 1 && a.base <= kMostBase)) return Legality::no("base must be 0 or between 1 and 2^60");
    if (std::floor(a.offset) != a.offset) return Legality::no("offset must be a whole number");
    for (std::int64_t token = 0; token < a.q.shape[0] * a.q.shape[1]; ++token)
      if (const double p = a.position(token); !(p >= 0 && p <= kMostPosition))
        return Legality::no("the position of token " + std::to_string(token) + " is not one of 0 ... 2^24");
    return Legality::yes();
  }

  // The row of q_out that an element belongs to.  For k: the row of the first query head of its group.
  static std::int64_t row_of(const Args& a, int output, std::int64_t i) {
    const std::int64_t heads = a.q.shape[2], kv_heads = a.k.shape[2], row = i / a.q.shape[3];
    return output == 0 ? row : row / kv_heads * heads + row % kv_heads * (heads / kv_heads);
  }

  // Reads q, k, positions and frequencies, writes both outputs; 3 operations per element.  Unfused, x cos + rotate(x) sin takes
  // four kernels: x cos, rotate(x) and its product with sin read and write one tensor each, the sum reads two and writes one.
  static Cost cost(const Args& a) {
    const double matrices = static_cast<double>(a.q.bytes() + a.k.bytes());
    const double ids = (a.explicit_positions ? static_cast<double>(a.positions.bytes()) : 0) +
                       (a.given_frequencies ? static_cast<double>(a.rotary() / 2 * size_of(f32)) : 0);
    return {.flops = 3.0 * static_cast<double>(a.q.size() + a.k.size()),
            .bytes_read = matrices + ids,
            .bytes_written = matrices,
            .unfused_bytes = 9 * matrices + ids};
  }
};

}  // namespace assay
