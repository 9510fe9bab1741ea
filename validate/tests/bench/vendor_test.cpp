// SPDX-License-Identifier: Apache-2.0
// Vendors' libraries, which are opened at run time.  The C library's libm stands for one of them.
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tuple>

#include "catch_shim.hpp"
#include "cuda/core/vendor/library.hpp"
#include "cuda/core/vendor/workspace.hpp"

using assay::vendor::Library;

TEST_CASE("vendor: a missing library says so and gives no function") {
  const Library none("Nothing", {"libassay_nothing.so.1", "libassay_nothing.so"}, "nothing_version");
  CHECK_FALSE(none.available());
  CHECK(none.available().why.find("Nothing is missing: libassay_nothing") == 0);
  CHECK(none.version() == "");
  CHECK_THROWS_AS(none.function<double(double)>("cos"), std::runtime_error);
}

TEST_CASE("vendor: an opened library has functions, by any of its names") {
  // Note: gnu_get_libc_version returns an address, which serves as a version number here.
  const Library libc("libc", {"libassay_nothing.so.1", "libc.so.6"}, "gnu_get_libc_version");
  REQUIRE(libc.available());
  CHECK(libc.path() == "libc.so.6");
  CHECK(std::count(libc.version().begin(), libc.version().end(), '.') == 2);
  CHECK(libc.function<int(int)>("abs")(-3) == 3);
  CHECK_THROWS_AS(libc.function<void()>("assay_no_such_function"), std::runtime_error);
}

TEST_CASE("vendor: a library without the version function is rejected") {
  const Library libc("libc", {"libc.so.6"}, "assay_no_such_version");
  CHECK_FALSE(libc.available());
  CHECK(libc.available().why.find("assay_no_such_version") != std::string::npos);
}

TEST_CASE("vendor: the folders of ASSAY_VENDOR_PATH come first, and a file that cannot be opened is reported") {
  const std::string folder = std::string(ASSAY_DATASETS_DIR) + "/../reports";
  ::setenv("ASSAY_VENDOR_PATH", ("/nowhere:" + folder).c_str(), 1);
  const Library text("Text", {"schema.json"}, "version");
  const Library libc("libc", {"libc.so.6"}, "gnu_get_libc_version");
  ::unsetenv("ASSAY_VENDOR_PATH");
  CHECK_FALSE(text.available());
  CHECK(text.missing().find(folder + "/schema.json") != std::string::npos);
  CHECK(libc.available());
}

TEST_CASE("vendor: counting and handing out workspace agree; matrices do not overlap, rows and matrices are aligned") {
  alignas(256) static std::byte memory[8192];
  assay::vendor::Workspace counted(nullptr), given(memory);
  for (const auto& [dtype, rows, columns] :
       {std::tuple{assay::f16, 3, 5}, std::tuple{assay::bf16, 7, 64}, std::tuple{assay::f32, 2, 3}}) {
    const std::size_t before = given.used();
    const assay::Tensor none = counted.matrix(dtype, rows, columns), m = given.matrix(dtype, rows, columns);
    CHECK(none.data == nullptr);
    CHECK(m.data == memory + before);
    CHECK(before % 256 == 0);
    CHECK((m.rows_aligned(16) && m.rows_contiguous() && m.stride[0] >= columns));
    CHECK(given.used() - before >= static_cast<std::size_t>(rows * m.stride[0] * assay::size_of(dtype)));
    CHECK(counted.used() == given.used());
  }
  CHECK(given.rest() == memory + given.used());
  CHECK(counted.rest() == nullptr);
}
