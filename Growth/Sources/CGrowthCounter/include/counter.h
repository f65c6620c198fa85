#ifndef ISTHMUS_GROWTH_COUNTER_H
#define ISTHMUS_GROWTH_COUNTER_H

#include <stdint.h>

/// Operations so far: edges between basic blocks of instrumented code, and octets moved, set and compared by the C library, by eights.
uint64_t isthmus_growth_operations(void);

#endif
