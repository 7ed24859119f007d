/* for fcntl and signal */
#define _GNU_SOURCE
#include "driver/program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* OpenBLAS has it, its headers not always. */
void openblas_set_num_threads(int n);

void program_start(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* the wrong way round: reading standard input, writing the others fails */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
    signal(SIGPIPE, SIG_DFL);
    openblas_set_num_threads(1);
}

int program_failed(const char *program, const struct error *err) {
    fprintf(stderr, "%s: %s%s\n", program, err->text,
            err->kind == ERROR_USAGE ? ": try --help" : "");
    return (int)err->kind;
}
