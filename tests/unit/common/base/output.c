/* Output files: there whole or not at all, whatever is in the way. */
#define _GNU_SOURCE
#include "common/base/output.h"
#include "tests/unit/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Number of names in the working folder. */
static int names(void) {
    int n = -2; /* . and .. */
    DIR *folder = opendir(".");
    while (folder && readdir(folder)) {
        n++;
    }
    closedir(folder);
    return n;
}

/* True if the file holds exactly this text. */
static bool holds(const char *path, const char *text) {
    char found[256] = "";
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(found, 1, sizeof found - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    return file && n == strlen(text) && memcmp(found, text, n) == 0;
}

static int put(const char *path, const char *text) {
    struct output *output;
    struct error err;
    if (output_open(&output, path, &err) < 0) {
        return -1;
    }
    output_write(output, text, strlen(text));
    return output_commit(output, NULL, &err);
}

/* A file in /dev/shm, where that is a folder, is one like others: nothing of what it was is
 * left. */
static void check_memory(void) {
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/dualsvm-output-%ld", (long)getpid());
    if (access("/dev/shm", W_OK | X_OK) == 0) {
        bool replaced =
            put(path, "a long text\n") == 0 && put(path, "short\n") == 0 && holds(path, "short\n");
        unlink(path);
        CHECK(replaced, "a file of /dev/shm was written in place");
    }
}

static void check_files(void) {
    struct output *output;
    struct error err;
    struct stat status;
    CHECK_TRUE(put("new", "first\n") == 0 && holds("new", "first\n") && names() == 1);
    CHECK_TRUE(stat("new", &status) == 0 && (status.st_mode & 0777) == 0640); /* by the umask */

    CHECK_TRUE(chmod("new", 0604) == 0);
    CHECK_TRUE(put("new", "second\n") == 0 && holds("new", "second\n") && names() == 1);
    CHECK_TRUE(stat("new", &status) == 0 && (status.st_mode & 0777) == 0604);

    CHECK_TRUE(output_open(&output, "new", &err) == 0);
    CHECK_TRUE(strcmp(output_path(output), "new") == 0);
    output_format(output, "%d lines that stay unseen\n", 3);
    CHECK_TRUE(output_flush(output, &err) == 0 && holds("new", "second\n") && names() == 1);
    output_discard(output);
    CHECK_TRUE(holds("new", "second\n") && names() == 1);

    CHECK_TRUE(output_open(&output, "new", &err) == 0);
    output_number(output, 0.1);
    output_format(output, " %s", "x");
    CHECK_TRUE(output_commit(output, NULL, &err) == 0 && holds("new", "0.1 x"));
    output_discard(NULL);
    CHECK_TRUE(unlink("new") == 0);
    printf("ok: files\n");
}

static void check_links(void) {
    struct stat status;
    CHECK_TRUE(mkdir("far", 0700) == 0 && symlink("far/target", "link") == 0);
    CHECK_TRUE(symlink("link", "chain") == 0 && symlink("loop", "loop") == 0);
    CHECK_TRUE(put("chain", "a") == 0 && holds("far/target", "a")); /* nothing was there */
    CHECK_TRUE(put("chain", "b") == 0 && holds("far/target", "b"));
    CHECK_TRUE(lstat("chain", &status) == 0 && S_ISLNK(status.st_mode));
    CHECK_TRUE(put("loop", "c") == -1);
    CHECK_TRUE(unlink("far/target") == 0 && rmdir("far") == 0 && unlink("link") == 0 &&
               unlink("chain") == 0 && unlink("loop") == 0 && names() == 0);
    printf("ok: symbolic links\n");
}

static void check_refusals(void) {
    struct output *output;
    struct error err;
    CHECK_TRUE(mkdir("folder", 0700) == 0);
    CHECK_TRUE(output_open(&output, "folder", &err) == -1 &&
               strstr(err.text, "folder: cannot write: "));
    CHECK_TRUE(output_open(&output, "none/file", &err) == -1);
    CHECK_TRUE(output_open(&output, "", &err) == -1 && err.kind == ERROR_RUNTIME);
    if (geteuid() != 0) { /* who may write everywhere cannot be refused */
        CHECK_TRUE(chmod("folder", 0500) == 0 && output_open(&output, "folder/file", &err) == -1);
        CHECK_TRUE(put("old", "old") == 0 && chmod("old", 0444) == 0);
        CHECK_TRUE(output_open(&output, "old", &err) == -1 && holds("old", "old"));
        CHECK_TRUE(unlink("old") == 0);
    }
    CHECK_TRUE(rmdir("folder") == 0 && names() == 0);
    printf("ok: what cannot be written is refused at once\n");
}

static void check_devices(void) {
    struct output *output;
    struct error err;
    CHECK_TRUE(put("/dev/null", "x") == 0);
    CHECK_TRUE(put("/dev/full", "x") == -1);
    CHECK_TRUE(output_open(&output, "/dev/full", &err) == 0);
    for (int i = 0; i < 100000; i++) {
        output_format(output, "line %d\n", i);
    }
    CHECK_TRUE(output_flush(output, &err) == -1 && strstr(err.text, strerror(ENOSPC)));
    CHECK_TRUE(output_commit(output, NULL, &err) == -1); /* the failure is not forgotten */

    CHECK_TRUE(mkfifo("pipe", 0600) == 0);
    pid_t reader = fork();
    if (reader == 0) {
        _exit(holds("pipe", "through\n") ? 0 : 1);
    }
    int ended = -1;
    CHECK_TRUE(put("pipe", "through\n") == 0 && waitpid(reader, &ended, 0) == reader && ended == 0);
    CHECK_TRUE(unlink("pipe") == 0 && names() == 0);
    printf("ok: devices and pipes\n");
}

static int n_held, n_released;

static void hold(void) {
    n_held++;
}

static void release(void) {
    n_released++;
}

/* Opens the paths, writes each its own, and commits them together. */
static int put_all(const char *const *path, size_t n) {
    struct output *output[4] = {NULL};
    struct output_hold held = {hold, release};
    struct error err;
    for (size_t i = 0; i < n; i++) {
        if (path[i] && output_open(&output[i], path[i], &err) < 0) {
            return -1;
        }
        if (path[i]) {
            output_format(output[i], "%s is new", path[i]);
        }
    }
    int status = output_commit_all(output, n, &held, &err);
    for (size_t i = 0; i < n; i++) {
        CHECK_TRUE(!output[i]);
    }
    return status;
}

static void check_together(void) {
    CHECK_TRUE(put("a", "old") == 0 && put("b", "old") == 0);
    CHECK_TRUE(put_all((const char *const[]){"a", "/dev/full", "b"}, 3) == -1 && n_held == 0);
    CHECK_TRUE(holds("a", "old") && holds("b", "old") && names() == 2);
    CHECK_TRUE(put_all((const char *const[]){"a", NULL, "b", "c"}, 4) == 0);
    CHECK_TRUE(n_held == 1 && n_released == 1);
    CHECK_TRUE(holds("a", "a is new") && holds("b", "b is new") && holds("c", "c is new"));
    CHECK_TRUE(names() == 3 && unlink("a") == 0 && unlink("b") == 0 && unlink("c") == 0);
    printf("ok: several at once\n");
}

int main(void) {
    const char *temporary = getenv("TMPDIR");
    char folder[512];
    snprintf(folder, sizeof folder, "%s/dualsvm-output-XXXXXX", temporary ? temporary : "/tmp");
    CHECK(mkdtemp(folder) && chdir(folder) == 0, "no temporary folder");
    umask(027);
    check_files();
    check_memory();
    check_links();
    check_refusals();
    check_devices();
    check_together();
    CHECK(chdir("/") == 0 && rmdir(folder) == 0, "the temporary folder is not empty");
    return 0;
}
