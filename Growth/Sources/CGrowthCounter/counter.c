#include "counter.h"

#include <stddef.h>

static uint64_t operations;

uint64_t isthmus_growth_operations(void) { return operations; }

// -sanitize-coverage=edge,trace-pc-guard calls these (SanitizerCoverage of LLVM).
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
    (void)start;
    (void)stop;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    (void)guard;
    operations += 1;
}

// Found before those of the C library, also by Swift's runtime and libxml2. Plain loops: -fno-builtin keeps them from calling themselves.

void *memmove(void *target, const void *source, size_t count) {
    unsigned char *to = target;
    const unsigned char *from = source;
    operations += count / 8;
    if (to < from) {
        for (size_t i = 0; i < count; i++) to[i] = from[i];
    } else {
        for (size_t i = count; i > 0; i--) to[i - 1] = from[i - 1];
    }
    return target;
}

void *memcpy(void *target, const void *source, size_t count) { return memmove(target, source, count); }

void *memset(void *target, int value, size_t count) {
    unsigned char *to = target;
    operations += count / 8;
    for (size_t i = 0; i < count; i++) to[i] = (unsigned char)value;
    return target;
}

int memcmp(const void *left, const void *right, size_t count) {
    const unsigned char *one = left;
    const unsigned char *other = right;
    for (size_t i = 0; i < count; i++) {
        if (one[i] != other[i]) {
            operations += i / 8;
            return one[i] < other[i] ? -1 : 1;
        }
    }
    operations += count / 8;
    return 0;
}
