# The outputs after a full disk, a limit or a signal: the old files or the new ones.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    rows 60 6 5 3 >small.svm
}

# ---- inputs ----

# clashes FILE COMMAND...: it is refused in one line as both read and written, and no file changes.
clashes() {
    local file=$1
    shift
    misused "$@"
    assert_equal "$(<err)" "$1: '$file' is read and written: try --help"
    sha256sum --quiet -c sums
    holds . "${kept[@]}"
}

# bats test_tags=long
@test "outputs: no output may replace an input" {
    awk 'BEGIN { for (i = 0; i < 60; i++) print i % 3, "1:" i % 3 + i / 60, "2:" i % 7 }' >A
    svm-mc-train -q A m >/dev/null
    ln -s A link
    cp A folds
    seq 60 >weights
    sha256sum A m link folds weights small.svm >sums
    local kept=(A m link folds weights small.svm sums err out)
    clashes A svm-mc-train A A
    clashes ./A svm-mc-train A ./A
    clashes A svm-mc-train link A
    clashes link svm-mc-train A link
    clashes "$PWD/A" svm-mc-train --log "$PWD/A" A new
    clashes A svm-mc-train --proof A A new
    clashes A svm-mc-train --resume A -v 3 -c 1,2 A
    clashes folds svm-mc-train --fold-file folds -c 1,2 A folds
    clashes m svm-mc-train --validate m -c 1,2 A m
    clashes weights svm-top-train --row-weights weights A weights
    clashes link svm-smm-train --weights link A new
    clashes m svm-mc-predict A m m
    clashes A svm-mc-predict A m A
    clashes m svm-mc-predict --by-query m A m
    clashes ./m svm-mc-predict --by-query ./m --metrics A m
    clashes A svm-mc-predict --confusion A A m
    clashes small.svm svm-rank-predict --standards small.svm A m small.svm
    # the file behind standard input
    run -2 svm-mc-train - ./A <A
    assert_output "svm-mc-train: './A' is read and written: try --help"
    sha256sum --quiet -c sums
}

@test "outputs: two names of one file are recognised" {
    train small.svm model
    : >old && ln -s old link
    for outputs in 'new --log ./new' "new --log $PWD/new" 'old --log ./old' 'old --log link'; do
        set -- $outputs
        misused svm-rank-train small.svm "$@"
        [ "$(<err)" = "svm-rank-train: two outputs to one file: '$3': try --help" ]
        misused svm-rank-predict small.svm model "$1" --by-query "$3"
    done
    [ ! -e new ]
    [ ! -s old ]
}

@test "outputs: pipes, devices and files read twice do not conflict" {
    train small.svm model
    svm-rank-train -q --validate small.svm -c 1,2 small.svm new >/dev/null
    svm-rank-predict -q small.svm model >scores
    svm-rank-predict -q - new /dev/null <small.svm
    svm-rank-predict -q --by-query /dev/stderr small.svm model /dev/stdout >both 2>&1
    assert_equal "$(grep -cxFf scores both)" 60
    svm-rank-predict -q small.svm model small
    cmp small scores
    run svm-rank-predict -q /dev/null model /dev/null
    assert_success
}

