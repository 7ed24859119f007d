# Installation, packages and other machines: folders, flags, completions, the .deb.

load helper

setup() {
    cd "$tmp" || exit 1
}

# sources FOLDER: a copy of the files of the repository.
sources() {
    mkdir -p "$1"
    set -- "$(cd "$1" && pwd)"
    (cd "$root" && if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard
    else
        find . -name 'build*' -prune -o -name .git -prune -o -type f -print0
    fi | xargs -0 cp --parents -t "$1" 2>/dev/null) || :
    [ -f "$1/Makefile" ] || fail 'no copy of the sources'
}

# tools: the names of the tools that are installed.
tools() {
    (cd "$root/tools" && grep -l 'lib\.tool' -- * 2>/dev/null | grep -vx manual)
}

# made ARGUMENTS: make in the repository, with the build under test, which is up to date.
made() {
    make -s -C "$root" -o all BUILD="$bin" DESTDIR="$tmp/root" "$@" >log 2>&1 || fail "$(<log)"
}

# bats test_tags=long
@test "packaging: install installs all files, and uninstall removes exactly these" {
    made install PREFIX=/usr
    for program in $(cd "$root" && printf '%s\n' svm-*.c | sed 's/\.c//') svm-generate; do
        [ -x root/usr/bin/$program ] || fail "no $program"
        cmp "$root/doc/$program.1" root/usr/share/man/man1/$program.1
        [ -e root/usr/share/bash-completion/completions/$program ] || fail "no completion of $program"
    done
    for file in README CHANGELOG formats.md datasets/rank.train; do
        assert_exists root/usr/share/doc/dualsvm/$file
    done
    grep -o 'datasets/[a-z]*\.csv' root/usr/share/doc/dualsvm/retention.md | sort -u >used
    [ -s used ]
    (cd root/usr/share/doc/dualsvm && xargs ls) <used >/dev/null
    [ "$(tools | wc -l)" -gt 10 ]
    for tool in $(tools); do
        [ -x root/usr/share/dualsvm/tools/$tool ] && [ -x root/usr/bin/dualsvm-$tool ] || fail "no $tool"
        cmp "$root/doc/dualsvm-$tool.1" root/usr/share/man/man1/dualsvm-$tool.1
        [ -e root/usr/share/bash-completion/completions/dualsvm-$tool ] || fail "no completion of $tool"
    done
    assert_exists root/usr/share/man/man7/dualsvm.7
    assert_not_exists root/usr/share/dualsvm/tools/setup
    assert_exists root/usr/share/zsh/site-functions/_dualsvm
    assert_exists root/usr/lib/python3/dist-packages/dualsvm/__init__.py
    # the installed programs work without the repository
    (PATH=$tmp/root/usr/bin:/usr/bin:/bin && svm-generate rank --molecules 60 --output train.svm &&
        svm-rank-train -q train.svm && svm-rank-predict -q train.svm train.svm.model >out)
    run svm-generate --help
    assert_output --partial 'Usage: svm-generate FAMILY'
    touch root/usr/bin/other root/usr/share/man/man1/other.1
    made uninstall PREFIX=/usr
    assert_equal "$(find root -type f -o -type l | sort | tr '\n' ' ')" \
        'root/usr/bin/other root/usr/share/man/man1/other.1 '
    made uninstall PREFIX=/usr
}

@test "packaging: installed tools run by their names, and find the programs and each other, in any folder" {
    command -v python3 >/dev/null || skip 'no python3'
    sanitized && skip 'not C: the plain build tests it'
    "$bin/datasets/generate" mc --rows 40 --features 3 --classes 2 --output train.svm
    local folders n=0
    for folders in PREFIX=/other/place 'BINDIR=/b/one PKGDATADIR=/k'; do
        IFS=' ' read -ra folders <<<"$folders"
        made install "${folders[@]}"
        dir=$(dirname "$(find root -path '*/bash-completion' -prune -o -name dualsvm-easy -print)")
        (export PATH=/usr/bin:/bin && "$dir/dualsvm-easy" --folds 2 -t linear -c 1 mc train.svm >said)
        grep -q "svm-mc-train" said
        [ -s train.svm.model ]
        rm train.svm.model
        "$dir/dualsvm-export" --help | grep -q '^  dualsvm-export --format'
        "$root/tools/export" --help | grep -q '^  tools/export --format'
        run -2 "$dir/dualsvm-convert" --such
        assert_output --partial 'dualsvm-convert: '
        made uninstall "${folders[@]}"
        n=$((n + 1))
    done
    assert_equal $n 2
}

