#ifndef ISTHMUS_CLIBXML2_SHIM_H
#define ISTHMUS_CLIBXML2_SHIM_H

/* Debian builds libxml2 with ICU, whose headers clash with the copy inside Foundation; nothing here needs them. */
#include <libxml/xmlversion.h>
#undef LIBXML_ICU_ENABLED

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <libxml/catalog.h>
#include <libxml/dict.h>
#include <libxml/xmlschemas.h>

/* xmlFree is a macro over a global function pointer, which Swift cannot import. */
static inline void isthmus_xmlFree(void *pointer) { xmlFree(pointer); }

#endif