# bats test_tags=long
@test "outputs: an open descriptor is written from the file's beginning, or at its end if it appends" {
    train small.svm model
    svm-rank-predict -q small.svm model >scores
    for name in /dev/fd/3 /proc/self/fd/3 /proc/thread-self/fd/3 /dev/./fd//3 link; do
        ln -sf /dev/fd/3 link
        seq 2000 >old
        svm-rank-predict -q small.svm model $name 3<>old
        cmp old scores
        seq 2000 >old
        { read -r _ <&3 && svm-rank-predict -q small.svm model $name && echo end >&3; } 3<>old
        { cat scores && echo end; } | cmp - old
        echo head >old
        svm-rank-predict -q small.svm model $name 3>>old
        { echo head && cat scores; } | cmp - old
        svm-rank-predict -q small.svm model $name 3>&1 >out | cmp - scores
    done
    # standard output has its own offset
    for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        seq 2000 >old
        { echo head && svm-rank-predict -q small.svm model $name && echo tail; } 1<>old
        { echo head && cat scores && echo tail; } | cmp - old
        { echo head && svm-rank-predict -q small.svm model $name; } >>old
        { echo head && cat scores && echo tail && echo head && cat scores; } | cmp - old
    done
    # after a failure nothing is written
    seq 2000 >old
    { cat small.svm && echo '1 1:x'; } >bad.svm
    run -1 svm-rank-train -q bad.svm /dev/fd/3 3<>old
    seq 2000 | cmp - old
    # nor to a descriptor that is not open, even if the program opens it, or that is open for reading
    refused svm-rank-predict -q --order small.svm model /dev/fd/9
    refused svm-rank-train -q --log log small.svm /dev/fd/5
    run -1 svm-rank-predict -q small.svm model /dev/fd/3 3<old
    assert_output 'svm-rank-predict: /dev/fd/3: cannot write: Bad file descriptor'
    seq 2000 | cmp - old
    svm-generate mc --rows 3 >three
    echo head >old
    svm-generate mc --rows 3 --output /dev/fd/3 3>>old
    { echo head && cat three; } | cmp - old
}

# bats test_tags=long
@test "outputs: no descriptor gets two outputs, or leads to an input" {
    train small.svm model
    svm-mc-train -q small.svm mc >/dev/null
    seq 60 >folds
    seq 60 >weights
    cp small.svm A
    cp small.svm other
    : >new
    sha256sum A other model mc folds weights >sums
    local clash
    while read -r clash; do
        run -2 bash -o pipefail -c "$clash"
        [[ $output == *': two outputs to one file: '* || $output == *' is read and written: try --help' ]] ||
            fail "$clash: $output"
        sha256sum --quiet -c sums
    done <<'END'
svm-mc-train A /dev/fd/1 >new
svm-mc-train A /proc/self/fd/1 >new
svm-mc-train A /dev/fd/1 | cat
svm-mc-train A new >new
svm-mc-train --log /dev/fd/1 A new >report
svm-mc-train --log /dev/fd/3 A /proc/self/fd/3 3>new
svm-mc-train --log /dev/fd/3 A /dev/fd/4 3>new 4>&3
svm-mc-train --log /dev/fd/3 A /dev/fd/4 3>new 4>>new
svm-mc-train --proof new A /dev/fd/3 3>new
svm-mc-train -v 3 -c 1,2 --log /dev/stdout A >new
svm-mc-train A /dev/fd/3 3>>A
svm-mc-train A new >>A
svm-mc-train A - >>A
svm-mc-train - new <A >>A
svm-mc-train A /dev/stdout >>A
svm-mc-train --log /dev/fd/3 A new 3>>A
svm-mc-train --proof /dev/fd/3 A new 3>>A
svm-mc-train --fold-file folds -c 1,2 A >>folds
svm-mc-train --validate other -c 1,2 A /dev/fd/3 3>>other
svm-top-train --positive 1 --row-weights weights A /dev/fd/3 3>>weights
svm-mc-predict A mc - >>A
svm-mc-predict A mc >>mc
svm-mc-predict A mc /dev/fd/3 3>>mc
svm-mc-predict --metrics A mc /dev/stdout >new
svm-mc-predict --confusion /dev/fd/3 A mc new 3>>A
svm-mc-predict --batch --metrics mc A other >>other
svm-mc-predict --batch --by-query /dev/fd/3 mc A other 3>>other
svm-rank-predict --standards other A model - >>other
svm-check A mc - <weights >>weights
svm-generate smm --output new --truth ./new
svm-generate smm --output /dev/fd/3 --truth new 3>new
END
    ln -s nowhere link
    misused svm-mc-train --log nowhere A link
}

# ---- permissions ----

