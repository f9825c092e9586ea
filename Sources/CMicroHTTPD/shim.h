#ifndef BERTH_CMICROHTTPD_SHIM_H
#define BERTH_CMICROHTTPD_SHIM_H
#include <microhttpd.h>
#endif
