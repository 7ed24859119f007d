#include "driver/program.h"
#include "families/top/top.h"

int main(int argc, char **argv) {
    return program_train(argc, argv, &top_family);
}