# bats test_tags=long
@test "outputs: only the permission bits of a replaced file are kept" {
    train small.svm model
    for mode in 6777 4755 2750 1666 660 600 444 0; do
        echo old >new
        if [ "$(id -u)" = 0 ]; then
            chown nobody new
        elif [ $mode = 444 ] || [ $mode = 0 ]; then
            continue # may not be written
        fi
        chmod $mode new
        svm-rank-predict -q small.svm model new
        assert_equal "$(stat -c '%a %u' new)" "$(printf '%o' $((0$mode & 0777))) $(id -u)"
    done
}

@test "outputs: a temporary file is not more readable than its target, and links are followed by the system" {
    sanitized && skip 'the sanitizer wants to be loaded first'
    cat >system.c <<'END'
/* A file system without O_TMPFILE (NO_TMPFILE), and a link that the system does not follow (LINK): stat and
 * what opens it fail, readlink does not. Tells of the file whose permissions are set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
static int refused(const char *path) {
    const char *link = getenv("LINK");
    errno = EACCES;
    return link && strcmp(link, path) == 0;
}
int stat(const char *path, struct stat *status) {
    int (*next)(const char *, struct stat *) = dlsym(RTLD_NEXT, "stat");
    return refused(path) ? -1 : next(path, status);
}
int stat64(const char *path, struct stat64 *status) { /* by which Python calls it */
    int (*next)(const char *, struct stat64 *) = dlsym(RTLD_NEXT, "stat64");
    return refused(path) ? -1 : next(path, status);
}
int faccessat(int folder, const char *path, int mode, int flags) {
    int (*next)(int, const char *, int, int) = dlsym(RTLD_NEXT, "faccessat");
    return refused(path) ? -1 : next(folder, path, mode, flags);
}
int open(const char *path, int flags, ...) {
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    va_list more;
    va_start(more, flags);
    int mode = va_arg(more, int);
    va_end(more);
    if (getenv("NO_TMPFILE") && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return refused(path) ? -1 : next(path, flags, mode);
}
int fchmod(int fd, mode_t mode) {
    int (*next)(int, mode_t) = dlsym(RTLD_NEXT, "fchmod");
    struct stat status;
    fstat(fd, &status);
    fprintf(stderr, "%o, then %o\n", (unsigned)status.st_mode & 07777, (unsigned)mode);
    return next(fd, mode);
}
END
    ${CC:-cc} -shared -fPIC -o system.so system.c -ldl 2>/dev/null || skip 'no compiler, or no such system'
    train small.svm model
    svm-rank-predict -q small.svm model >scores
    umask 022
    for without in '' 1; do
        echo old >new
        chmod 640 new
        run -0 env ${without:+NO_TMPFILE=1} LD_PRELOAD="$tmp/system.so" svm-rank-predict -q small.svm model new
        assert_output '600, then 640'
        cmp new scores
        rm new
        run -0 env ${without:+NO_TMPFILE=1} LD_PRELOAD="$tmp/system.so" svm-rank-predict -q small.svm model new
        refute_output
        assert_equal "$(stat -c %a new)" 644
    done
    echo 'dualsvm rank 1' >victim
    chmod 600 victim
    ln -s victim link
    run -1 env LINK=link LD_PRELOAD="$tmp/system.so" svm-rank-train -q small.svm link
    assert_output 'svm-rank-train: link: cannot write: Permission denied'
    assert_equal "$(<victim)" 'dualsvm rank 1'
    if command -v python3 >/dev/null; then
        run -1 env LINK=link LD_PRELOAD="$tmp/system.so" "$root/tools/subset" --rows 5 small.svm link
        assert_output 'subset: link: Permission denied'
        assert_equal "$(<victim)" 'dualsvm rank 1'
    fi
    [ -z "$(find . -name ".dualsvm*")" ]
}

