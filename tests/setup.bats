# The packages that the two commands of the README need on a fresh machine, and the last line of a test run.

load helper

# A machine with few tools: only these are on the path.
setup() {
    cd "$tmp" || exit 1
    unset CC MPI
    mkdir tools
    for tool in sh env printf cat make awk dirname tr; do
        ln -s "$(command -v $tool)" tools
    done
    # a compiler that finds the headers listed in $tmp/headers
    fake cc 'header=$(sed -n "s/#include <\(.*\)>/\1/p"); grep -q "^$header$" headers'
    ln -s "$(command -v sed)" "$(command -v grep)" "$(command -v touch)" tools
    fake id 'cat id'
    fake uname 'echo x86_64'
    echo 0 >id
    printf '%s\n' stdio.h cblas.h zlib.h isa-l/igzip_lib.h mpfr.h >headers
    fake bats ':'
    fake svm-predict ':'
    fake liblinear-predict ':'
    fake gnuplot ':'
    fake obabel ':'
    fake python3 ':'
    for library in bats-support bats-assert bats-file; do
        mkdir -p lib/$library
        touch lib/$library/load.bash
    done
}

fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"tools/$1"
    chmod +x "tools/$1"
}

set_up() {
    PATH=$tmp/tools BATS_LIB_PATH=$tmp/lib CC=${CC-cc} CFLAGS='' LDFLAGS='' MPI=${MPI-} \
        run "$root/tools/setup" "$@"
}

# bats test_tags=long
@test "setup: if nothing is missing, nothing is printed or installed" {
    fake apt-get 'echo called >>apt.log'
    set_up build
    assert_success
    refute_output
    set_up test
    assert_success
    refute_output
    assert_file_not_exist apt.log
}

# bats test_tags=long
@test "setup: missing packages are installed by apt-get, with the reasons" {
    echo stdio.h >headers
    fake apt-get 'echo "$*" >>apt.log; [ "$1" = update ] || printf "cblas.h\nzlib.h\n" >>headers'
    set_up build
    assert_success
    assert_output --partial 'libopenblas-dev: matrix products'
    assert_output --partial 'zlib1g-dev: reads and writes gzip'
    assert_file_contains apt.log 'install .* libopenblas-dev zlib1g-dev$'
}

# bats test_tags=long
@test "setup: the tests ask for ISA-L where it exists; a build never needs it" {
    sed -i /isa-l/d headers
    fake apt-get 'echo "$*" >>apt.log; [ "$1" = update ] || echo isa-l/igzip_lib.h >>headers'
    set_up --check build
    assert_success
    refute_output
    fake uname 'echo riscv64'
    set_up test
    assert_success
    refute_output
    fake uname 'echo aarch64'
    set_up test
    assert_success
    assert_output --partial 'libisal-dev: unpacks gzip faster'
    assert_file_contains apt.log 'install .* libisal-dev$'
}

# bats test_tags=long
@test "setup: only the tests ask for MPFR" {
    sed -i /mpfr/d headers
    fake apt-get 'echo "$*" >>apt.log; [ "$1" = update ] || echo mpfr.h >>headers'
    set_up --check build
    assert_success
    refute_output
    set_up test
    assert_success
    assert_output --partial 'libmpfr-dev: judges bounds'
    assert_file_contains apt.log 'install .* libmpfr-dev$'
}

# bats test_tags=long
@test "setup: an installation that fails or installs nothing stops the run" {
    echo stdio.h >headers
    fake apt-get '[ "$1" = update ]'
    set_up build
    assert_failure 1
    fake apt-get ':'
    set_up build
    assert_failure 1
}

# bats test_tags=long
@test "setup: lint needs its tools, and no compiler" {
    rm tools/cc
    fake shellcheck ':'
    fake clang-format ':'
    set_up --check lint
    assert_failure 1
    assert_output --partial 'mandoc: reads the manual pages'
    refute_output --partial shellcheck
    refute_output --partial gcc
    fake mandoc ':'
    set_up lint
    assert_success
    refute_output
    set_up --check build
    assert_failure 1
    set_up paint
    assert_failure 2
}

# bats test_tags=long
@test "setup: without apt-get the packages are only named" {
    rm tools/bats
    set_up test
    assert_failure 1
    assert_output --partial 'bats: runs the tests'
    assert_output --partial 'by hand'
    set_up build
    assert_success
}

# bats test_tags=long
@test "setup: without root it uses sudo, and without sudo it refers to an administrator" {
    echo 1000 >id
    rm tools/bats
    fake apt-get 'echo "$*" >>apt.log; printf "#!/bin/sh\n" >tools/bats; [ "$1" = update ] || \
        /bin/chmod +x tools/bats'
    set_up test
    assert_failure 1
    assert_output --partial 'apt-get install bats'
    assert_file_not_exist apt.log
    fake sudo 'echo "$*" >>sudo.log; exec "$@"'
    set_up test
    assert_success
    assert_file_contains sudo.log 'apt-get install .* bats$'
}

# bats test_tags=long
@test "setup: a build with MPI needs its compiler, its tests need mpirun, and other builds need neither" {
    fake gcc ':'
    MPI=1 CC=mpicc set_up --check build
    assert_failure 1
    assert_output --partial 'libopenmpi-dev: mpicc'
    refute_output --partial openmpi-bin
    fake apt-get '[ "$1" = update ] || { cp tools/cc tools/mpicc; cp tools/bats tools/mpirun
        cp tools/bats tools/parallel; }'
    ln -s "$(command -v cp)" tools
    MPI=1 CC=mpicc set_up test
    assert_success
    assert_output --partial 'openmpi-bin: mpirun'
    MPI=1 CC=mpicc set_up test
    assert_success
    refute_output
    rm tools/mpicc tools/mpirun
    set_up test
    assert_success
    refute_output
}

