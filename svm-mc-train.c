#include "driver/program.h"
#include "families/mc/mc.h"

int main(int argc, char **argv) {
    return program_train(argc, argv, &mc_family);
}