@test "outputs: standard input is read only once" {
    train small.svm model
    for command in 'rank-predict - -' 'rank-predict --batch - -' 'rank-predict --standards - - model' \
        'rank-predict --standards - small.svm -' 'rank-train --validate - -' 'top-train --row-weights - -' \
        'mc-train --fold-file - -' 'check - - -' 'check - model -'; do
        misused svm-$command
        assert_equal "$(<err)" "svm-${command%% *}: only one file can be standard input: try --help"
    done
}

# ---- disks ----

# bats test_tags=long
@test "outputs: a full disk is an error for model, predictions, log and stdout" {
    [ -c /dev/full ] || skip 'no /dev/full'
    train small.svm model
    refused svm-rank-train -q small.svm /dev/full
    refused svm-rank-predict -q small.svm model /dev/full
    refused svm-rank-train -q --log /dev/full small.svm empty.model
    for command in 'svm-rank-train --help' 'svm-rank-train --version' 'svm-rank-predict --help' \
        'svm-rank-predict -q small.svm model' 'svm-rank-train -q -v 3 small.svm' \
        'svm-rank-train -q small.svm -' 'svm-rank-predict -q --metrics small.svm model scores' \
        'svm-rank-train -q -v 3 -c 1,2 small.svm' 'svm-rank-predict -q --pairs small.svm model' \
        'svm-rank-predict -q --order small.svm model'; do
        local status=0
        $command >/dev/full 2>err || status=$?
        [ "$status" = 1 ] || fail "exit $status: $command"
        assert_equal "$(wc -l <err)" 1
    done
    [ -c /dev/full ]
}

@test "outputs: a closed stdout is an error" {
    train small.svm model
    local status=0
    svm-rank-predict -q small.svm model >&- 2>err || status=$?
    assert_equal "$status" 1
}

# bats test_tags=long
@test "outputs: if no file can be created, nothing is trained and one line says so" {
    train small.svm model
    for target in small.svm/model missing/model . /proc/model /proc/self/model; do
        refused svm-rank-train -q small.svm $target
        refused svm-rank-predict -q small.svm model $target
    done
    refused svm-rank-train -q --log missing/log small.svm new.model
    [ ! -e new.model ]
}

# keeps FILE WHAT COMMAND...: it is refused because FILE exists and is not WHAT, and no file changes.
keeps() {
    local file=$1 what=$2
    shift 2
    refused "$@"
    assert_equal "$(<err)" "$1: $file: exists and is not $what: name another file, or --force replaces it"
    sha256sum --quiet -c sums
}

# bats test_tags=long
@test "outputs: a trainer replaces no file of another kind, unless --force" {
    svm-generate mc --rows 40 --output a.train
    svm-generate mc --rows 40 --seed 2 --output a.test
    cp a.test a.weights
    svm-mc-train -q a.train mc.model
    svm-rank-train -q small.svm rank.model
    gzip <a.test >packed
    printf '\n' >line
    ln -s a.test link
    sha256sum a.* rank.model packed line >sums
    keeps a.test 'a model of svm-mc-train' svm-mc-train -q a.train a.test
    for file in rank.model packed line link; do
        keeps $file 'a model of svm-mc-train' svm-mc-train -q a.train $file
    done
    # before any work, and for the default name
    keeps a.test 'a model of svm-mc-train' svm-mc-train -v 2 -c 1,2 nothing a.test
    cp rank.model a.train.model
    keeps a.train.model 'a model of svm-mc-train' svm-mc-train -q a.train
    keeps a.test 'a log' svm-mc-train -q --log a.test a.train new
    keeps a.test 'a proof' svm-mc-train -q --proof a.test a.train new
    keeps a.test 'a model of LIBLINEAR' svm-mc-train -q --liblinear a.test a.train new
    keeps a.test 'a model of LIBSVM' svm-rank-train -q --libsvm a.test small.svm new
    svm-generate smm --rows 20 --output matrices.svm
    keeps a.weights 'a file of --weights' svm-smm-train -q --weights a.weights matrices.svm new
    [ ! -e new ]
    # its own outputs are replaced, as are empty files and others with --force
    : >empty
    mkfifo pipe
    cat pipe >through &
    for file in empty mc.model /dev/null pipe; do
        svm-mc-train -q --log log --proof proof --liblinear linear a.train $file
    done
    wait $!
    cmp through mc.model
    cmp empty mc.model
    gzip <mc.model >packed.model
    svm-mc-train -q a.train packed.model
    svm-mc-train -q a.train - >shell.model
    cmp packed.model shell.model
    svm-smm-train -q --weights weights matrices.svm smm.model
    svm-smm-train -q --weights weights matrices.svm smm.model
    svm-rank-train -q --libsvm exported small.svm rank.model
    svm-rank-train -q --libsvm exported small.svm rank.model
    svm-mc-train -q --force --log a.weights a.train a.test
    cmp a.test mc.model
    grep -q '^iteration' a.weights
}

