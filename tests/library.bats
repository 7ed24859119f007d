# libdualsvm: the public interface, its exports, and the same results as the programs.

load helper

setup() {
    cd "$tmp" || exit 1
    # the library leaves BLAS's settings alone; these are those of the programs
    export OPENBLAS_NUM_THREADS=1
    OPENBLAS_CORETYPE=$(kernels_of_blas)
    export OPENBLAS_CORETYPE
}

# installed: runs make install into $tmp/root, and sets the path of pkg-config.
installed() {
    sanitized && skip 'once is enough'
    command -v pkg-config >/dev/null || skip 'no pkg-config'
    make -s -C "$root" -o all BUILD="$bin" PREFIX=/usr DESTDIR="$tmp/root" install >/dev/null
    export PKG_CONFIG_SYSROOT_DIR=$tmp/root PKG_CONFIG_PATH=$tmp/root/usr/lib/pkgconfig
    export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
    export LD_LIBRARY_PATH=$tmp/root/usr/lib
}

# compiled NAME: compiles an example with the flags of pkg-config only.
compiled() {
    # word splitting is intended
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -o "$1" "$root/examples/c/$1.c" \
        $(pkg-config --cflags --libs dualsvm)
}

# bats test_tags=long
@test "library: rows from arrays and from a file give the program's model and predictions, byte for byte" {
    sanitized && local only=.8
    for family in rank top mc ml smm; do
        shape=()
        [ $family = smm ] && shape=(--shape 2x3)
        for share in ${only-1 .8 .2}; do
            for option in 'cost 1' 'scale std' 'scale l2' 'kernel rbf'; do
                [ "$family $option" = 'smm kernel rbf' ] && continue
                read -r name value <<<"$option"
                unit library/same $family $share "$name" "$value"
                svm-$family-train -q --force "${shape[@]}" "--$name" "$value" $family.svm model >/dev/null
                svm-$family-predict -q $family.svm model lines 2>/dev/null
                cmp model $family.model
                cmp lines $family.lines
            done
        done
    done
}

@test "library: invalid arguments give error messages, and every option is described" {
    unit library/refusals
}

@test "library: precomputed kernels, weights, folds and row names work as from files" {
    unit library/beside
}