# bats test_tags=long
@test "packaging: each folder of an installation can be chosen" {
    local folders=(PREFIX=/p BINDIR=/b LIBDIR=/l INCLUDEDIR=/i MANDIR=/m DOCDIR=/d PKGDATADIR=/k
        BASHCOMPDIR=/c ZSHCOMPDIR=/z PYTHONDIR=/y)
    made install "${folders[@]}"
    assert_equal "$(cd root && printf '%s ' *)" 'b c d i k l m y z '
    grep -q '^libdir=/l$' root/l/pkgconfig/dualsvm.pc
    made uninstall "${folders[@]}"
    assert_equal "$(find root -type f -o -type l)" ''
}

@test "packaging: dualsvm.pc follows its folder when moved, and has blanks of a path escaped" {
    command -v pkg-config >/dev/null || skip 'no pkg-config'
    made install PREFIX='/a b' PYTHONDIR=/y
    export PKG_CONFIG_PATH="$tmp/root/a b/lib/pkgconfig" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
    run -0 pkg-config --cflags --libs dualsvm
    assert_output --regexp '^-I/a\\ b/include -L/a\\ b/lib -ldualsvm *$'
    mv "root/a b" moved
    export PKG_CONFIG_PATH=$tmp/moved/lib/pkgconfig
    run -0 pkg-config --define-prefix --cflags --libs dualsvm
    assert_output --regexp "^-I$tmp/moved/include -L$tmp/moved/lib -ldualsvm *$"
}

# bats test_tags=long
@test "packaging: CPPFLAGS, CFLAGS and LDFLAGS reach the compiler, and its refusal is reported" {
    sources copy
    cd copy || exit 1
    make -n CPPFLAGS=-DMARK_A CFLAGS=-DMARK_B LDFLAGS=-LMARK_C build/svm-check >lines
    assert_equal "$(grep -c -- '-DMARK_A.*-DMARK_B.* -c ' lines)" "$(grep -c -- ' -c -o ' lines)"
    grep -q -- '-LMARK_C .*-o build/svm-check' lines
    run -2 make LDFLAGS=-lmissing_entirely build/svm-check
    assert_output --partial 'refuses the flags -lmissing_entirely'
    refute_output --partial 'Missing (Debian'
    run -2 make ARCH=-march=none build/svm-check
    assert_output --partial 'refuses the flags'
    refute_output --partial 'Missing (Debian'
}

# bats test_tags=long,slow
@test "packaging: loops that select instructions at run time compile and work for any machine" {
    quick && skip 'a long compilation: the plain build makes it'
    local files objects
    files=$(cd "$root" && grep -rl 'dispatch\.h' --include='*.c' common families fit methods)
    [ "$(wc -w <<<"$files")" -ge 10 ] || fail "only: $files"
    objects=$(sed "s|^|$tmp/any/|; s|\\.c\$|.o|" <<<"$files")
    # gcc 12 failed on vectors in common/kernel/kernel_dd.c
    make -s -C "$root" ARCH= OPTIMIZE=-O1 BUILD="$tmp/any" \
        $objects >log 2>&1 || fail "$(<log)"
    # its functions then have other addresses where they are listed than where they are named
    cp "$bin/objects.a" any/objects.a
    ar r any/objects.a any/common/kernel/kernel_dd.o
    make -s -C "$root" ARCH= OPTIMIZE=-O1 BUILD="$tmp/any" -o "$tmp/any/objects.a" \
        "$tmp/any/tests/unit/common/kernel/kernel_dd" >log 2>&1 || fail "$(<log)"
    any/tests/unit/common/kernel/kernel_dd
}

