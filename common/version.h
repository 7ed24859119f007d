/* The version of all programs. */
#ifndef COMMON_VERSION_H
#define COMMON_VERSION_H

#define DUALSVM_VERSION "0.1"

#endif
