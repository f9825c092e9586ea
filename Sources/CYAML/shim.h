#ifndef BERTH_CYAML_SHIM_H
#define BERTH_CYAML_SHIM_H
#include <yaml.h>
#endif
