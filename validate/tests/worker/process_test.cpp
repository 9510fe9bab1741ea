// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"

using namespace assay;

namespace {

namespace fs = std::filesystem;

// A folder that stands for the root of a machine.
class Root {
 public:
  Root() { fs::create_directories(path_ / "proc/self"); }
  ~Root() { fs::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  std::size_t available() const { return available_memory(path_); }

 private:
  fs::path path_ = fs::temp_directory_path() / ("assay_root_" + std::to_string(::getpid()));
};

}  // namespace

TEST_CASE("available memory is the least that any control group leaves", "[process]") {
  const Root root;
  root.write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n");
  CHECK(root.available() == 8000 * 1024);

  SECTION("version 2: nested, and a cache that would be given up is free") {
    root.write("proc/self/cgroup", "0::/outer/inner\n");
    root.write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
    CHECK(root.available() == 8000 * 1024);
    root.write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
    root.write("sys/fs/cgroup/outer/inner/memory.current", "50000\n");
    CHECK(root.available() == 8000 * 1024);
    root.write("sys/fs/cgroup/outer/memory.max", "100000\n");
    root.write("sys/fs/cgroup/outer/memory.current", "60000\n");
    CHECK(root.available() == 40000);
    root.write("sys/fs/cgroup/outer/memory.stat", "anon 1\ninactive_file 5000\n");
    CHECK(root.available() == 45000);
    root.write("sys/fs/cgroup/outer/inner/memory.max", "70000\n");
    CHECK(root.available() == 20000);
    root.write("sys/fs/cgroup/outer/inner/memory.current", "80000\n");
    CHECK(root.available() == 0);
  }
  SECTION("version 2 in a container: the group's own path is not seen") {
    root.write("proc/self/cgroup", "0::/\n");
    root.write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
    root.write("sys/fs/cgroup/memory.max", "90000\n");
    root.write("sys/fs/cgroup/memory.current", "10000\n");
    CHECK(root.available() == 80000);
  }
  SECTION("version 1, of a container whose path begins elsewhere, and of one that sees all") {
    root.write("proc/self/cgroup", "5:cpu:/docker/a\n4:hugetlb,memory:/docker/a/b\n0::/\n");
    const std::string others = "29 24 0:25 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    root.write("proc/self/mountinfo", others + "30 24 0:26 /docker/a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    root.write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "5000\n");
    root.write("sys/fs/cgroup/memory/b/memory.usage_in_bytes", "1000\n");
    CHECK(root.available() == 4000);
    root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
    root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
    root.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
    CHECK(root.available() == 1500);
    root.write("proc/self/mountinfo", "30 24 0:26 /dock /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    CHECK(root.available() == 1500);
    root.write("proc/self/mountinfo", "30 24 0:26 /elsewhere /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    CHECK(root.available() == 1500);
  }
}

TEST_CASE("the system says how many processes it has killed for want of memory", "[process]") {
  const std::filesystem::path proc = std::filesystem::temp_directory_path() / ("assay_proc_" + std::to_string(::getpid()));
  std::filesystem::create_directory(proc);
  CHECK(killed_for_memory(proc) == 0);  // it does not say
  std::ofstream(proc / "vmstat") << "pgfault 12\noom_kill 7\nzone_reclaim 3\n";
  CHECK(killed_for_memory(proc) == 7);
  std::filesystem::remove_all(proc);
}
