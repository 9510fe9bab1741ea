// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/vendor/cudnn_graph.hpp"

#include <stdexcept>

namespace assay::vendor::cudnn {

const Functions& api() {
  static const Functions functions;
  return functions;
}

void check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char said[512] = "";
  api().cudnnGetLastErrorString(said, sizeof said);
  throw std::runtime_error(std::string(what) + ": " + api().cudnnGetErrorString(status) +
                           (*said ? " (" + std::string(said) + ")" : ""));
}

cudnnHandle_t handle() {
  static const cudnnHandle_t made = [] {
    cudnnHandle_t h = nullptr;
    check(api().cudnnCreate(&h), "cudnnCreate");
    return h;
  }();
  return made;
}

std::int64_t Graph::tensor(cudnnDataType_t type, const Four& shape, const Four& stride, Kind kind) {
  constexpr std::int64_t kAlignment = 16;
  const auto id = static_cast<std::int64_t>(tensors_.size());
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, shape.data());
  d.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, stride.data());
  d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment);
  d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, kind == Kind::on_chip);
  d.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, kind == Kind::by_value);
  d.finalize("tensor");
  tensors_.push_back(std::move(d));
  return id;
}

void Graph::matmul(std::int64_t a, std::int64_t b, std::int64_t c) {
  Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.finalize("matmul");
  op.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, of(a));
  op.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, of(b));
  op.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, of(c));
  op.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
  op.finalize("operation matmul");
  inner_.push_back(std::move(how));
  operations_.push_back(std::move(op));
}

void Graph::reduce(cudnnReduceTensorOp_t operation, std::int64_t x, std::int64_t y) {
  Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, operation);
  how.finalize("reduction");
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of(x));
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of(y));
  op.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
  op.finalize("operation reduction");
  inner_.push_back(std::move(how));
  operations_.push_back(std::move(op));
}

void Graph::reshape(std::int64_t x, std::int64_t y) {
  Descriptor op(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, of(x));
  op.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, of(y));
  op.finalize("operation reshape");
  operations_.push_back(std::move(op));
}

void Graph::pointwise(cudnnPointwiseMode_t mode, Inputs in, std::int64_t y, cudnnDataType_t compute, std::int64_t axis) {
  Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  how.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, compute);
  if (axis >= 0) how.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, axis);
  how.finalize("pointwise");
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of(in.x));
  if (in.b >= 0) op.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of(in.b));
  if (in.t >= 0) op.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, of(in.t));
  op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of(y));
  op.finalize("operation pointwise");
  inner_.push_back(std::move(how));
  operations_.push_back(std::move(op));
}

std::vector<Plan> Graph::plans(std::size_t most, std::string& why, const Descriptor* described_device) {
  // Note: the names are deprecated since 9.8, but these attributes still bind a plan to the device that will run it.
  constexpr auto kGraphHandle = static_cast<cudnnBackendAttributeName_t>(800),
                 kPlanHandle = static_cast<cudnnBackendAttributeName_t>(400);
  std::vector<Plan> made;
  try {
    std::vector<cudnnBackendDescriptor_t> operations;
    for (const Descriptor& op : operations_) operations.push_back(op.raw());
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR), heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    if (!described_device) graph.set(kGraphHandle, CUDNN_TYPE_HANDLE, handle());
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(operations.size()),
              operations.data());
    graph.finalize("operation graph");
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
    if (described_device) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *described_device);
    heuristics.finalize("engine heuristics");
    graph_.push_back(std::move(graph));

    constexpr std::int64_t kMostEngines = 16;
    std::vector<Descriptor> engines;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (std::int64_t i = 0; i < kMostEngines; ++i) raw.push_back(engines.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).raw());
    std::int64_t proposed = 0;
    check(api().cudnnBackendGetAttribute(heuristics.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                         kMostEngines, &proposed, raw.data()),
          "engine heuristics' results");
    if (proposed == 0) why = "cuDNN proposes no engine";
    for (std::int64_t i = 0; i < std::min(proposed, kMostEngines) && made.size() < most; ++i) {
      try {
        Descriptor& engine = engines[static_cast<std::size_t>(i)];
        Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        if (described_device) plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *described_device);
        else plan.set(kPlanHandle, CUDNN_TYPE_HANDLE, handle());
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
        plan.finalize("execution plan");
        std::int64_t bytes = 0, count = 0;
        check(api().cudnnBackendGetAttribute(plan.raw(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count,
                                             &bytes),
              "workspace of a plan");
        made.push_back({std::move(engine), std::move(plan), bytes});
      } catch (const std::runtime_error& e) {
        why = e.what();
      }
    }
  } catch (const std::runtime_error& e) {
    why = e.what();
  }
  return made;
}

void execute(const Plan& plan, const std::vector<std::int64_t>& ids, const std::vector<void*>& pointers, void* workspace,
             void* stream) {
  check(api().cudnnSetStream(handle(), static_cast<cudaStream_t>(stream)), "cudnnSetStream");
  const auto count = static_cast<std::int64_t>(ids.size());
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, pointers.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  pack.finalize("variant pack");
  check(api().cudnnBackendExecute(handle(), plan.execution.raw(), pack.raw()), "cudnnBackendExecute");
}

}  // namespace assay::vendor::cudnn
