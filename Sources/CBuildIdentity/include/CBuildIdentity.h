#ifndef CBUILDIDENTITY_H
#define CBUILDIDENTITY_H

#include <stddef.h>

/// Commit of the sources, as `ISTHMUS_COMMIT` named it when the program was built; an empty string without that variable.
const char *_Nonnull isthmus_commit(void);

/// Notes of this program in memory: the PT_NOTE segment with this number, and its length; NULL after the last one.
const void *_Nullable isthmus_notes(size_t index, size_t *_Nonnull length);

#endif
