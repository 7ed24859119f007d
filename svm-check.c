#include "check/check.h"
#include "driver/program.h"

int main(int argc, char **argv) {
    return program_check(argc, argv, check_files);
}
