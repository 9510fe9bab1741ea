// SPDX-License-Identifier: Apache-2.0
// A thin layer over cuDNN's graph interface: owning descriptors, four-dimensional tensors, operations, plans.
#pragma once

#include <cudnn.h>

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/core/vendor/library.hpp"

namespace assay::vendor::cudnn {

#define ASSAY_FUNCTION(name) decltype(&::name) name = cudnn_library().function<std::remove_pointer_t<decltype(&::name)>>(#name)
struct Functions {
  ASSAY_FUNCTION(cudnnCreate);
  ASSAY_FUNCTION(cudnnSetStream);
  ASSAY_FUNCTION(cudnnGetVersion);
  ASSAY_FUNCTION(cudnnGetErrorString);
  ASSAY_FUNCTION(cudnnGetLastErrorString);
  ASSAY_FUNCTION(cudnnCreateTensorDescriptor);
  ASSAY_FUNCTION(cudnnDestroyTensorDescriptor);
  ASSAY_FUNCTION(cudnnSetTensor4dDescriptorEx);
  ASSAY_FUNCTION(cudnnSoftmaxForward);
  ASSAY_FUNCTION(cudnnBackendCreateDescriptor);
  ASSAY_FUNCTION(cudnnBackendDestroyDescriptor);
  ASSAY_FUNCTION(cudnnBackendSetAttribute);
  ASSAY_FUNCTION(cudnnBackendGetAttribute);
  ASSAY_FUNCTION(cudnnBackendFinalize);
  ASSAY_FUNCTION(cudnnBackendExecute);
};
#undef ASSAY_FUNCTION
const Functions& api();

void check(cudnnStatus_t status, const char* what);  // throws std::runtime_error with the library's message
cudnnHandle_t handle();                              // of this process, on its first device

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(api().cudnnBackendCreateDescriptor(type, &raw_), "cudnnBackendCreateDescriptor");
  }
  ~Descriptor() {
    if (raw_) api().cudnnBackendDestroyDescriptor(raw_);
  }
  Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }

  cudnnBackendDescriptor_t raw() const { return raw_; }
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& d) { set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, d.raw_); }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
    check(api().cudnnBackendSetAttribute(raw_, name, type, count, values), "cudnnBackendSetAttribute");
  }
  void finalize(const char* what) { check(api().cudnnBackendFinalize(raw_), what); }

 private:
  cudnnBackendDescriptor_t raw_ = nullptr;
};

using Four = std::array<std::int64_t, 4>;
constexpr Four packed(const Four& shape) { return {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1}; }

// An execution plan and the engine that it was made from.
struct Plan {
  Descriptor engine, execution;
  std::int64_t workspace_bytes = 0;
};

class Graph {
 public:
  enum class Kind { memory, on_chip, by_value };  // by_value: one element, whose host address is given at execution

  // Adds a tensor and returns its id.
  std::int64_t tensor(cudnnDataType_t type, const Four& shape, const Four& stride, Kind kind);
  std::int64_t on_chip(cudnnDataType_t type, const Four& shape) { return tensor(type, shape, packed(shape), Kind::on_chip); }
  std::int64_t by_value(cudnnDataType_t type) { return tensor(type, {1, 1, 1, 1}, {1, 1, 1, 1}, Kind::by_value); }

  void matmul(std::int64_t a, std::int64_t b, std::int64_t c);
  void reduce(cudnnReduceTensorOp_t op, std::int64_t x, std::int64_t y);
  void reshape(std::int64_t x, std::int64_t y);  // the same elements with y's shape and strides
  // y = mode(x), mode(x, b), or t ? x : b.  `axis`: the axis of CUDNN_POINTWISE_GEN_INDEX.
  struct Inputs {
    std::int64_t x, b = -1, t = -1;
  };
  void pointwise(cudnnPointwiseMode_t mode, Inputs in, std::int64_t y, cudnnDataType_t compute = CUDNN_DATA_FLOAT,
                 std::int64_t axis = -1);

  // Returns those plans of the library's heuristics that can be made, the best first, at most `most`; if none, sets `why`.
  // They are for this device, or for `described_device` if given.
  std::vector<Plan> plans(std::size_t most, std::string& why, const Descriptor* described_device = nullptr);

 private:
  const Descriptor& of(std::int64_t id) const { return tensors_[static_cast<std::size_t>(id)]; }
  std::vector<Descriptor> tensors_, inner_, operations_;
  std::vector<Descriptor> graph_;  // filled by plans()
};

// Runs a plan.  `pointers`, in the order of `ids`: addresses of tensors in device memory, and of values on the host.
void execute(const Plan& plan, const std::vector<std::int64_t>& ids, const std::vector<void*>& pointers, void* workspace,
             void* stream);

}  // namespace assay::vendor::cudnn
