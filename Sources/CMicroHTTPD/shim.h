#ifndef BERTH_CMICROHTTPD_SHIM_H
#define BERTH_CMICROHTTPD_SHIM_H
#include <microhttpd.h>

/* The library's function is variadic, which Swift cannot call. NULL when the address is unknown. */
static inline const struct sockaddr *berth_mhd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}
#endif
