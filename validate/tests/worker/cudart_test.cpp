// SPDX-License-Identifier: Apache-2.0
// The runtime that answers the host code of nvcc's objects, with binaries that a test writes as nvcc does.
#include "validate/backends/runtime/cudart.hpp"

#include <algorithm>
#include <catch_shim.hpp>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "simt/machine.hpp"
#include "simt/ptx/ptx.hpp"
#include "validate/worker/backend.hpp"

extern "C" {
void** __cudaRegisterFatBinary(const void* wrapper);
void __cudaRegisterFunction(void**, const void*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaLaunchKernel(const void*, simt::device::dim3, simt::device::dim3, void**, std::size_t, void*);
int cudaFuncSetAttribute(const void*, int, int);
}

namespace {

using simt::device::dim3;

template <class T>
void put(std::vector<unsigned char>& to, std::size_t at, T v) {
  to.resize(std::max(to.size(), at + sizeof v));
  std::memcpy(to.data() + at, &v, sizeof v);
}

// A binary with one module of PTX, and what points to it.
struct Registered {
  std::vector<unsigned char> binary;
  struct {
    int magic = 0x466243b1, version = 1;
    const void* data = nullptr;
    void* more = nullptr;
  } wrapper;
  void** handle;
  explicit Registered(const std::string& text) {
    const std::string name = "/somewhere/cuda/softmax/mine.cu";
    put<std::uint32_t>(binary, 0, 0xba55ed50);
    put<std::uint16_t>(binary, 6, 16);
    put<std::uint64_t>(binary, 8, 128 + text.size());
    put<std::uint16_t>(binary, 16, 1);
    put<std::uint32_t>(binary, 16 + 4, 128);
    put<std::uint64_t>(binary, 16 + 8, text.size());
    put<std::uint32_t>(binary, 16 + 32, 64);
    put<std::uint32_t>(binary, 16 + 36, static_cast<std::uint32_t>(name.size()));
    binary.resize(16 + 128 + text.size());
    std::memcpy(binary.data() + 16 + 64, name.data(), name.size());
    std::memcpy(binary.data() + 16 + 128, text.data(), text.size());
    wrapper.data = binary.data();
    handle = __cudaRegisterFatBinary(&wrapper);
  }
  void function(const void* host, const char* name) const {
    __cudaRegisterFunction(handle, host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  }
};

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";
// Stores its second parameter where the first one points.
const std::string kStores =
    ".visible .entry stores(.param .u64 p, .param .u32 v) {\n.reg .b64 %p;\n.reg .b32 %v;\n"
    "ld.param.u64 %p, [p];\nld.param.u32 %v, [v];\nst.global.u32 [%p], %v;\nret;\n}\n";

int launch(const void* host, void* p, std::uint32_t v, std::size_t shared = 0) {
  void* arguments[] = {&p, &v};
  return cudaLaunchKernel(host, dim3(1), dim3(1), arguments, shared, nullptr);
}

}  // namespace

TEST_CASE("cudart: a launched function is found by what its object registered") {
  using namespace assay;
  static const Registered good(kHead + kStores), more(kHead + ".visible .entry reads() {\ntcgen05.ld;\nret;\n}\n");
  static const char stores = 0, reads = 0, nothing = 0;
  good.function(&stores, "stores");
  more.function(&reads, "reads");
  simt::configure({});
  auto* const p = static_cast<std::uint32_t*>(simt::allocate(4, 0, "p"));

  cudart::launched();
  CHECK(launch(&stores, p, 7) == 0);
  CHECK(*p == 7);
  CHECK(launch(&stores, p, 8) == 0);
  CHECK(*p == 8);
  const auto programs = cudart::launched();
  REQUIRE(programs.size() == 1);  // once, however often it ran
  CHECK(programs[0]->function.name == "stores");
  CHECK(cudart::launched().empty());

  CHECK(launch(&nothing, p, 7) == 98);
  CHECK(launch(&stores, p, 7, 48 * 1024 + 1) == 1);
  CHECK(cudaFuncSetAttribute(&stores, 8, 64 * 1024) == 0);
  CHECK(launch(&stores, p, 9, 48 * 1024 + 1) == 0);
  CHECK(*p == 9);
  CHECK_THROWS_AS(launch(&stores, p + 1, 7), simt::Fault);

  std::string why;
  try {
    launch(&reads, p, 7);
  } catch (const CannotRun& e) {
    why = e.what();
  }
  CHECK(why == "softmax/mine.ptx:5: `tcgen05.ld` is no instruction that the machine runs");
  simt::release(p);
}

TEST_CASE("cudart: an object whose PTX cannot be read is refused") {
  CHECK_THROWS_AS(Registered("\x28\xb5\x2f\xfd compressed"), std::logic_error);
}
