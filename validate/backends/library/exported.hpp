// SPDX-License-Identifier: Apache-2.0
// Kernels of the device layer as a plugin (include/assay.h): a shared object that holds them serves every program that speaks
// the C interface, such as python/assay/torch.py.
#pragma once

#include <algorithm>
#include <deque>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "include/assay.h"
#include "ops/core/linked.hpp"
#include "validate/cases/op_shape.hpp"
#include "validate/problem/numerics/numerics_text.hpp"

#ifdef ASSAY_GPU
#include <cuda_runtime.h>
#endif

namespace assay::exported {

// Binds an op's arguments to those of a call, by name.
struct Bind {
  const AssayCall* call;
  void tensor(std::string_view name, Tensor& t) const {
    const AssayDLTensor* from = assay_tensor(call, std::string(name).c_str());
    if (!from) return;
    t.data = from->data;
    t.rank = from->ndim;
    t.dtype = dtype_of_dlpack(from->dtype_code, from->dtype_bits).value_or(t.dtype);
    for (int i = 0; i < t.rank; ++i) {
      t.shape[i] = from->shape[i];
      t.stride[i] = from->strides[i];
    }
  }
  void input(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void weight(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void output(std::string_view name, Tensor& t, AxisList, TensorOptions = {}) const { tensor(name, t); }
  void attribute(std::string_view name, double& value, double) const {
    value = assay_attribute(call, std::string(name).c_str())->number;
  }
  template <class T>
  void choice(std::string_view name, T& value, Words words) const {
    int i = 0;
    for (const std::string_view word : words) {
      if (word == assay_attribute(call, std::string(name).c_str())->word) value = static_cast<T>(i);
      ++i;
    }
  }
};

// What legal() may read without the device: tables of integers are all 0, which is legal wherever their shapes are, and tables in
// a dtype of their own (rope's frequencies) have no data, so that they are not looked at.  Starts of sequences, which must rise,
// are left out together with the choice that they come with, so that only their merged axes are looked at.
struct WithoutTables {
  std::string_view left_out{};
  std::string_view not_merged{};  // a tensor whose first two axes have no common stride, which the choice asks of it
  bool is_left_out = false;
  void tensor(std::string_view name, Tensor& t, AxisList shape, const TensorOptions& o) {
    static std::int32_t zeros[2] = {};
    const bool has_end = std::any_of(shape.begin(), shape.end(), [](const Extent& e) { return e.more != 0; });
    if (t.rank && has_end) {
      t = Tensor{};
      left_out = o.present_if;
      is_left_out = true;
    }
    if (t.rank && o.dtype && is_index(*o.dtype)) {
      t.data = zeros;
      t.stride.fill(0);
    }
    if (t.rank && o.dtype && !is_index(*o.dtype)) t.data = nullptr;
    if (t.rank && !o.merged_if.empty() && t.shape[0] > 1 && t.stride[0] != t.shape[1] * t.stride[1]) not_merged = name;
  }
  void input(std::string_view n, Tensor& t, AxisList a, TensorOptions o = {}) { tensor(n, t, a, o); }
  void weight(std::string_view n, Tensor& t, AxisList a, TensorOptions o = {}) { tensor(n, t, a, o); }
  void output(std::string_view n, Tensor& t, AxisList a, TensorOptions o = {}) { tensor(n, t, a, o); }
  void attribute(std::string_view, double&, double) {}
  template <class T>
  void choice(std::string_view name, T& value, Words) {
    if (is_left_out && name == left_out) value = T{};
  }
};

template <class Op>
Legality legal_but_for_integers(typename Op::Args a) {
  WithoutTables without;
  Op::bind(a, without);
  if (without.is_left_out && !without.not_merged.empty())
    return Legality::no(std::string(without.not_merged) + " must have one stride over batch and seq");
  if constexpr (requires { Op::legal(a); }) return Op::legal(a);
  else return Legality::yes();
}

#ifdef ASSAY_GPU
// The sm_ number of the current device; 0 if it cannot be asked.
inline int device_arch() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
    return 0;
  return 10 * major + minor;
}
#else
inline int device_arch() { return std::numeric_limits<int>::max(); }
#endif

// Why the last launch of this thread failed.
inline std::string& last_error() {
  thread_local std::string why;
  return why;
}

// The functions of an AssayKernel whose `user` is a LinkedKernel<Op>.  No exception leaves them, since C has none.
template <class Op>
struct Exported {
  static const LinkedKernel<Op>& kernel(const AssayCall* call) {
    return *static_cast<const LinkedKernel<Op>*>(call->kernel->user);
  }
  static typename Op::Args args(const AssayCall* call) {
    typename Op::Args a;
    Op::bind(a, Bind{call});
    return a;
  }
  static std::string refusal(const AssayCall* call) {
    const typename Op::Args a = args(call);
    const KernelTraits<Op>& traits = kernel(call).traits;
    const int arch = device_arch();
    if (arch == 0) return "there is no GPU";
    if (traits.min_arch > arch || (traits.only_arch != 0 && traits.only_arch != arch))
      return "needs sm_" + std::to_string(std::max(traits.min_arch, traits.only_arch)) + (traits.only_arch ? " alone" : "");
    bool takes = false;
    for (const DType t : kActivationDTypes) takes |= traits.dtypes.has(t) && name(t) == call->dtype;
    if (!takes) return "does not take " + std::string(call->dtype);
    if (const Legality legal = legal_but_for_integers<Op>(a); !legal) return legal.why;
    const Legality takes_these = kernel(call).supports(&a);
    return takes_these ? std::string() : takes_these.why;
  }
  static const char* supports(const AssayCall* call) {
    thread_local std::string why;
    try {
      why = refusal(call);
    } catch (const std::exception& e) {
      why = e.what();
    }
    return why.empty() ? nullptr : why.c_str();
  }
  static std::size_t workspace_bytes(const AssayCall* call) {
    const typename Op::Args a = args(call);
    return kernel(call).workspace_bytes(&a);
  }
  static int run(const AssayCall* call) {
    try {
      const typename Op::Args a = args(call);
      kernel(call).run(&a, {.stream = call->stream, .workspace = call->workspace});
      return 0;
    } catch (const std::exception& e) {
      last_error() = e.what();
      return 1;
    }
  }
};

// The kernels of a shared object, in the order in which they are added.
class Kernels {
 public:
  // `name`: if not that of the kernel's file.
  template <class Op>
  void add(const LinkedKernel<Op>& kernel, std::string_view about, std::string_view name_of_it = {}) {
    const KernelTraits<Op>& traits = kernel.traits;
    std::string dtypes, tiles;
    const auto add_word = [](std::string& to, const std::string& word) { to += (to.empty() ? "" : " ") + word; };
    for (const DType t : kActivationDTypes)
      if (traits.dtypes.has(t)) add_word(dtypes, std::string(name(t)));
    for (const Tile& t : traits.tiles)
      if (t.bytes_or_extent)
        add_word(tiles, std::string(t.axis.name) + "=" + std::to_string(t.bytes_or_extent) + (t.of_bytes ? "B" : ""));
    const unsigned flags = (traits.deterministic ? 0 : ASSAY_NONDETERMINISTIC) |
                           (traits.finite_inputs ? ASSAY_FINITE_INPUTS : 0) |
                           (traits.position_matters ? ASSAY_POSITION_MATTERS : 0);
    using Of = Exported<Op>;
    kernels_.push_back({sizeof(AssayKernel), kept(kernel.op), kept(name_of_it.empty() ? stem(kernel.file) : name_of_it),
                        kept(dtypes), kept(text_of(traits.numerics)), kept(tiles), kept(about), flags,
                        const_cast<LinkedKernel<Op>*>(&kernel), Of::supports, Of::workspace_bytes, Of::run});
  }
  // The first `count` kernels, or all.
  const AssayPlugin* plugin(std::size_t count = std::numeric_limits<std::size_t>::max()) {
    count = std::min(count, kernels_.size());
    std::vector<const AssayKernel*>& list = lists_.emplace_back();
    for (std::size_t i = 0; i < count; ++i) list.push_back(&kernels_[i]);
    return &plugins_.emplace_back(
        AssayPlugin{sizeof(AssayPlugin), ASSAY_ABI_VERSION, static_cast<std::int32_t>(count), list.data()});
  }
  std::size_t size() const { return kernels_.size(); }

 private:
  const char* kept(std::string_view text) { return texts_.emplace_back(text).c_str(); }
  // Note: no element of a deque moves when another is added behind it.
  std::deque<std::string> texts_;
  std::deque<AssayKernel> kernels_;
  std::deque<std::vector<const AssayKernel*>> lists_;
  std::deque<AssayPlugin> plugins_;
};

}  // namespace assay::exported