# bats test_tags=long,slow
@test "packaging: a build that contracts or reorders double-double arithmetic issues no certificate" {
    quick && skip 'it links objects without sanitizers: the plain build does it'
    local object=common/double_double/exactness_dd.o flags build
    printf '1 1:1\n2 2:1\n' >two.svm
    for flags in 'CONTRACT=fast ARCH=-mfma' CFLAGS=-funsafe-math-optimizations; do
        [[ $flags != *fma ]] || grep -qw fma /proc/cpuinfo || continue
        build=$tmp/${flags%%=*}
        # shellcheck disable=SC2086 # words
        make -s -C "$root" $flags BUILD="$build" "$build/$object" >log 2>&1 || fail "$(<log)"
        cp "$bin/objects.a" "$build/objects.a"
        (cd "$build" && ar r objects.a $object)
        # shellcheck disable=SC2086
        make -s -C "$root" $flags BUILD="$build" -o "$build/objects.a" "$build/svm-mc-train" >log 2>&1 || fail "$(<log)"
        run -1 "$build/svm-mc-train" -q two.svm two.model
        assert_output 'svm-mc-train: no certificate: this build contracts or reorders double-double arithmetic: compile files named *_dd.c with -ffp-contract=off and without -ffast-math'
        assert_not_exists two.model
    done
    "$bin/svm-mc-train" -q two.svm two.model
}

@test "packaging: another make, or one that is too old, is told which is needed" {
    cd "$root" || exit 1
    run -2 make -n .FEATURES= MAKE_VERSION=3.81
    assert_output --partial 'GNU make 3.82 or later is needed, this is 3.81'
    command -v bmake >/dev/null || skip 'no bmake'
    for target in all check install; do
        run bmake -f BSDmakefile $target # which FreeBSD, OpenBSD and DragonFly read first
        [ "$status" != 0 ] || fail "bmake $target"
        assert_line 'GNU make 3.82 or later is needed: gmake'
    done
}

@test "packaging: without version scripts and objcopy, as on macOS, programs and tools are built and installed" {
    local library='version-script|objcopy|-soname|libdualsvm\.|/pkgconfig|/python3'
    make -n -C "$root" BUILD="$tmp/none" PREFIX=/p all install >linux
    make -n -C "$root" UNAME=Darwin BUILD="$tmp/none" PREFIX=/p all install >darwin
    grep -qE -- "$library" linux
    run -1 grep -E -- "$library|-march" darwin
    grep -q -- '-o .*/svm-rank-train ' darwin
    grep -q '/p/bin' darwin
}

# bats test_tags=long
@test "packaging: make install says how a loader, Python and the shell find what is installed" {
    made install PREFIX=/usr
    assert_equal "$(<log)" ''
    make -s -C "$root" -o all BUILD="$bin" PREFIX="$tmp/own" install >silent
    grep -q "ldconfig.*$tmp/own/lib" silent
    grep -q "PYTHONPATH=$tmp/own/" silent
    grep -q "dualsvm-NAME.*$tmp/own/bin" silent
    # no commands, unless V=1
    for v in '' 1; do
        make --no-print-directory -C "$root" -o all BUILD="$bin" PREFIX="$tmp/own" V=$v install >said$v
    done
    cmp said silent
    grep -q '^install -d ' said1
}