@test "outputs: a predictor replaces no model, unless --force" {
    train small.svm model
    cp model other
    cp model small.svm.predict
    svm-rank-train -q --libsvm exported small.svm third
    for file in other exported; do
        cp $file before
        refused svm-rank-predict -q small.svm model $file
        assert_equal "$(<err)" "svm-rank-predict: $file: is a model: name another file, or --force replaces it"
        refused svm-rank-predict -q --by-query $file small.svm model new
        cmp $file before
    done
    refused svm-rank-predict -q --batch model small.svm
    assert_equal "$(<err)" 'svm-rank-predict: small.svm.predict: is a model: name another file, or --force replaces it'
    svm-rank-predict -q --batch --force model small.svm
    svm-rank-predict -q small.svm model new
    cmp new small.svm.predict
    svm-rank-predict -q small.svm model new # predictions are replaced
    svm-rank-predict -q --force small.svm model other
    cmp new other
}

@test "outputs: a failed run leaves the old model and no other file" {
    mkdir work && echo 'dualsvm rank 1' >work/model
    { cat small.svm; echo '1 1:x'; } >bad.svm
    refused svm-rank-train -q bad.svm work/model
    assert_equal "$(<work/model)" 'dualsvm rank 1'
    holds work model
    train small.svm work/model
    holds work model
}

@test "outputs: exceeding the file size limit is an error, and the old model stays" {
    sanitized && skip 'limits do not go with the sanitizer'
    rows 300 3 10 4 >medium.svm
    mkdir work && echo 'dualsvm rank 1' >work/model
    local status=0
    (ulimit -f 4 && exec svm-rank-train -q -t 2 medium.svm work/model) >out 2>err || status=$?
    assert_equal "$status" 1
    assert_equal "$(<err)" 'svm-rank-train: work/model: cannot write: File too large'
    assert_equal "$(<work/model)" 'dualsvm rank 1'
    holds work model
}

# bats test_tags=long
@test "outputs: if one of several outputs fails, all old files stay" {
    mkdir work
    awk 'NR % 2 { print "+1 1:" NR } !(NR % 2) { print "-1 1:" -NR " 2:1" }' <(seq 40) >two.svm
    local outputs
    olds() { for name in "$@"; do echo "old $name" >"work/$name"; done; }
    same() { for name in "$@"; do [ "$(<"work/$name")" = "old $name" ] || fail "$name is not old"; done; }
    # standard output fails after the log and a model that is a device were written
    olds model log libsvm
    local status=0
    svm-rank-train -q --log work/log --libsvm work/libsvm small.svm work/model >/dev/full 2>err || status=$?
    assert_equal "$status" 1
    assert_equal "$(wc -l <err)" 1
    same model log libsvm
    holds work libsvm log model
    refused svm-rank-train -q --log work/log --libsvm work/libsvm small.svm /dev/full
    same log libsvm
    refused svm-rank-train -q --log /dev/full --libsvm work/libsvm small.svm work/model
    same model libsvm
    svm-top-train -q two.svm m >report
    svm-mc-train -q two.svm n >report
    olds roc scores table labels
    status=0
    svm-top-predict -q --metrics --roc work/roc two.svm m work/scores >/dev/full 2>err || status=$?
    assert_equal "$status" 1
    refused svm-top-predict -q --roc work/roc two.svm m /dev/full
    refused svm-top-predict -q --roc /dev/full two.svm m work/scores
    status=0
    svm-mc-predict -q --metrics --confusion work/table two.svm n work/labels >/dev/full 2>err || status=$?
    assert_equal "$status" 1
    refused svm-mc-predict -q --confusion /dev/full two.svm n work/labels
    same roc scores table labels
    # without a failure all are new
    svm-top-predict -q --metrics --roc work/roc two.svm m work/scores >metrics
    svm-mc-predict -q --confusion work/table two.svm n work/labels
    [ "$(cat work/roc work/scores work/table work/labels | grep -c '^old')" = 0 ]
}

