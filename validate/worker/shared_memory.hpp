// SPDX-License-Identifier: Apache-2.0
// Anonymous memory (memfd) that judge and worker both map, for the inputs and outputs of an order.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay {

class SharedMemory {
 public:
  SharedMemory() = default;
  // Creates zeroed memory of at least one byte.  Throws std::runtime_error.
  explicit SharedMemory(std::size_t bytes)
      : fd_(::memfd_create("assay", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes ? bytes : 1) {
    if (fd_ < 0 || ::ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) fail("making");
    ::fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);  // Note: if a worker shrank it, the judge would die of SIGBUS
    map(PROT_READ | PROT_WRITE);
  }
  // Maps a received descriptor and owns it.  Throws std::runtime_error, also if the file has fewer than `bytes`.
  SharedMemory(int fd, std::size_t bytes, bool writable) : fd_(fd), bytes_(bytes ? bytes : 1) {
    struct stat there {};
    if (::fstat(fd_, &there) != 0 || static_cast<std::size_t>(there.st_size) < bytes_) {
      errno = EINVAL;
      fail("mapping");
    }
    map(writable ? PROT_READ | PROT_WRITE : PROT_READ);
  }
  SharedMemory(SharedMemory&& o) noexcept { swap(o); }
  SharedMemory& operator=(SharedMemory&& o) noexcept {
    swap(o);
    return *this;
  }
  ~SharedMemory() {
    if (data_) ::munmap(data_, bytes_);
    if (fd_ >= 0) ::close(fd_);
  }
  // Gives up the descriptor, when nobody is to map the memory any more.
  void close_descriptor() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Lets nobody but this object write, who has it mapped already (Linux 5.1; an older system ignores it).
  void seal() const { ::fcntl(fd_, F_ADD_SEALS, kSealFutureWrite); }
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  int fd() const { return fd_; }

 private:
  static constexpr int kSealFutureWrite = 0x10;  // F_SEAL_FUTURE_WRITE
  void map(int protection) {
    void* p = ::mmap(nullptr, bytes_, protection, MAP_SHARED, fd_, 0);
    if (p == MAP_FAILED) fail("mapping");
    data_ = p;
  }
  [[noreturn]] void fail(const char* what) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    throw std::runtime_error(std::string(what) + " " + std::to_string(bytes_) +
                             " bytes of shared memory: " + std::strerror(error));
  }
  void swap(SharedMemory& o) noexcept {
    std::swap(fd_, o.fd_);
    std::swap(bytes_, o.bytes_);
    std::swap(data_, o.data_);
  }
  int fd_ = -1;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace assay
