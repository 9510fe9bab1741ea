// SPDX-License-Identifier: Apache-2.0
// _dl_find_object(), which glibc has since 2.35, made of dl_iterate_phdr(), which every glibc has.  It says where the exception
// tables of the code at an address are.  An object with libgcc in it (-static-libgcc) calls it, and would otherwise not start on
// glibc 2.34.  Note: on a glibc before 2.35 libgcc does not call it, and this file is empty.
#include <dlfcn.h>
#include <link.h>

#include <cstddef>

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
namespace {

struct Search {
  ElfW(Addr) address;
  dl_find_object* result;
};

// Fills the result if the object has the address; 0 goes on with the next object.
int look_into(dl_phdr_info* object, std::size_t, void* argument) {
  const Search& search = *static_cast<Search*>(argument);
  const ElfW(Phdr)* tables = nullptr;
  bool has_address = false;
  for (const ElfW(Phdr)* segment = object->dlpi_phdr; segment != object->dlpi_phdr + object->dlpi_phnum; ++segment) {
    const ElfW(Addr) start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = segment;
    if (segment->p_type != PT_LOAD || search.address < start || search.address - start >= segment->p_memsz) continue;
    has_address = true;
    search.result->dlfo_map_start = reinterpret_cast<void*>(start);
    search.result->dlfo_map_end = reinterpret_cast<void*>(start + segment->p_memsz);
  }
  if (!has_address || !tables) return 0;
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + tables->p_vaddr);
  return 1;
}

}  // namespace

// Returns 0 if an object has the address, as glibc's does.  Hidden, so that it takes the place of glibc's in this object alone.
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
  *result = {};
  Search search{reinterpret_cast<ElfW(Addr)>(address), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}
#endif