@test "outputs: limits of address space, stack, files and processes end in a model or in one line" {
    sanitized && skip 'limits do not go with the sanitizer'
    rows 300 3 10 4 >medium.svm
    for limit in '-v 60000' '-v 150000' '-v 330000' '-v 400000' '-v 700000' '-s 16' '-s 64' '-u 1' '-f 0' '-n 5'; do
        local status=0
        local shell=(bash)
        case $limit in
        # the environment is on the stack; bash may have used more of it, and dash has no -u
        -s*) shell=(env -i "PATH=$PATH" sh) ;;
        esac
        # standard error is a pipe, to which no size limit applies
        { "${shell[@]}" -c "ulimit $limit && exec svm-rank-train -q -j 4 -t 2 medium.svm model" 3>&- 4>&- 2>&1 >out &&
            echo 0 >code || echo $? >code; } | cat >err
        status=$(<code)
        if [ "$status" = 1 ]; then
            assert_equal "$(wc -l <err)" 1
            grep -q '^svm-rank-train: ' err
        else
            assert_equal "$status" 0
        fi
    done
    (ulimit -v 60000 && exec svm-rank-train --help) >out 2>err || status=$?
    assert_equal "$(<err)" 'svm-rank-train: the address space is limited (ulimit -v) to less than the 327680 kB that are needed'
}

# limited_to LIMIT CODES PROGRAM ARGUMENTS: under that limit the program exits with one of the codes, and
# prints one line if that is 1.
limited_to() {
    local limit=$1 codes=$2 status=0
    shift 2
    # shellcheck disable=SC2086 # a letter and a number
    (ulimit $limit && exec timeout -s KILL 60 "$@") >out 2>err || status=$?
    [[ " $codes " == *" $status "* ]] || fail "ulimit $limit, $*: exit $status"
    [ "$status" != 1 ] || assert_equal "$(wc -l <err)" 1
}

@test "outputs: a memory limit that OpenBLAS exceeds ends a run at once" {
    sanitized && skip 'limits do not go with the sanitizer'
    rows 40 3 4 4 >rank.svm
    awk 'NR % 4 == 1 { $1 = NR % 8 == 1 ? -1 : 1; print }' rank.svm | sed 's/qid:[0-9]* //' >top.svm
    cp top.svm mc.svm
    cp top.svm smm.svm
    sed 's/^-1/1,2/' top.svm >ml.svm
    local family options
    for family in rank top mc ml smm; do
        options=('-q' '-c' '1')
        [ $family != smm ] || options+=('--shape' 2x2)
        svm-$family-train "${options[@]}" $family.svm $family.model >out
        # the first is less than OpenBLAS needs for one thread, the second less than for two
        limited_to '-d 100000' 1 svm-$family-train "${options[@]}" $family.svm new.$family
        assert_file_contains err '^svm-.*-train: out of memory: 128 MB for OpenBLAS'
        limited_to '-d 100000' 0 svm-$family-predict $family.svm $family.model scores # without BLAS
        limited_to '-d 250000' 0 svm-$family-train "${options[@]}" -j 2 $family.svm new.$family
        cmp new.$family $family.model
        limited_to '-d 250000' 0 svm-$family-predict -j 2 $family.svm $family.model scores
        [ $family != smm ] || continue
        limited_to '-d 100000' 1 svm-$family-train "${options[@]}" -t rbf $family.svm new.$family
        svm-$family-train "${options[@]}" -t rbf $family.svm $family.model >out
        limited_to '-d 100000' 1 svm-$family-predict $family.svm $family.model scores
        assert_file_contains err '^svm-.*-predict: out of memory: 128 MB for OpenBLAS'
        limited_to '-d 250000' 0 svm-$family-predict -j 2 $family.svm $family.model scores
        limited_to '-v 330000' '0 1' svm-$family-train "${options[@]}" -t rbf -j 2 $family.svm new.$family
    done
}

