#include "families/rank/rank.h"

int main(int argc, char **argv) {
    return train_main(argc, argv, &rank_family);
}
