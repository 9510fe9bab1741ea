// SPDX-License-Identifier: Apache-2.0
#include "validate/files/tensor_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/files/formats.hpp"
#include "validate/records/output_file.hpp"

namespace assay {

namespace {

constexpr std::string_view kEndings[] = {".safetensors", ".npz"};

// A file in memory.  All that there are form a list, which a handler of signals may read.
class MappedFile {
 public:
  // Throws BadInput.
  explicit MappedFile(const std::string& path) : change_(plain(fmt::format("'{}' was changed while it was read", path))) {
    std::string why;
    fd_ = open_file(path, why);
    if (fd_ < 0) throw BadInput(why);
    const bool sized = ::fstat(fd_, &opened_) == 0;
    void* const data = sized && opened_.st_size > 0 ? ::mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, fd_, 0) : nullptr;
    if (!sized || data == MAP_FAILED) {
      why = std::strerror(errno);
      ::close(fd_);
      throw BadInput(why);
    }
    data_ = static_cast<const std::byte*>(data);
    const std::lock_guard alone(list_);
    next_ = std::exchange(first_, this);
  }
  ~MappedFile() {
    {
      const std::lock_guard alone(list_);
      MappedFile** at = &first_;
      while (*at != this) at = &(*at)->next_;
      *at = next_;
    }
    if (data_) ::munmap(const_cast<std::byte*>(data_), size());
    ::close(fd_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size()}; }

  static const MappedFile* at(const void* address) {
    const auto* file = first_;
    while (file && !(file->data_ <= address && address < file->data_ + file->size())) file = file->next_;
    return file;
  }
  static void require_unchanged() {
    const std::lock_guard alone(list_);
    for (const MappedFile* file = first_; file; file = file->next_) {
      struct stat s {};
      const bool known = ::fstat(file->fd_, &s) == 0;
      if (!known || s.st_size != file->opened_.st_size || s.st_mtim.tv_sec != file->opened_.st_mtim.tv_sec ||
          s.st_mtim.tv_nsec != file->opened_.st_mtim.tv_nsec)
        throw BadInput(file->change_);
    }
  }
  const char* change() const { return change_.c_str(); }

 private:
  std::size_t size() const { return static_cast<std::size_t>(opened_.st_size); }
  std::string change_;
  struct stat opened_ {};
  int fd_ = -1;
  const std::byte* data_ = nullptr;
  MappedFile* next_ = nullptr;
  static inline std::mutex list_;
  static inline MappedFile* first_ = nullptr;
};

// What a file of another kind is; empty: it is none that people take for tensors with names.
std::string other_kind(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return "it is empty";
  if (text.starts_with("\x93NUMPY"))
    return "it is a .npy file, whose tensor has no name; np.savez(\"in.npz\", x=x) writes an .npz with names";
  if (text.starts_with("\x89HDF")) return "it is an HDF5 file, and .safetensors or .npz was expected";
  if (text.starts_with("GGUF")) return "it is a GGUF file, and .safetensors or .npz was expected";
  if (text.starts_with("\x1f\x8b")) return "it is compressed by gzip, and .safetensors or .npz was expected";
  if (text.starts_with("\x7f"
                       "ELF"))
    return "it is a program or a library, and .safetensors or .npz was expected";
  if (text.starts_with("PK") && text.find("/data.pkl") < 4096)
    return "torch.save() wrote it; safetensors.torch.save_file() writes tensors without Python objects";
  if (text[0] == '\x80' && text.size() > 1 && text[1] >= 2 && text[1] <= 5)
    return "it is a Python pickle, which is not read; safetensors.torch.save_file() writes tensors without Python objects";
  if (const char first = text[0]; (first == '{' || first == '[') && text.size() > 8 && text[7] != '\0')
    return "it is a text, and .safetensors or .npz was expected";
  return "";
}

}  // namespace

const FileTensor* TensorFile::find(std::string_view name) const {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const FileTensor& t) { return t.name == name; });
  return at == tensors.end() ? nullptr : &*at;
}

TensorFile read_tensors(const std::string& path) {
  try {
    const auto mapped = std::make_shared<const MappedFile>(path);
    const std::span<const std::byte> bytes = mapped->bytes();
    if (const std::string kind = other_kind(bytes); !kind.empty()) throw BadInput(kind);
    // Note: as the length of a header, "PK.." is far above the most that safetensors_in() takes.
    const bool zip = bytes.size() >= 2 && std::memcmp(bytes.data(), "PK", 2) == 0;
    TensorFile file = zip ? npz_in(bytes) : safetensors_in(bytes);
    file.memory.push_back(mapped);
    return file;
  } catch (const BadInput& e) {
    throw BadInput(fmt::format("'{}' cannot be read as tensors: {}", path, e.what()));
  }
}

void require_unchanged_files() { MappedFile::require_unchanged(); }

const char* change_at(const void* address) {
  const MappedFile* const file = MappedFile::at(address);
  return file ? file->change() : nullptr;
}

void put_in_order(FileTensor& t, const std::vector<std::size_t>& order, TensorFile& file) {
  const std::vector<std::int64_t> before = t.shape;
  std::vector<std::size_t> stride(before.size());  // between elements of `before`, along the axes of the result
  std::size_t elements = 1;
  for (std::size_t i = before.size(); i-- > 0; elements *= static_cast<std::size_t>(before[i])) {
    t.shape[order[i]] = before[i];
    stride[order[i]] = elements;
  }
  if (elements == 0) return;
  const std::size_t element = t.data.size() / elements;
  const auto moved = std::make_shared<std::vector<std::byte>>(t.data.size());
  for (std::size_t to = 0; to < elements; ++to) {
    std::size_t left = to, from = 0;
    for (std::size_t a = t.shape.size(); a-- > 0; left /= static_cast<std::size_t>(t.shape[a]))
      from += left % static_cast<std::size_t>(t.shape[a]) * stride[a];
    std::memcpy(moved->data() + to * element, t.data.data() + from * element, element);
  }
  t.data = *moved;
  file.memory.push_back(moved);
}

void require_tensors_writable(const std::string& path) {
  if (std::none_of(std::begin(kEndings), std::end(kEndings), [&](std::string_view end) { return path.ends_with(end); }))
    throw BadInput(fmt::format("'{}' ends in neither .safetensors nor .npz, which name the format", path));
  require_writable(path);
}

void write_tensors(const std::string& path, const TensorFile& file) {
  std::deque<std::string> own;  // what is written besides the data
  std::vector<std::string_view> pieces;
  if (path.ends_with(".npz")) npz_pieces(file, own, pieces);
  else safetensors_pieces(file, own, pieces);
  write_whole(path, pieces);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return "[" + text + "]";
}

}  // namespace assay
