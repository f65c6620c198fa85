#ifndef ISTHMUS_CZLIB_SHIM_H
#define ISTHMUS_CZLIB_SHIM_H

#include <zlib.h>

/* inflateInit2 is a macro, which Swift cannot import. */
static inline int isthmus_inflateInit2(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
static inline int isthmus_deflateInit2(z_stream *stream, int window_bits) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
