// Data of ICU in place of that of Foundation's library, where ISTHMUS_ICU_DATA names the assembly that scripts/trim-icu wrote. An object of
// the program comes before the libraries, so that the linker does not take theirs.
#ifdef ISTHMUS_ICU_DATA
#include ISTHMUS_ICU_DATA
#endif
.section .note.GNU-stack,"",%progbits