# ---- signals ----

# bats test_tags=long
@test "outputs: SIGINT and SIGTERM during training leave the old model and no other file" {
    rows 2000 5 20 9 >long.svm
    mkdir work && echo 'dualsvm rank 1' >work/model
    for signal in INT TERM; do
        local status=0
        timeout --preserve-status -s $signal 1 svm-rank-train --solver fw --step diminishing \
            -e 1e-12 -c 100 --max-time 60 long.svm work/model >out 2>err || status=$?
        [ "$status" != 0 ] || fail "$signal: exit 0"
        assert_equal "$(<work/model)" 'dualsvm rank 1'
        holds work model
        timeout -s $signal 1 svm-rank-train -q --solver fw --step diminishing -e 1e-12 -c 100 \
            --max-time 60 long.svm work/new >out 2>err || true
        holds work model
    done
}

# bats test_tags=long
@test "outputs: a signal that ends a program is named, and is its exit status" {
    rows 2000 5 20 9 >long.svm
    mkdir work && echo 'dualsvm rank 1' >work/model
    for signal in HUP:129 INT:130 QUIT:131 TERM:143 XCPU:152 PIPE:141; do
        local status=0
        timeout --preserve-status -s "${signal%:*}" .3 svm-rank-train -q --solver fw --step diminishing \
            -e 1e-12 -c 100 --max-time 60 long.svm work/model >out 2>err || status=$?
        assert_equal "$status" "${signal#*:}"
        if [ "$signal" = PIPE:141 ]; then
            [ ! -s err ]
        else
            assert_equal "$(<err)" "svm-rank-train: ended by SIG${signal%:*}"
        fi
        holds work model
    done
    # ignored signals stay ignored, for nohup
    (trap '' HUP && exec svm-rank-train -q --solver fw --step diminishing -e 1e-12 -c 100 \
        --max-time 1 long.svm work/model) >out 2>err &
    sleep .3
    kill -HUP $!
    wait $!
    grep -q ^dualsvm work/model
}

# bats test_tags=long
@test "outputs: SIGTERM at any moment leaves the old or the complete new model" {
    rows 400 4 10 4 >medium.svm
    mkdir work
    train -t 2 -g .1 medium.svm old.model
    local moment
    for moment in .005 .01 .015 .02 .03 .04 .05 .06 .08 .1 .12 .15 .2 .25 .3; do
        cp old.model work/model
        timeout -s TERM $moment svm-rank-train -q -t 2 -g .1 -c 5 medium.svm work/model || true
        holds work model
        predict medium.svm work/model >scores
    done
}

@test "outputs: a reader that closes the pipe early ends the program silently" {
    rows 20000 5 5 9 >many.svm
    train small.svm model
    for command in 'svm-rank-predict -q many.svm model' 'svm-rank-predict many.svm model -' \
        'svm-rank-predict -q --order many.svm model' 'svm-rank-train --help' \
        'svm-rank-train -q -t 2 -c .1 small.svm -'; do
        { $command 2>err && echo 0 >status || echo $? >status; } | head -1 >first
        [[ $(<status) =~ ^(0|141)$ ]] || fail "exit $(<status): $command"
        [ -s first ]
        grep -qi 'pipe\|write\|error' err && fail "$command: $(<err)"
    done
    true
}
