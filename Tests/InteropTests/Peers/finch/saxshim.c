/*
 * Preloaded into finch by the interoperability tests, and by nothing else.
 *
 * pidgin-sipe 1.25 parses XML with SAX1 callbacks but marks its handler as SAX2. Debian 12's libxml2 then looks for the
 * SAX2 callbacks, finds none, and reports success: the client would see every document as empty. A handler with a
 * startElement and no startElementNs is a SAX1 handler whatever it says, and is handed on as one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libxml/parser.h>

int xmlSAXUserParseMemory(xmlSAXHandlerPtr handler, void *data, const char *text, int size)
{
    typedef int (*Parse)(xmlSAXHandlerPtr, void *, const char *, int);
    Parse parse = (Parse)dlsym(RTLD_NEXT, "xmlSAXUserParseMemory");
    if (parse == NULL) return XML_ERR_INTERNAL_ERROR;
    if (handler == NULL || handler->startElement == NULL || handler->startElementNs != NULL) return parse(handler, data, text, size);
    xmlSAXHandler plain = *handler;
    plain.initialized = 1;
    return parse(&plain, data, text, size);
}
