#ifndef BERTH_CPOSTGRES_SHIM_H
#define BERTH_CPOSTGRES_SHIM_H
#include <libpq-fe.h>
#endif
