// Library for LD_PRELOAD: counts allocations and retains of the process into a shared file, so that another process can read the counts
// at any moment. Retains are counted where the process calls Swift's runtime as a shared library, on x86-64.
#define _GNU_SOURCE
#include "CallCounter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

static uint64_t unshared[counter_count];
HIDDEN uint64_t *call_counts = unshared;

__attribute__((constructor)) static void share(void) {
    const char *path = getenv("ISTHMUS_CALL_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *shared = mmap(0, sizeof unshared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) call_counts = shared;
    close(file);
}

static void count(int which) { __atomic_fetch_add(&call_counts[which], 1, __ATOMIC_RELAXED); }

// glibc's own names of its allocator.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    count(allocation_count);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(allocation_count);
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count(allocation_count);
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count(allocation_count);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count(allocation_count);
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

#if defined(__x86_64__)
HIDDEN void *real_retains[4];

HIDDEN void find_retains(void) {
    static const char *const names[] = {"swift_retain", "swift_retain_n", "swift_bridgeObjectRetain", "swift_bridgeObjectRetain_n"};
    for (int index = 0; index < 4; index++) real_retains[index] = dlsym(RTLD_NEXT, names[index]);
}

// Counts, and continues in Swift's runtime with all argument registers as they were; the first call looks the functions up.
#define RETAIN(name, offset)                                                                                                      \
    __asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n"                                                      \
            "movq call_counts(%rip), %r11\n"                                                                                       \
            "lock incq 8(%r11)\n"                                                                                                  \
            "movq real_retains+" offset "(%rip), %r11\n"                                                                           \
            "testq %r11, %r11\n"                                                                                                   \
            "jnz 1f\n"                                                                                                             \
            "pushq %rdi\npushq %rsi\npushq %rdx\npushq %rcx\npushq %r8\npushq %r9\npushq %rax\n"                                   \
            "call find_retains\n"                                                                                                  \
            "popq %rax\npopq %r9\npopq %r8\npopq %rcx\npopq %rdx\npopq %rsi\npopq %rdi\n"                                          \
            "movq real_retains+" offset "(%rip), %r11\n"                                                                           \
            "1: jmpq *%r11\n"                                                                                                      \
            ".size " name ", .-" name "\n")

RETAIN("swift_retain", "0");
RETAIN("swift_retain_n", "8");
RETAIN("swift_bridgeObjectRetain", "16");
RETAIN("swift_bridgeObjectRetain_n", "24");
_Static_assert(retain_count == 1, "the assembly counts at offset 8");
#endif