# bats test_tags=long
@test "setup: plain make names missing packages and installs nothing" {
    echo stdio.h >headers
    fake apt-get 'echo called >>apt.log'
    set_up --check build
    assert_failure 1
    assert_output --partial 'libopenblas-dev'
    assert_output --partial 'make demo'
    assert_file_not_exist apt.log
}

# ---- the last line ----

# A nested run, without the variables and folders of this one.
run_suite() {
    run env -i PATH=/usr/local/bin:/usr/bin:/bin TMPDIR="$tmp" "$root/tests/run" "$tmp/suite.bats"
}

closing() {
    run_suite
    echo "${lines[-1]}"
}

# bats test_tags=long,slow
@test "run: the last line counts passed, failed and skipped tests" {
    printf '@test "a" {\n true\n}\n@test "b" {\n skip no\n}\n' >suite.bats
    assert_equal "$(closing)" '1 passed, 0 failed, 1 skipped'
    printf '@test "c" {\n false\n}\n' >>suite.bats
    assert_equal "$(closing)" '1 passed, 1 failed, 1 skipped'
    run_suite
    assert_failure
    printf '@test "a" {\n true\n}\n' >suite.bats
    assert_equal "$(closing)" '1 passed, 0 failed'
    run_suite
    assert_success
}

# bats test_tags=long
@test "run: a file that Bats cannot run counts as failed" {
    printf '@test "a" {\n true\n}\n}\n' >suite.bats
    run_suite
    assert_failure
    assert_line --regexp '^[0-9]+ passed, [1-9][0-9]* failed$'
}

# bats test_tags=long
@test "run: every program of tests/unit is run by a Bats file" {
    cd "$root/tests" || exit 1
    find unit -name '*.c' | sed 's|^unit/||; s|\.c$||' | while IFS= read -r program; do
        grep -Eq "unit[ /]$program( |\"|;|\$)" ./*.bats ./*.bash || fail "$program is not"
    done
    [ "$(find unit -name '*.c' | wc -l)" -gt 30 ]
}

# ---- .ci/run ----

# ci LINT TEST ASAN FUZZ RANKS: .ci/run with a make that closes its five runs so; an empty argument is a make that fails.
ci() {
    mkdir -p ci
    printf '%s\n' "$1" >ci/lint.closing
    printf '%s\n' "$2" >ci/test.closing
    printf '%s\n' "$3" >ci/check-asan.closing
    printf '%s\n' "$4" >ci/check-fuzz.closing
    printf '%s\n' "$5" >ci/MPI=1.closing
    printf '#!/bin/sh\ncat %q/ci/"$1".closing\n! grep -q "^$\\|[1-9][0-9]* failed" %q/ci/"$1".closing\n' \
        "$tmp" "$tmp" >ci/make
    chmod +x ci/make
    PATH=$tmp/ci:$PATH run "$root/.ci/run"
}

# bats test_tags=long
@test "ci: the last line counts lint, the tests, those under the sanitizers of gcc and clang, and those with MPI" {
    ci '5 passed, 0 failed' '100 passed, 0 failed, 2 skipped' '90 passed, 0 failed, 12 skipped' \
        '8 passed, 0 failed' '7 passed, 0 failed'
    assert_success
    assert_equal "${lines[-1]}" '210 passed, 0 failed, 14 skipped'
    ci '5 passed, 0 failed' '100 passed, 0 failed' '90 passed, 0 failed' '0 passed, 0 failed, 1 skipped' \
        '7 passed, 0 failed'
    assert_success
    assert_equal "${lines[-1]}" '202 passed, 0 failed, 1 skipped'
    ci '4 passed, 1 failed' '100 passed, 0 failed' '90 passed, 0 failed' '8 passed, 0 failed' '7 passed, 0 failed'
    assert_failure
    assert_equal "${lines[-1]}" '209 passed, 1 failed'
    ci '5 passed, 0 failed' '98 passed, 2 failed' '90 passed, 0 failed' '7 passed, 1 failed' '6 passed, 1 failed'
    assert_failure
    assert_equal "${lines[-1]}" '206 passed, 4 failed'
}

# bats test_tags=long
@test "ci: a run that ends without its last line counts as failed" {
    ci '' '100 passed, 0 failed' '90 passed, 0 failed' '8 passed, 0 failed' '7 passed, 0 failed'
    assert_failure
    assert_equal "${lines[-1]}" '205 passed, 1 failed'
    ci '5 passed, 0 failed' '' '' '' ''
    assert_failure
    assert_equal "${lines[-1]}" '5 passed, 4 failed'
}

# bats test_tags=long
@test "ci: without clang its sanitizers are skipped with a message" {
    mkdir none
    printf '#!/bin/sh\nexit 1\n' >none/clang
    chmod +x none/clang
    PATH=$tmp/none:$PATH run make -s -C "$root" check-fuzz
    assert_success
    assert_output --partial '# skip no clang with its sanitizers'
    assert_equal "${lines[-1]}" '0 passed, 0 failed, 1 skipped'
}