# bats test_tags=long,slow
@test "packaging: make check never installs" {
    sources copy
    cd copy || exit 1
    mkdir fake
    printf '#!/bin/sh\necho called >>"%s"\n' "$tmp/apt.log" >fake/apt-get
    cp fake/apt-get fake/sudo
    chmod +x fake/*
    # a machine without the libraries of Bats
    mkdir tools_only
    for tool in sh make env printf cat tr sed grep dirname awk cc gcc getconf touch id mkdir cmp find; do
        ln -s "$(command -v $tool)" tools_only 2>/dev/null || :
    done
    PATH=$PWD/fake:$PWD/tools_only run -2 make check
    assert_output --partial 'bats'
    assert_not_exists "$tmp/apt.log"
}

# bats test_tags=long,slow
@test "packaging: a build does not depend on its folder" {
    for folder in one 'two/deeper'; do
        sources "$folder"
        make -s -C "$folder" CFLAGS=-g OPTIMIZE=-O1 build/common/data/indices.o \
            build/common/kernel/linear.o build/driver/program.o build/svm-check.o
    done
    for object in common/data/indices common/kernel/linear driver/program svm-check; do
        cmp one/build/$object.o two/deeper/build/$object.o
        run -1 grep -q "$tmp" one/build/$object.o
    done
}

# bats test_tags=long
@test "packaging: bash completes every option of --help, and its choices" {
    # completed WORDS...: the completions of the last word
    completed() {
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        COMPREPLY=()
        _dualsvm "$1" "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}"
    }
    # shellcheck source=/dev/null
    source "$root/completions/svm-rank-train"
    for program in $(cd "$root" && printf '%s\n' svm-*.c | sed 's/\.c//'); do
        "$program" --help | sed -nE 's/^(  -[A-Za-z], |      )(--[a-z0-9-]+).*/\2/p' | sort -u >listed
        completed "$program" -- | sort -u >offered
        diff listed offered || fail "$program"
        complete -p "$program" | grep -q _dualsvm
    done
    mkdir installed
    for tool in $(tools); do
        complete -p dualsvm-$tool | grep -q _dualsvm
    done
    for tool in convert easy sweep-plot; do
        command -v python3 >/dev/null || break
        ln -s "$root/tools/$tool" installed/dualsvm-$tool
        # argparse lists --kernel K, -t K, before Python 3.13, and --kernel, -t K
        installed/dualsvm-$tool --help | sed -nE '/^  -/s/^  (.*)/\1/p' | grep -oE '(^|, )--?[a-z0-9-]+' | tr -d ', ' |
            sort -u >listed
        completed installed/dualsvm-$tool - | sort -u >offered
        diff listed offered || fail "$tool"
    done
    [ ! -e installed/dualsvm-convert ] || assert_equal "$(completed installed/dualsvm-convert --from ar)" arff
    assert_equal "$(completed svm-rank-train --kernel t)" tanimoto
    assert_equal "$(completed svm-rank-train -t mi)" minmax
    assert_equal "$(completed svm-rank-train -l squ)" squared-hinge
    assert_equal "$(completed svm-rank-train --log "$root/READ")" "$root/README"
    assert_equal "$(completed svm-rank-train "$root/READ")" "$root/README"
    assert_equal "$(completed svm-rank-train -q "$root/READ")" "$root/README"
    assert_equal "$(completed svm-generate r)" rank
    assert_equal "$(completed svm-generate smm --si)" --simulation
    assert_equal "$(completed svm-generate rank --simu)" ''
}

@test "packaging: zsh completes the same" {
    command -v zsh >/dev/null || skip 'no zsh'
    cat >try <<'END'
fpath=($1 $fpath)
autoload -Uz _dualsvm
_arguments() { print -rl -- "$@" }
_call_program() { shift; eval "$@" }
shift
words=("$@") CURRENT=$#
_dualsvm
END
    for program in $(cd "$root" && printf '%s\n' svm-*.c | sed 's/\.c//'); do
        "$program" --help | sed -nE 's/^(  -[A-Za-z], |      )(--[a-z0-9-]+).*/\2/p' | sort -u >listed
        zsh -f try "$root/completions" "$program" -- >specs
        sed -nE 's/^\*(--[a-z0-9-]+)\[.*/\1/p' specs | sort -u | diff listed - || fail "$program"
        grep -q "[ ]$program\( \|$\)" "$root/completions/_dualsvm"
    done
    for tool in $(tools); do
        command -v python3 >/dev/null || break
        grep -q "[ ]dualsvm-$tool\( \|$\)" "$root/completions/_dualsvm"
    done
    zsh -f try "$root/completions" svm-rank-train -- >specs
    grep -Eq '^\*--kernel\[.*\]:K:\(linear polynomial rbf .*laplacian rational\)$' specs
    grep -Eq '^\*-q\[' specs
    zsh -f try "$root/completions" svm-generate smm -- | grep -q '^\*--simulation:'
}

