// SPDX-License-Identifier: Apache-2.0
// The tables of the decoder: which family an opcode belongs to, and what a special register reads.
#include "decode.hpp"

namespace simt::ptx {

Family family(std::string_view base) {
  struct Known {
    std::string_view base;
    Family family;
  };
  static constexpr Known kKnown[] = {{"add", decode_arithmetic},
                                     {"sub", decode_arithmetic},
                                     {"mul", decode_arithmetic},
                                     {"mad", decode_arithmetic},
                                     {"fma", decode_arithmetic},
                                     {"div", decode_arithmetic},
                                     {"rem", decode_arithmetic},
                                     {"min", decode_arithmetic},
                                     {"max", decode_arithmetic},
                                     {"abs", decode_arithmetic},
                                     {"neg", decode_arithmetic},
                                     {"copysign", decode_arithmetic},
                                     {"addc", decode_carry},
                                     {"subc", decode_carry},
                                     {"madc", decode_carry},
                                     {"and", decode_bits},
                                     {"or", decode_bits},
                                     {"xor", decode_bits},
                                     {"not", decode_bits},
                                     {"cnot", decode_bits},
                                     {"shl", decode_bits},
                                     {"shr", decode_bits},
                                     {"shf", decode_bits},
                                     {"bfe", decode_bits},
                                     {"bfi", decode_bits},
                                     {"brev", decode_bits},
                                     {"clz", decode_bits},
                                     {"popc", decode_bits},
                                     {"bfind", decode_bits},
                                     {"bmsk", decode_bits},
                                     {"lop3", decode_bits},
                                     {"prmt", decode_bits},
                                     {"dp4a", decode_bits},
                                     {"rcp", decode_approximate},
                                     {"sqrt", decode_approximate},
                                     {"rsqrt", decode_approximate},
                                     {"ex2", decode_approximate},
                                     {"lg2", decode_approximate},
                                     {"sin", decode_approximate},
                                     {"cos", decode_approximate},
                                     {"tanh", decode_approximate},
                                     {"setp", decode_compare},
                                     {"selp", decode_select},
                                     {"mov", decode_move},
                                     {"cvt", decode_convert},
                                     {"cvta", decode_address},
                                     {"ld", decode_load},
                                     {"ldu", decode_load},
                                     {"st", decode_store},
                                     {"atom", decode_atomic},
                                     {"red", decode_atomic},
                                     {"cp", decode_copy},
                                     {"ldmatrix", decode_matrix},
                                     {"stmatrix", decode_matrix},
                                     {"mma", decode_matrix},
                                     {"mbarrier", decode_mbarrier},
                                     {"tensormap", decode_tensor_map},
                                     {"wgmma", decode_warpgroup},
                                     {"setmaxnreg", decode_warpgroup},
                                     {"shfl", decode_shuffle},
                                     {"vote", decode_vote},
                                     {"activemask", decode_vote},
                                     {"match", decode_vote},
                                     {"redux", decode_vote},
                                     {"elect", decode_vote},
                                     {"bar", decode_barrier},
                                     {"barrier", decode_barrier},
                                     {"bra", decode_flow},
                                     {"ret", decode_flow},
                                     {"exit", decode_flow},
                                     {"trap", decode_flow},
                                     {"membar", decode_nothing},
                                     {"fence", decode_nothing},
                                     {"prefetch", decode_nothing},
                                     {"prefetchu", decode_nothing},
                                     {"nanosleep", decode_nothing},
                                     {"pmevent", decode_nothing},
                                     {"griddepcontrol", decode_nothing}};
  for (const Known& k : kKnown)
    if (k.base == base) return k.family;
  return nullptr;
}

Place Decoder::special(const Operand& o, Type t) {
  struct Known {
    std::string_view name;
    Place place;
  };
  static constexpr Known kKnown[] = {{"%tid.x", kTidX},
                                     {"%tid.y", kTidY},
                                     {"%tid.z", kTidZ},
                                     {"%warpid", kWarpId},
                                     {"%laneid", constant_place(kLaneId)},
                                     {"%ntid.x", constant_place(kNTidX)},
                                     {"%ntid.y", constant_place(kNTidY)},
                                     {"%ntid.z", constant_place(kNTidZ)},
                                     {"%ctaid.x", constant_place(kCtaIdX)},
                                     {"%ctaid.y", constant_place(kCtaIdY)},
                                     {"%ctaid.z", constant_place(kCtaIdZ)},
                                     {"%nctaid.x", constant_place(kNCtaIdX)},
                                     {"%nctaid.y", constant_place(kNCtaIdY)},
                                     {"%nctaid.z", constant_place(kNCtaIdZ)},
                                     {"%dynamic_smem_size", constant_place(kDynamicShared)},
                                     {"%nwarpid", constant_place(kNWarpId)},
                                     {"%lanemask_eq", constant_place(kLaneMasks)},
                                     {"%lanemask_lt", constant_place(kLaneMasks + 1)},
                                     {"%lanemask_le", constant_place(kLaneMasks + 2)},
                                     {"%lanemask_gt", constant_place(kLaneMasks + 3)},
                                     {"%lanemask_ge", constant_place(kLaneMasks + 4)}};
  const std::string& name = m.names[o.id];
  if (name == "WARP_SZ") return constant(32, bits_of(t));
  // Note: clusters have one block here.
  if (name.starts_with("%cluster_ctaid") || name == "%cluster_ctarank" || name.starts_with("%clusterid"))
    return name.starts_with("%clusterid.") ? special_of_block(name.back()) : constant(0, 32);
  if (name.starts_with("%cluster_nctaid") || name == "%cluster_nctarank") return constant(1, 32);
  for (const Known& k : kKnown)
    if (k.name == name && bits_of(t) <= 32) return k.place;
  refuse("reads " + name + ", which the machine does not have");
}

Place Decoder::special_of_block(char axis) const {
  return constant_place(axis == 'x' ? kCtaIdX : axis == 'y' ? kCtaIdY : kCtaIdZ);
}

}  // namespace simt::ptx
