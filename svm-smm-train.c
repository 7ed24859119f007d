#include "families/smm/smm.h"

int main(int argc, char **argv) {
    return train_main(argc, argv, &smm_family);
}
