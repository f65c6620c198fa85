#define _GNU_SOURCE
#include "CBuildIdentity.h"

#include <link.h>

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

const char *isthmus_commit(void) {
#ifdef ISTHMUS_COMMIT
    return TEXT(ISTHMUS_COMMIT);
#else
    return "";
#endif
}

struct search {
    size_t index;
    size_t length;
    const void *found;
};

// The first object is the program itself; 1 ends the iteration.
static int find_notes(struct dl_phdr_info *object, size_t size, void *context) {
    struct search *search = context;
    (void)size;
    size_t seen = 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &object->dlpi_phdr[i];
        if (header->p_type != PT_NOTE || seen++ != search->index) continue;
        search->found = (const void *)(object->dlpi_addr + header->p_vaddr);
        search->length = header->p_memsz;
    }
    return 1;
}

const void *isthmus_notes(size_t index, size_t *length) {
    struct search search = {index, 0, NULL};
    dl_iterate_phdr(find_notes, &search);
    *length = search.length;
    return search.found;
}
