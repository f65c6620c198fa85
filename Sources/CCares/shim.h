#ifndef ISTHMUS_CCARES_SHIM_H
#define ISTHMUS_CCARES_SHIM_H

#include <ares.h>
#include <sys/eventfd.h>

// Macros with arguments and casts, which Swift does not import.
static inline int isthmus_ares_readable(int bits, int place) { return ARES_GETSOCK_READABLE(bits, place) != 0; }
static inline int isthmus_ares_writable(int bits, int place) { return ARES_GETSOCK_WRITABLE(bits, place) != 0; }
static inline ares_socket_t isthmus_ares_no_socket(void) { return ARES_SOCKET_BAD; }

// A descriptor that wakes whoever polls it; glibc's own module does not show it to Swift.
static inline int isthmus_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

#endif
