#ifndef BERTH_CSSH2_SHIM_H
#define BERTH_CSSH2_SHIM_H
#include <libssh2.h>
#endif
