#ifndef BERTH_CCRYPTO_SHIM_H
#define BERTH_CCRYPTO_SHIM_H
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#endif