# bats test_tags=long
@test "library: candidates in arrays are ranked as by svm-rank-candidates, byte for byte" {
    local options words arguments
    # two runs, equal times, a feature without a time, candidates without a score, maps for one run or both
    for options in '' 'trees 5 seed 3' 'edges sigmoid order-weight 2' 'system Beta time-weight 1' 'D 0 E 0'; do
        read -ra words <<<"$options"
        unit library/candidates "${words[@]}"
        arguments=()
        for ((i = 0; i < ${#words[@]}; i += 2)); do
            [ ${#words[i]} = 1 ] && arguments+=("-${words[i]}") || arguments+=("--${words[i]}")
            arguments+=("${words[i + 1]}")
        done
        svm-rank-candidates -q "${arguments[@]}" candidates.svm model times.tsv expected 2>/dev/null
        cmp expected found
    done
    unit library/candidates refusals
}

# bats test_tags=long,slow
@test "library: callbacks receive progress and rows, can stop the work, and threads train concurrently" {
    unit library/watch
}

# bats test_tags=long,slow
@test "library: a thousand fits do not leak memory" {
    if sanitized || quick; then
        unit library/leaks 10 # leaks are found by the sanitizer
    else
        unit library/leaks 400 # of several fits each
    fi
}

# bats test_tags=long
@test "library: a locale with a decimal comma changes nothing" {
    localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" 2>/dev/null || skip 'no sources of locales'
    run -0 env LOCPATH="$tmp" LC_ALL=de_DE.UTF-8 "$bin/tests/unit/library/same" mc .8 kernel rbf gamma 0.25 cost 0.5
    [ "$output" = 'ok: mc, point ,' ] || skip 'no locale with a decimal comma'
    svm-mc-train -q --kernel rbf --gamma 0.25 --cost 0.5 mc.svm model >/dev/null
    svm-mc-predict -q mc.svm model lines 2>/dev/null
    cmp model mc.model
    cmp lines mc.lines
}

@test "library: exports are those that the header declares, and no others" {
    sanitized && skip 'once is enough'
    # exported FILE OPTION: the exported names
    exported() {
        nm "$2" --defined-only "$1" | awk 'NF == 3 && $2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort
    }
    exported "$bin/libdualsvm.so.0" -D | diff "$root/library/symbols" -
    exported "$bin/libdualsvm.a" -g | diff "$root/library/symbols" -
    # declarations end in `);` or continue on the next line, and nothing else begins like them
    sed -n 's/^DUALSVM_API .*[ *]\(dualsvm_[a-z_]*\)(.*/\1/p' "$root/include/dualsvm.h" | sort |
        diff "$root/library/symbols" -
    readelf -d "$bin/libdualsvm.so.0" >dynamic
    grep -q 'SONAME.*\[libdualsvm.so.0\]' dynamic
}

@test "library: nothing in it ends the process, prints, or uses signals, locale and BLAS settings" {
    sanitized && skip 'once is enough'
    counted && skip 'what counts lines calls exit'
    nm -D --undefined-only "$bin/libdualsvm.so.0" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >wanted
    grep -qx malloc wanted
    run grep -xE '_?_?_?(exit|_exit|_Exit|quick_exit|abort|atexit)|v?printf|puts|putchar|perror|(__)?(v?printf|puts)_chk|signal|sigaction|sigprocmask|pthread_sigmask|raise|kill|setlocale|uselocale|setenv|putenv|openblas_set_num_threads|stdout|stderr|getenv' wanted
    assert_output ''
    run "$bin/svm-rank-train" --version
    assert_output "svm-rank-train (dualsvm) $(sed -n 's/^#define DUALSVM_VERSION "\(.*\)"/\1/p' "$root/include/dualsvm.h")"
}

@test "library: a memory limit that OpenBLAS exceeds is an error, not an endless wait" {
    sanitized && skip 'limits do not go with the sanitizer'
    printf '1 1:1 2:2\n2 1:2 2:1\n' >rank.svm
    printf '1,2 1:1 2:2\n2 1:2 2:1\n' >ml.svm
    for family in rank ml; do
        # also with OpenBLAS's own threads, which allocate memory when it is loaded
        for threads in 1 2; do
            for limit in '-d 60000' '-d 100000' '-v 150000'; do
                local status=0
                # shellcheck disable=SC2086 # a letter and a number
                (ulimit $limit && OPENBLAS_NUM_THREADS=$threads \
                    exec timeout -s KILL 60 "$bin/tests/fault/api" $family $family.svm model) >out 2>err || status=$?
                assert_equal "$limit: $status, $(<err)" \
                    "$limit: 1, api: out of memory: 128 MB for OpenBLAS, more than a limit leaves (ulimit -d, ulimit -v, overcommit)"
            done
        done
    done
}

@test "library: the header alone compiles as C11 and as every version of C++" {
    printf '#include <dualsvm.h>\n%s\n' \
        'int main(void) { return dualsvm_version_number() == DUALSVM_VERSION_NUMBER ? 0 : 1; }' >main.c
    cp main.c main.cc
    ${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -I"$root/include" -c main.c
    for cxx in g++ clang++; do
        command -v $cxx >/dev/null || continue
        for year in 98 11 17 20; do
            # long long, in stdint.h, is newer than C++98
            $cxx -std=c++$year -Wall -Wextra -Wpedantic -Wno-long-long -Werror -I"$root/include" \
                -c -o main.$year.o main.cc
        done
    done
}

@test "library: after make install, pkg-config compiles the examples, and they run" {
    installed
    assert_equal "$(pkg-config --modversion dualsvm)" "$(svm-check --version | sed 's/.* //')"
    for name in train predict sweep; do
        compiled $name
    done
    run ./train clouds.model
    assert_success
    assert_line 'classes = 3'
    assert_line --regexp '^at most [0-9.e-]+% above the optimum$'
    run ./predict clouds.model
    assert_output --regexp $'^low [0-9.]+\nright [0-9.]+\nleft [0-9.]+$'
    run ./predict no-such-file
    assert_failure 1
    assert_output 'predict: no-such-file: No such file or directory'
    printf 'low 1:0 2:0.1\nlow 1:0.2 2:0\nright 1:2 2:2.1\nright 1:2.2 2:1.9\nleft 1:-1 2:2\nleft 1:-1.2 2:2.1\n' >clouds
    svm-mc-train -q -t rbf -c 10 clouds clouds.other >/dev/null
    cmp clouds.model clouds.other
    ./sweep "$root/datasets/rank.train" best.model >swept
    assert_equal "$(grep -c '^minmax C=.*: 0\.' swept)" 4
    svm-rank-train -q -t minmax -c 2^-3:2^3:x4 -v 3 "$root/datasets/rank.train" other.model >table 2>/dev/null
    cmp best.model other.model
    cut -f 5,3,8 table | awk -F '\t' 'NR > 1 { print $2 " C=" $1 ": " $3 }' | diff - <(grep : swept | grep -v best)
}

@test "library: the programs in doc/library.md compile and run" {
    installed
    # section, the line after its program, what it prints
    while IFS='|' read -r section after output; do
        sed -n "/^$section/,/^$after/ { s/^    //; /^#include/,/^}/p }" "$root/doc/library.md" >main.c
        assert_equal "$(tail -1 main.c)" '}'
        # word splitting is intended
        # shellcheck disable=SC2046
        ${CC:-cc} -std=c11 -Wall -Wextra -Werror -o main main.c $(pkg-config --cflags --libs dualsvm)
        run ./main
        assert_success
        assert_output -- "$output"
    done <<'TABLE'
A fit to arrays|Functions return|-1
Candidates|It prints|1 2 1 2
TABLE
}

@test "library: the static library links without other libraries of the project" {
    counted && skip 'it wants what counts lines'
    installed
    rm "$tmp"/root/usr/lib/libdualsvm.so*
    # word splitting is intended
    # shellcheck disable=SC2046
    ${CC:-cc} -o train "$root/examples/c/train.c" $(pkg-config --static --cflags --libs dualsvm)
    ./train clouds.model >said
    grep -q 'above the optimum' said
}
