#ifndef ISTHMUS_CLDAP_SHIM_H
#define ISTHMUS_CLDAP_SHIM_H

#include <ldap.h>

// Constants that are macros with casts, which Swift does not import.
static inline int isthmus_ldap_scope_subtree(void) { return LDAP_SCOPE_SUBTREE; }
static inline const void *isthmus_ldap_opt_off(void) { return LDAP_OPT_OFF; }
static inline int isthmus_ldap_success(void) { return LDAP_SUCCESS; }

#endif
