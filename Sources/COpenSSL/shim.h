#ifndef ISTHMUS_COPENSSL_SHIM_H
#define ISTHMUS_COPENSSL_SHIM_H

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/provider.h>

#endif
