// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and mma: the operands of 32 lanes are gathered and given to the machine's own tensor cores.
#include "device_hopper.hpp"
#include "device_mma.hpp"
#include "memory.hpp"
#include "mma.hpp"

namespace simt::ptx {

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Lane>
void give(Lane (&lanes)[kLanes], void (*run)(detail::WarpWork* const*)) {
  detail::WarpWork* all[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) all[i] = &lanes[i].work;
  run(all);
}

template <int N, bool Trans>
void load_matrix(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  detail::MatrixLane lanes[kLanes];
  u32 words[kLanes][4];
  for (unsigned i = 0; i < kLanes; ++i) {
    become(w, i);
    detail::running_thread->where = o.where;
    if (i < 8 * N) detail::check_matrix_row(reinterpret_cast<const void*>(at[i]), o.where);
    lanes[i] = {{}, words[i], reinterpret_cast<const void*>(at[i])};
  }
  give(lanes, detail::run_ldmatrix<N, Trans>);
  for (int k = 0; k < N; ++k) {
    auto* d = w.at<u32>(w.program->lists[o.list + 1 + static_cast<unsigned>(k)]);
    for (unsigned i = 0; i < kLanes; ++i) d[i] = words[i][k];
  }
}
template <int N, bool Trans>
void store_matrix(Warp& w, const Op& o) {
  u64 at[kLanes];
  addresses(w, o, at);
  detail::StoreLane lanes[kLanes];
  u32 words[kLanes][4];
  for (int k = 0; k < N; ++k) {
    const auto* d = w.at<u32>(w.program->lists[o.list + 1 + static_cast<unsigned>(k)]);
    // Note: a lane's word holds two neighbours of a row; transposed, the halves of column i lie in words of 8 lanes.
    const auto half = [&](unsigned row, unsigned column) { return d[row * 4 + column / 2] >> 16 * (column % 2) & 0xffffu; };
    for (unsigned i = 0; i < kLanes; ++i)
      words[i][k] = Trans ? half(2 * (i % 4), i / 4) | half(2 * (i % 4) + 1, i / 4) << 16 : d[i];
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    become(w, i);
    if (i < 8 * N) detail::access<16, detail::Access::write>(reinterpret_cast<void*>(at[i]), o.where);
    lanes[i] = {{}, words[i], reinterpret_cast<void*>(at[i])};
  }
  give(lanes, detail::run_stmatrix<N>);
}

// The list holds the lanes' mask, then d (4), a (K / 4), b (K / 8) and c (4).
template <bool Half, int K>
void multiply_add(Warp& w, const Op& o) {
  const Place* const p = w.program->lists.data() + o.list + 1;
  detail::MmaLane lanes[kLanes];
  u32 a[kLanes][K / 4], b[kLanes][K / 8];
  float c[kLanes][4];
  for (int k = 0; k < K / 4; ++k)
    for (unsigned i = 0; i < kLanes; ++i) a[i][k] = w.at<u32>(p[4 + k])[i];
  for (int k = 0; k < K / 8; ++k)
    for (unsigned i = 0; i < kLanes; ++i) b[i][k] = w.at<u32>(p[4 + K / 4 + k])[i];
  for (int k = 0; k < 4; ++k)
    for (unsigned i = 0; i < kLanes; ++i) c[i][k] = w.at<float>(p[4 + K / 4 + K / 8 + k])[i];
  for (unsigned i = 0; i < kLanes; ++i) lanes[i] = {{}, c[i], a[i], b[i]};
  give(lanes, detail::run_mma<Half, K>);
  for (int k = 0; k < 4; ++k)
    for (unsigned i = 0; i < kLanes; ++i) w.at<float>(p[k])[i] = c[i][k];
}

// m16n8k8 of tf32: a[i] holds row g + 8 (i % 2) and k = t + 4 (i / 2), b[i] k = t + 4 i and column g.
void multiply_add_tf32(Warp& w, const Op& o) {
  const Place* const p = w.program->lists.data() + o.list + 1;
  u32 a[16 * 8], b[8 * 8];
  float c[16 * 8];
  for (unsigned i = 0; i < kLanes; ++i) {
    const unsigned g = i / 4, t = i % 4;
    for (unsigned k = 0; k < 4; ++k) a[(g + 8 * (k % 2)) * 8 + t + 4 * (k / 2)] = w.at<u32>(p[4 + k])[i];
    for (unsigned k = 0; k < 2; ++k) b[g * 8 + t + 4 * k] = w.at<u32>(p[8 + k])[i];
    for (unsigned k = 0; k < 4; ++k) c[(g + 8 * (k / 2)) * 8 + 2 * t + k % 2] = w.at<float>(p[10 + k])[i];
  }
  detail::multiply_tf32(a, b, c, 16, 8);
  for (unsigned i = 0; i < kLanes; ++i)
    for (unsigned k = 0; k < 4; ++k) w.at<float>(p[k])[i] = c[(i / 4 + 8 * (k / 2)) * 8 + 2 * (i % 4) + k % 2];
}

void decode_rows(Decoder& d, bool stores) {
  const bool right =
      d.take("sync") && d.take("aligned") && d.take("m8n8") && d.take("b16") && (d.take("shared") || d.take("shared::cta"));
  const int count = d.take_one({"x1", "x2", "x4"});
  const bool trans = d.take("trans");
  if (!right || count < 0) d.refuse("is not run in this form");
  d.operands(2);
  if (stores && trans) d.op.run = count == 0 ? store_matrix<1, true> : count == 1 ? store_matrix<2, true> : store_matrix<4, true>;
  else if (stores) d.op.run = count == 0 ? store_matrix<1, false> : count == 1 ? store_matrix<2, false> : store_matrix<4, false>;
  else if (trans) d.op.run = count == 0 ? load_matrix<1, true> : count == 1 ? load_matrix<2, true> : load_matrix<4, true>;
  else d.op.run = count == 0 ? load_matrix<1, false> : count == 1 ? load_matrix<2, false> : load_matrix<4, false>;
  const Operand& rows = d.operand(stores ? 1 : 0);
  const unsigned n = 1u << count;
  if (rows.kind != Operand::Kind::vector || rows.count != n) d.refuse("names another number of registers than of matrices");
  decode_address_of(d, d.operand(stores ? 0 : 1), Space::shared);
  d.op.flow = Flow::together;
  d.no_list();
  for (unsigned k = 0; k < n; ++k)
    if (stores) d.in_list(d.part(rows, k), Type::b32);
    else d.out_list(d.part(rows, k), Type::b32);
  d.emit();
}

void decode_product(Decoder& d) {
  const bool right = d.take("sync") && d.take("aligned") && d.take("row") && d.take("col");
  const int shape = d.take_one({"m16n8k16", "m16n8k8"});
  const std::vector<std::string_view> types = d.words;
  d.words.clear();
  if (!right || shape < 0 || types.size() != 4 || types[0] != "f32" || types[3] != "f32" || types[1] != types[2])
    d.refuse("is not run in this form");
  const bool half = types[1] == "f16", tf32 = types[1] == "tf32" && shape == 1;
  if (!half && !tf32 && types[1] != "bf16") d.refuse("is not run for this type");
  if (tf32) d.op.run = multiply_add_tf32;
  else if (shape == 0) d.op.run = half ? multiply_add<true, 16> : multiply_add<false, 16>;
  else d.op.run = half ? multiply_add<true, 8> : multiply_add<false, 8>;
  const unsigned of_a = shape == 0 || tf32 ? 4 : 2, counts[] = {4, of_a, of_a / 2, 4};
  d.operands(4);
  d.op.flow = Flow::together;
  d.no_list();
  for (std::size_t k = 0; k < 4; ++k) {
    const Operand& v = d.operand(k);
    if (v.kind != Operand::Kind::vector || v.count != counts[k]) d.refuse("has a fragment of another size than its shape");
    const Type t = k == 0 || k == 3 ? Type::f32 : Type::b32;
    for (unsigned p = 0; p < v.count; ++p)
      if (k == 0) d.out_list(d.part(v, p), t);
      else d.in_list(d.part(v, p), t);
  }
  d.emit();
}

}  // namespace

void decode_matrix(Decoder& d) {
  if (d.base == "mma") return decode_product(d);
  decode_rows(d, d.base == "stmatrix");
}

}  // namespace simt::ptx
