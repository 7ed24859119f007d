#include "families/top/top.h"

int main(int argc, char **argv) {
    return train_main(argc, argv, &top_family);
}
