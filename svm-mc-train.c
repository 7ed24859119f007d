#include "families/mc/mc.h"

int main(int argc, char **argv) {
    return train_main(argc, argv, &mc_family);
}
