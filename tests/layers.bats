# tests/layers: the sources keep their layers, and planted violations are found.

load helper

setup() {
    cd "$tmp" || exit 1
}

# of FILE TEXT: the check of sources that are this one file, which were not built.
of() {
    rm -rf house
    mkdir -p "house/$(dirname "$1")"
    printf '%s\n' "$2" >"house/$1"
    run --separate-stderr "$root/tests/layers" house
}

# breaks FILE TEXT MESSAGE: the file's first line is refused, in these words.
breaks() {
    of "$1" "$2"
    assert_failure 1
    assert_output "$1:1: $3"
}

# keeps FILE TEXT: the file is accepted.
keeps() {
    of "$1" "$2"
    assert_success
    refute_output
}

# bats test_tags=long
@test "layers: the sources keep them, and so do the symbols of the build" {
    run "$root/tests/layers" "$root" "$(cd "$bin" && pwd)"
    assert_output ''
    assert_success
}

# bats test_tags=long
@test "layers: an include that points upward is found" {
    while read -r file path; do
        breaks "$file" "#include \"$path\"" \
            "includes $path: $(dirname "$file") may not include $(dirname "$path")"
    done <<'END'
common/base/error.c common/data/data.h
common/base/error.h fit/fit.h
common/base/powers.inc driver/options.h
common/data/data.c common/kernel/kernel.h
common/data/data.c common/model/model.h
common/kernel/gram.c common/model/model.h
common/kernel/gram.c fit/monitor.h
common/model/read.c driver/family.h
common/model/read.c families/mc/frontend/mc.h
fit/fit.c common/model/model.h
fit/fit.c families/rank/solver/rank.h
families/mc/solver/mc.c common/model/model.h
families/mc/solver/mc.c driver/options.h
families/mc/solver/mc.c families/mc/frontend/measures.h
families/mc/solver/mc.c families/rank/solver/rank.h
driver/train.c families/top/solver/top.h
driver/train.c families/top/frontend/top.h
families/shared/label_weights.c families/top/frontend/top.h
families/mc/frontend/train.c families/ml/solver/ml.h
families/mc/frontend/train.c families/ml/frontend/ml.h
families/mc/frontend/train.c datasets/family.h
datasets/mc.c tests/unit
driver/train.c library/private.h
families/mc/frontend/train.c library/private.h
library/train.c check/check.h
END
    of svm-mc-train.c '#include "tests/unit/check.h"'
    assert_line 'svm-mc-train.c:1: includes tests/unit/check.h: a program may not include tests'
    of svm-mc-train.c '#include "families/mc/solver/mc.h"'
    assert_line 'svm-mc-train.c:1: includes families/mc/solver/mc.h: a program may not include families/mc/solver'
    of svm-mc-train.c '#include "library/private.h"'
    assert_line 'svm-mc-train.c:1: includes library/private.h: a program may not include library'
    of examples/c/train.c '#include "driver/train.h"'
    assert_line 'examples/c/train.c:1: includes driver/train.h: examples may not include driver'
    of svm-check.c '#include "families/mc/frontend/mc.h"'
    assert_line 'svm-check.c:1: includes families/mc/frontend/mc.h: svm-check may not include families/mc/frontend'
    breaks common/base/error.c '#  include "error.h"' \
        'includes error.h: not a path from the top folder to a known module'
}

# bats test_tags=long
@test "layers: double-double arithmetic in a file that may be contracted is found" {
    breaks fit/certify.c '#include "common/double_double/dd.h"' \
        'includes common/double_double/dd.h: only files named *_dd.c are compiled without contraction'
    keeps fit/certify_dd.c '#include "common/double_double/dd.h"'
    keeps fit/certify.c '#include "common/double_double/type.h"'
}

# bats test_tags=long
@test "layers: includes that point down are kept, and tests may include all" {
    while read -r file path; do
        keeps "$file" "#include \"$path\""
    done <<'END'
common/base/error.c common/base/error.h
common/model/read.c common/kernel/kernel.h
families/mc/solver/mc.c fit/fit.h
families/mc/solver/mc.c common/kernel/gram.h
driver/train.c common/model/model.h
families/mc/frontend/train.c families/mc/solver/mc.h
families/mc/frontend/train.c families/shared/label_weights.h
datasets/mc.c families/mc/frontend/mc.h
tests/unit/families/mc/solver/mc.c families/mc/frontend/mc.h
tests/fuzz/model.c datasets/family.h
library/train.c families/mc/frontend/mc.h
library/train.c include/dualsvm.h
driver/program.c include/dualsvm.h
examples/c/train.c include/dualsvm.h
END
}