# bats test_tags=long,slow
@test "packaging: a .deb is built, and lintian finds nothing" {
    sanitized && skip 'once is enough'
    for tool in dpkg-buildpackage dh lintian; do
        command -v $tool >/dev/null || skip "no $tool"
    done
    dpkg-checkbuilddeps -P nocheck "$root/packaging/debian/control" 2>/dev/null || skip 'build dependencies are missing'
    assert_equal "$(dpkg-parsechangelog -l "$root/packaging/debian/changelog" -S Version)" \
        "$(svm-check --version | sed 's/.* //; s/)//')"
    sources deb/dualsvm
    cd deb/dualsvm || exit 1
    cp -r packaging/debian .
    # without optimisation: this tests the package
    DEB_BUILD_OPTIONS="nocheck noopt parallel=$(getconf _NPROCESSORS_ONLN)" \
        dpkg-buildpackage -Pnocheck -b -us -uc >../log 2>&1 || fail "$(tail -20 ../log)"
    cd ..
    run -0 lintian --allow-root dualsvm_*.changes
    assert_output ''
    for package in libdualsvm0 libdualsvm-dev python3-dualsvm dualsvm; do
        dpkg-deb -c ${package}_*.deb
    done >files
    for file in usr/bin/svm-rank-train usr/bin/svm-generate usr/share/man/man1/svm-generate.1.gz \
        usr/include/dualsvm.h libdualsvm.so.0 libdualsvm.a pkgconfig/dualsvm.pc examples/c/train.c \
        usr/lib/python3/dist-packages/dualsvm/__init__.py \
        usr/bin/dualsvm-convert usr/share/man/man7/dualsvm.7.gz usr/share/doc/dualsvm/formats.md.gz usr/share/bash-completion/completions/svm-check; do
        grep -q "$file" files || fail "no $file"
    done
}

# foreign COMPILER...: compiles all sources for another machine, with cblas.h and zlib.h of this one.
foreign() {
    local header
    echo 'int main(void) { return 0; }' | "$@" -x c -c -o /dev/null - 2>/dev/null || skip "no $1 for it"
    mkdir -p include/gnu
    : >include/gnu/stubs-32.h # which functions are stubs: glibc of i386 has it, which may not be there
    printf '#include <cblas.h>\n#include <zlib.h>\n' | cc -E -M -x c - -I/usr/include/openblas |
        sed 's|[ \\]|\n|g' | grep -E '/(cblas|openblas_config|f77blas|zlib|zconf)[^/]*\.h$' |
        while read -r header; do
            ln -sf "$header" include
        done
    # cluster_mpi.c needs the mpi.h of such a machine
    (cd "$root" && find . \( -name 'build*' -o -name '.?*' -o -path ./tests -o -path ./examples \) -prune -o \
        -name '*.c' ! -name cluster_mpi.c -print) >files
    (cd "$root" && xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 8 "$@" -std=c11 -fsyntax-only \
        -Wall -Wextra -Wshadow -Wconversion -Werror -fopenmp-simd -I. -isystem "$tmp/include" \
        -idirafter /usr/include/x86_64-linux-gnu) <files >words 2>&1 || fail "$(head -20 words)"
}

# bats test_tags=long,slow
@test "packaging: i386 compiles without a warning" {
    sanitized && skip 'once is enough'
    foreign "${CC:-gcc}" -m32 -msse2 -mfpmath=sse
}

@test "packaging: aarch64 compiles without a warning" {
    sanitized && skip 'once is enough'
    foreign aarch64-linux-gnu-gcc
}
