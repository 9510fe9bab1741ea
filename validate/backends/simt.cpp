// SPDX-License-Identifier: Apache-2.0
// The backend of the simulated machine.
#include <fmt/format.h>
#include <unistd.h>

#include "simt/machine.hpp"
#include "validate/backends/backends.hpp"
#include "validate/backends/cuda_ptx.hpp"
#include "validate/base/error.hpp"
#include "validate/base/machine.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

// While it lives, the host cannot access the machine's memory: the host code of a kernel's run() must not.
struct Taken {
  Taken() { simt::take_from_host(); }
  ~Taken() { simt::give_to_host(); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
};

// What the machine needs for itself is no fault of a kernel.
template <class Work>
auto or_no_memory(Work work) {
  try {
    return work();
  } catch (const simt::OutOfMemory& e) {
    throw NoMemory(e.what());
  }
}

// Why the machine cannot start here; empty if it can.
std::string too_little_space() {
  if (address_space() >= simt::least_address_space()) return {};
  return fmt::format("it needs {} GiB of address space and {:.1f} are allowed (ulimit -v)", simt::least_address_space() >> 30,
                     static_cast<double>(address_space()) / (1u << 30));
}

class SimtBackend final : public Backend {
 public:
  SimtBackend() { simt::canary(); }
  std::string_view name() const override { return "simt"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    return or_no_memory([&] { return simt::allocate(bytes, offset, label); });
  }
  void* allocate_apart(std::size_t bytes, std::size_t offset, std::string_view label,
                       const std::vector<Island>& islands) override {
    std::vector<simt::Extent> extents;
    for (const Island& i : islands) extents.push_back({i.begin, i.end});
    return or_no_memory([&] { return simt::allocate(bytes, offset, label, extents); });
  }
  void release(void* p) noexcept override { simt::release(p); }
  bool checks_bounds() const override { return true; }
  void write(void* device, const void* host, std::size_t bytes) override {
    if (bytes) std::memcpy(device, host, bytes);  // Note: an empty image may have no address
    simt::mark_written(device, bytes);
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    if (bytes) std::memcpy(host, device, bytes);
  }
  void fill(void* device, std::byte garbage, std::size_t bytes) override {
    std::memset(device, static_cast<int>(garbage), bytes);
    simt::mark_unwritten(device);
  }
  std::size_t first_unwritten(const void* device, std::size_t bytes) const override {
    return simt::first_unwritten(device, bytes);
  }

  void run(Launcher launch_it, const void* args, void* workspace, const RunOptions& v) override {
    constexpr simt::ThreadOrder kOrders[] = {simt::ThreadOrder::forward, simt::ThreadOrder::reverse, simt::ThreadOrder::shuffle};
    static constexpr char stream = 0;  // only its address counts
    const simt::Configured configured(
        {.order = kOrders[v.order], .seed = v.seed, .count_sectors = v.sectors, .stream = &stream, .watch = v.watch});
    simt::reset_counts();
    const Taken taken;
    try {
      // Note: nothing is launched before, but a kernel that may begin early is checked for accesses before it waits.
      or_no_memory(
          [&] { launch_it(args, {.stream = const_cast<char*>(&stream), .workspace = workspace, .after = v.order == 2}); });
    } catch (const simt::Fault& fault) {
      const simt::Finding& f = fault.finding();
      throw BackendFinding(f.kind, f.file.empty() ? f.message : fmt::format("{} ({}:{})", f.message, f.file, f.line));
    }
  }
  bool written(const void* allocation) const override { return simt::written(allocation); }
  std::size_t memory_in_use() override { return simt::bytes_in_use(); }
  Launcher launcher(const Kernel& k) const override { return k.on_simt; }
  int arch() const override { return 90; }
  Traffic traffic(const void* allocation) const override {
    const simt::Counts c = simt::counts(allocation);
    return {.read_bytes = c.read_bytes,
            .written_bytes = c.written_bytes,
            .unique_read_bytes = c.unique_read_bytes,
            .unique_written_bytes = c.unique_written_bytes,
            .read_sectors = c.read_sectors,
            .written_sectors = c.written_sectors};
  }
  std::vector<SiteTraffic> sites() const override {
    std::vector<SiteTraffic> all;
    for (const simt::SiteCounts& s : simt::site_counts())
      all.push_back({.place = fmt::format("{}:{}", s.file, s.line),
                     .buffer = s.allocation,
                     .write = s.write,
                     .bytes = s.bytes,
                     .requests = s.requests,
                     .sectors = s.sectors,
                     .wavefronts = s.wavefronts});
    return all;
  }
};

std::string no_backend(std::string_view name) { return fmt::format("unknown backend '{}'", name); }

}  // namespace

std::string simt_device() { return fmt::format("simt ({} cores)", ::sysconf(_SC_NPROCESSORS_ONLN)); }

std::unique_ptr<Backend> open_simt() { return std::make_unique<SimtBackend>(); }

BackendInfo backend_info(std::string_view name) {
  if (name == "simt") return {.name = "simt", .built = true, .unavailable = too_little_space(), .device = simt_device()};
  if (name == "host") return {.name = "host", .built = true, .unavailable = "", .device = host_device()};
  if (name == "cuda") return cuda_info();
  return {.name = {}, .built = false, .unavailable = no_backend(name), .device = ""};
}

std::vector<BackendInfo> backends() { return {backend_info("cuda"), backend_info("simt"), backend_info("host")}; }

std::vector<std::string> checks_on(std::string_view backend, KernelCode code) {
  if (backend != "simt") return {"bounds", "inputs"};
  std::vector<std::string> all(kChecks.begin(), kChecks.end());
  if (code == KernelCode::compiled && !simt::sees_plain_accesses()) std::erase(all, "plain");
  return all;
}

Listing about_worker(std::string_view backend, KernelCode code) {
  return {.refused = {},
          .backend = std::string(backend),
          .device = backend_info(backend).device,
          .checks = checks_on(backend, code),
          .kernels = {}};
}

std::unique_ptr<Backend> open_backend(std::string_view name) {
  if (name == "simt") return open_simt();
  if (name == "cuda") return open_cuda();
  if (name == "host") return open_host();
  throw std::runtime_error(no_backend(name));
}

#if !defined(ASSAY_GPU)
BackendInfo cuda_info() {
  return {.name = "cuda",
          .built = false,
          .unavailable = "this build has no CUDA kernels (configured without a toolkit or a GPU)",
          .device = ""};
}
std::unique_ptr<Backend> open_cuda() { throw std::runtime_error(cuda_info().unavailable); }

namespace cuda {
void encode_map(const MappedTensor&, std::byte*) {}
struct PtxModule::Driver {};
PtxModule::PtxModule(const std::string&) { throw std::runtime_error(cuda_info().unavailable); }
PtxModule::~PtxModule() = default;
void PtxModule::launch(const std::string&, const EntryLaunch&, std::span<void*>) {}
}  // namespace cuda
#endif

}  // namespace assay
