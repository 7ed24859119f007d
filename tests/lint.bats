# `make lint` (tests/lint) finds each kind of error, on small sources with one error each.

load helper

setup() {
    cd "$tmp" || exit 1
    for tool in clang-format shellcheck mandoc; do
        command -v $tool >/dev/null || skip "$tool is not installed"
    done
    mkdir -p sources/common/base sources/tools sources/tests sources/doc
    cp "$root/.clang-format" sources
    printf 'int one(void) {\n    return 1;\n}\n' >sources/common/base/one.c
    printf '#!/bin/sh\necho "$1"\n' >sources/tools/say
    printf '@test "one" {\n    run say\n}\n' >sources/tests/one.bats
    printf 'one() {\n    echo 1\n}\n' >sources/tests/one.bash
    sed '/^\.Dt/s/ .*/ ONE 1/' "$root/doc/svm-mc-predict.1" >sources/doc/one.1
}

# finds TITLE: this check fails, and no other.
finds() {
    run -1 "$root/tests/lint" sources
    assert_equal "$(grep -c '^not ok' <<<"$output")" 1
    assert_line "not ok - lint: $1"
    assert_line '5 passed, 1 failed'
}

# bats test_tags=long
@test "lint: correct sources pass" {
    run -0 "$root/tests/lint" sources
    assert_equal "$(grep -c '^ok' <<<"$output")" 6
    assert_equal "${lines[-1]}" '6 passed, 0 failed'
}

# bats test_tags=long
@test "lint: C with another layout is refused" {
    printf 'int one(void)\n{\n  return 1;\n}\n' >sources/common/base/one.c
    finds 'C files have the layout of clang-format'
}

# bats test_tags=long
@test "lint: a comment line over 100 columns is refused" {
    printf '/* %0100d */\nint one(void) {\n    return 1;\n}\n' 0 >sources/common/base/one.c
    finds 'C files have the layout of clang-format'
}

# bats test_tags=long
@test "lint: an error in a shell script in any folder is found" {
    printf '#!/bin/sh\necho $1\n' >sources/.run
    finds 'shellcheck finds nothing in shell scripts'
}

# bats test_tags=long,slow
@test "lint: an error in a test or in a helper is found" {
    printf '@test "one" {\n    cd one\n    run say $(ls *)\n}\n' >sources/tests/one.bats
    finds 'shellcheck finds nothing in the tests'
    printf '@test "one" {\n    run say\n}\n' >sources/tests/one.bats
    printf 'one() {\n    cat one | say\n}\n' >sources/tests/one.bash
    finds 'shellcheck finds nothing in the tests'
}

# bats test_tags=long
@test "lint: an assertion that cannot fail, since && follows it, is found" {
    printf '@test "one" {\n    [ -e one ] %s [ -e two ]\n    say\n}\n' '&&' >sources/tests/one.bats
    finds 'shellcheck finds nothing in the tests'
    assert_line './tests/one.bats:2:    [ -e one ] '"&&"' [ -e two ]'
}

# bats test_tags=long
@test "lint: an error in a manual page is found" {
    printf '.Nosuch macro\n' >>sources/doc/one.1
    finds 'mandoc finds nothing in manual pages'
}

# bats test_tags=long
@test "lint: an include that breaks the layers is found" {
    printf '#include "driver/train.h"\n' >sources/common/base/one.c
    finds 'includes and calls respect the layers'
}

# bats test_tags=long,slow
@test "lint: a private word is refused, with its line and what to write instead" {
    printf '/* rows that %s */\nint one(void) {\n    return 1;\n}\n' differ >sources/common/base/one.c
    finds 'no private words'
    assert_line 'common/base/one.c:1: rows that '"differ"': write distinct rows'
    printf 'a row without twi%s\n' ns >sources/README
    run -1 "$root/tests/words" sources
    assert_line --partial 'README:1: twi'"ns"': write duplicates'
    assert_equal "${#lines[@]}" 2
}

# bats test_tags=long
@test "lint: every excused mutant is a mutant of these sources" {
    "$root/tests/mutate/run" --list >/dev/null
}