# built FILE TEXT...: the check of sources that are these files, built into house/build.
built() {
    rm -rf house
    while [ $# -gt 0 ]; do
        mkdir -p "house/$(dirname "$1")" "house/build/$(dirname "$1")"
        printf '%s\n' "$2" >"house/$1"
        "${CC:-cc}" -c -o "house/build/${1%.c}.o" "house/$1" || return 1
        shift 2
    done
    run "$root/tests/layers" house
}

# bats test_tags=long
@test "layers: a symbol of a module that may not be used is found, however it was declared" {
    local error='int driver_run(void); int error_set(void) { return driver_run(); }'
    local run='int error_set(void); int driver_run(void) { return error_set(); }'
    built common/base/error.c "$error" driver/run.c "$run"
    assert_failure 1
    assert_output 'common/base/error.c: uses the symbol driver_run of driver, which common/base may not use'
    built families/mc/solver/mc.c 'extern const int table[]; int f(void) { return table[1]; }' \
        families/ml/solver/ml.c 'const int table[] = {1, 2};'
    assert_failure 1
    assert_output --partial 'uses the symbol table of families/ml/solver, which families/mc/solver may not use'
    built common/base/error.c 'int error_set(void) { return 1; }' driver/run.c "$run"
    assert_success
    refute_output
}

# bats test_tags=long
@test "layers: without a build, or with objects of sources that are gone, includes alone are checked" {
    of common/base/error.c 'int x;'
    assert_success
    assert_regex "$stderr" 'no build in .build., or no nm: symbols are not checked$'
    built common/base/error.c 'int driver_run(void); int f(void) { return driver_run(); }' \
        driver/run.c 'int driver_run(void) { return 1; }'
    assert_failure 1
    rm house/driver/run.c
    run "$root/tests/layers" house
    assert_success
    refute_output
}

# bats test_tags=long
@test "layers: a file in no module is found" {
    for file in common/error.c solvers/fit.c solvers/svm/svm.c loose.c svm-mc.h; do
        breaks $file 'int x;' 'is in no known module'
    done
}

# bats test_tags=long
@test "layers: a program that is more than its includes and one call is found" {
    local includes=$'#include "driver/program.h"\n#include "families/shared/tables.h"\n\n/* The trainer. */'
    local call=$'int main(int argc, char **argv) {\n    return program_train(argc, argv, &mc_family);\n}'
    keeps svm-mc-train.c "$includes"$'\n'"$call"
    for text in "static int n;"$'\n'"$call" "${call/return/"argc--; return"}" \
        "${call/return/$'program_start();\n    return'}" "${call/argv,/"other(argv),"}" \
        "#define N 1"$'\n'"$call" ''; do
        of svm-mc-train.c "$includes"$'\n'"$text"
        assert_failure 1
        assert_output --regexp '^svm-mc-train\.c:[0-9]+: a program is its includes and one call$'
    done
}

# bats test_tags=long,slow
@test "layers: code that ends the program, prints or handles signals is refused outside driver/program.c" {
    for code in 'exit(1);' 'if (x) _exit(1);' 'abort();' 'perror("x");' 'fprintf(stderr, "x");' \
        'fputs("x", stdout);' 'FILE *f = stderr;' 'sigaction(SIGINT, &a, NULL);'; do
        for file in common/base/error.c families/mc/solver/mc.c driver/train.c families/mc/frontend/train.c; do
            of $file "$code"
            assert_failure 1
            assert_output --regexp "^$file:1: [a-z_]+ is for driver/program.c and driver/signals.c alone\$"
        done
        for file in driver/program.c datasets/mc.c tests/fuzz/model.c; do
            keeps $file "$code"
        done
    done
    for code in 'printf("x");' 'puts ("x");' 'putchar(1);' 'signal(SIGINT, SIG_IGN);'; do
        of common/base/error.c "$code"
        assert_failure 1
    done
    keeps driver/signals.c 'sigaction(SIGINT, &a, NULL);'
}

# bats test_tags=long
@test "layers: a solver that opens files is found" {
    breaks families/mc/solver/mc.c 'f = fopen(path, "r");' 'fopen in a solver'
    breaks families/mc/solver/mc.c 'output_open(&o, "-", &err);' 'output_open in a solver'
    keeps common/data/source.c 'f = fopen(path, "r");'
}

# bats test_tags=long
@test "layers: comments and strings do not count, and what only looks alike does not" {
    keeps common/base/error.c '/* exit(1); "
abort(); // " */ int exits = snprintf(x, "exit(1); \" abort();"), y = "/*"[0], q = '"'\"'"';
int z; // perror(x)
void f(int signal, struct s *printf) __attribute__((format(printf, 1, 2)));'
    of common/base/error.c '/* one
 * two */ abort();'
    assert_output 'common/base/error.c:2: abort is for driver/program.c and driver/signals.c alone'
}
