#include "driver/program.h"

int main(int argc, char **argv) {
    return program_predict(argc, argv, "smm");
}
