// SPDX-License-Identifier: Apache-2.0
// What a plugin gets: the layout of the C interface, and the arguments of an order.
#include "validate/worker/plugin.hpp"

#include <string>
#include <vector>

#include "catch_shim.hpp"

using namespace assay;

// Version 1, as compiled into plugins.  A change of these needs a new version.
static_assert(ASSAY_ABI_VERSION == 1);
static_assert(offsetof(AssayCall, kernel) == 8 && offsetof(AssayCall, dtype) == 16 && offsetof(AssayCall, tensor_count) == 24 &&
              offsetof(AssayCall, attribute_count) == 28 && offsetof(AssayCall, tensors) == 32 &&
              offsetof(AssayCall, attributes) == 40 && offsetof(AssayCall, stream) == 48 && offsetof(AssayCall, workspace) == 56);
static_assert(offsetof(AssayKernel, op) == 8 && offsetof(AssayKernel, name) == 16 && offsetof(AssayKernel, dtypes) == 24 &&
              offsetof(AssayKernel, numerics) == 32 && offsetof(AssayKernel, tiles) == 40 && offsetof(AssayKernel, about) == 48 &&
              offsetof(AssayKernel, flags) == 56 && offsetof(AssayKernel, user) == 64 && offsetof(AssayKernel, supports) == 72 &&
              offsetof(AssayKernel, workspace_bytes) == 80 && offsetof(AssayKernel, run) == 88);
static_assert(offsetof(AssayPlugin, abi_version) == 8 && offsetof(AssayPlugin, kernel_count) == 12 &&
              offsetof(AssayPlugin, kernels) == 16);
static_assert(offsetof(AssayTensor, name) == 8 && offsetof(AssayTensor, dl) == 16);
static_assert(offsetof(AssayAttribute, name) == 8 && offsetof(AssayAttribute, word) == 16 &&
              offsetof(AssayAttribute, number) == 24);
// DLPack's DLTensor.
static_assert(sizeof(AssayDLTensor) == 48 && offsetof(AssayDLTensor, device_type) == 8 && offsetof(AssayDLTensor, ndim) == 16 &&
              offsetof(AssayDLTensor, dtype_code) == 20 && offsetof(AssayDLTensor, dtype_lanes) == 22 &&
              offsetof(AssayDLTensor, shape) == 24 && offsetof(AssayDLTensor, strides) == 32 &&
              offsetof(AssayDLTensor, byte_offset) == 40);

namespace {

// The call that a plugin gets for a case, each tensor at an address of its own.
struct Called {
  explicit Called(const std::string& line) {
    std::vector<OpShape> shapes;
    for (const Op& known : ops()) shapes.push_back(known.shape());
    const Case c = parse_repro(line, shapes).what;
    op = find_op(c.op);
    packing = pack(*op, c);
    order = order_of(*op, c, packing, "mine");
    problem = op->make();
    for (std::size_t i = 0; i < op->tensors.size(); ++i) {
      *problem->tensors()[i] = packing.placements[i].tensor;
      problem->tensors()[i]->data = &places[i];
    }
    args.emplace(*op, kernel, order, problem->tensors(), 2);
  }
  const AssayCall& operator*() const { return args->call(); }

  Kernel kernel;
  const Op* op;
  Packing packing;
  Order order;
  std::unique_ptr<Problem> problem;
  char places[64] = {};
  std::optional<PluginCall> args;
};

}  // namespace

TEST_CASE("plugin: the tensors of a call have the places, shapes and strides of the case") {
  const Called made("softmax bf16 rows=3 cols=65 layout=padded seed=1");
  const AssayCall& call = *made;
  CHECK(call.size == sizeof(AssayCall));
  CHECK(call.dtype == std::string("bf16"));
  REQUIRE(call.tensor_count == 2);
  const AssayDLTensor *x = assay_tensor(&call, "x"), *y = assay_tensor(&call, "y");
  REQUIRE((x && y && !assay_tensor(&call, "z")));
  CHECK((x == &call.tensors[0]->dl && y == &call.tensors[1]->dl));
  CHECK((x->data == &made.places[0] && y->data == &made.places[1]));
  CHECK((x->device_type == 2 && x->device_id == 0 && x->ndim == 2 && x->byte_offset == 0));
  CHECK((x->dtype_code == 4 && x->dtype_bits == 16 && x->dtype_lanes == 1));
  CHECK((x->shape[0] == 3 && x->shape[1] == 65 && x->strides[0] == 68 && x->strides[1] == 1));
  CHECK(!assay_is_dense(x));
  CHECK(assay_dense_alone(&call) == std::string("takes dense tensors alone"));
  CHECK(!assay_dense_alone(&*Called("softmax f32 rows=3 cols=65 seed=1")));
}

TEST_CASE("plugin: an absent tensor is null, and every attribute is there") {
  const Called plain("attention_forward f16 batch=1 seq_q=3 seq_k=5 heads=4 kv_heads=2 head_dim=8 seed=1");
  const Called causal(
      "attention_forward f16 batch=1 seq_q=3 seq_k=5 heads=4 kv_heads=2 head_dim=8 mask=causal scale=0.25 seed=1");
  CHECK(static_cast<std::size_t>((*plain).tensor_count) == plain.op->tensors.size());
  bool absent = false;
  for (std::size_t i = 0; i < plain.op->tensors.size(); ++i) {
    const bool there = plain.packing.placements[i].tensor.rank != 0;
    CHECK(((*plain).tensors[i] != nullptr) == there);
    if (there) CHECK((*plain).tensors[i]->name == std::string(plain.op->tensors[i].name));
    absent = absent || !there;
  }
  CHECK(absent);
  REQUIRE(static_cast<std::size_t>((*plain).attribute_count) == plain.op->attributes.size());
  for (std::size_t i = 0; i < plain.op->attributes.size(); ++i) {
    CHECK((*plain).attributes[i]->name == std::string(plain.op->attributes[i].name));
    CHECK(((*plain).attributes[i]->word != nullptr) == !plain.op->attributes[i].choices.empty());
  }
  CHECK(assay_attribute(&*plain, "mask")->word == std::string("none"));
  CHECK(assay_attribute(&*causal, "mask")->word == std::string("causal"));
  CHECK(assay_attribute(&*causal, "scale")->number == 0.25);
  CHECK(!assay_attribute(&*causal, "nothing"));
}

TEST_CASE("plugin: integers and f32 have their codes") {
  const Called made("embedding f32 tokens=3 vocab=5 hidden=4 seed=1");
  bool integers = false;
  for (int i = 0; i < (*made).tensor_count; ++i) {
    const AssayDLTensor& t = (*made).tensors[i]->dl;
    if (t.dtype_code == 0) integers = t.dtype_bits == 32 || t.dtype_bits == 64;
    else CHECK((t.dtype_code == 2 && t.dtype_bits == 32));
  }
  CHECK(integers);
}
