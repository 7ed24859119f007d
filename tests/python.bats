# The Python package (python/tests), and the examples of doc/python.md.

load helper

setup() {
    cd "$tmp" || exit 1
    python=
    for candidate in python3 /usr/bin/python3; do
        if $candidate -c 'import numpy' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || skip 'no python3 with numpy (Debian: python3-numpy)'
    export DUALSVM_BIN=$bin DUALSVM_LIBRARY=$bin/libdualsvm.so.0
    export PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
    unset PYTHONPYCACHEPREFIX # the modules of the system are compiled already
    # BLAS computes as in the programs
    export OPENBLAS_NUM_THREADS=1 OPENBLAS_CORETYPE
    OPENBLAS_CORETYPE=$(kernels_of_blas)
    if sanitized; then # the library wants its sanitizers in front of Python, which never frees all
        export LD_PRELOAD ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
        LD_PRELOAD=$(${CC:-cc} -print-file-name=libasan.so)
    fi
}

# has MODULE PACKAGE: skips the test without a Python module.
has() {
    $python -c "import $1" 2>/dev/null || skip "no $1 for $python (Debian: $2)"
}

# passes FILE: a file of python/tests passes, and its tests skip only without the packages that they need.
passes() {
    run limited $python "$root/python/tests/$1" 2>&1
    assert_success
    assert_output --regexp 'Ran [1-9][0-9]* tests?'
}

@test "python: models and predictions equal the programs' byte for byte, from any layout of arrays" {
    sanitized && skip 'the plain build computes it'
    has scipy python3-scipy
    passes test_programs.py
}

# bats test_tags=long
@test "python: data, labels and parameters of all kinds are accepted, and wrong ones have clear errors" {
    has scipy python3-scipy
    passes test_data.py
}

@test "python: files in svmlight format are read and written, and the programs read them" {
    sanitized && skip 'the plain build computes it'
    has scipy python3-scipy
    passes test_files.py
}

# bats test_tags=long,slow
@test "python: fits end on signals, run concurrently, leak no memory, and need neither scikit-learn nor scipy" {
    sanitized && skip 'sanitizers keep memory'
    passes test_fit.py
}

@test "python: the checks of scikit-learn pass, and its searches work" {
    sanitized && skip 'the plain build tests it'
    has sklearn python3-sklearn
    passes test_sklearn.py
}

@test "python: the examples of doc/python.md print the output shown" {
    sanitized && skip 'the plain build tests it'
    has sklearn python3-sklearn
    run $python -m doctest -o NORMALIZE_WHITESPACE "$root/doc/python.md"
    assert_success
    assert_output ''
    grep -q '^>>> ' "$root/doc/python.md"
}

# bats test_tags=long
@test "python: the version is that of the library" {
    $python -c 'import dualsvm; assert dualsvm.__version__ == dualsvm.library_version()'
}

@test "python: after make install alone, five lines fit and predict" {
    sanitized && skip 'once is enough'
    make -s -C "$root" -o all BUILD="$bin" PREFIX="$tmp/usr" install >/dev/null
    unset DUALSVM_LIBRARY
    PYTHONPATH=$(dirname "$tmp"/usr/lib/python3*/dist-packages/dualsvm) run $python -c '
import numpy as np, dualsvm
X = np.array([[0, 1], [1, 0], [0, 2], [2, 0]]); y = ["up", "right", "up", "right"]
svm = dualsvm.MultiClassSVM().fit(X, y)
print(svm.predict([[0, 3], [3, 1]]), svm.gap_ < 1e-3)'
    assert_output "['up' 'right'] True"
}

# bats test_tags=long,slow
@test "python: pip with another compiler or other flags leaves the build of the checkout as it is" {
    sanitized && skip 'once is enough'
    unset DUALSVM_LIBRARY BUILD
    mkdir checkout
    cp -r "$root/Makefile" "$root/include" checkout
    mkdir checkout/python
    cp "$root/python/backend.py" checkout/python
    # it makes all but the library
    printf '#!/bin/sh\ncase $* in *libdualsvm*) exit ;; esac\nexec make "$@"\n' >without-library
    chmod +x without-library
    cd checkout/python || exit 1
    built() { env MAKE="$tmp/without-library" "$@" $python -c 'import backend; print(backend.library())'; }
    assert_equal "$(built)" "$tmp/checkout/build/libdualsvm.so.0"
    make -s -C .. CFLAGS=-g1 build/flags
    cp ../build/flags "$tmp"
    assert_equal "$(built CFLAGS=-g1)" "$tmp/checkout/build/libdualsvm.so.0"
    assert_equal "$(built CFLAGS=-g2)" "$tmp/checkout/build-pip/libdualsvm.so.0"
    assert_equal "$(built CFLAGS=-g2 BUILD=own)" "$tmp/checkout/own/libdualsvm.so.0"
    cmp ../build/flags "$tmp/flags"
}

@test "python: pip install of the source archive makes a wheel with the library inside" {
    sanitized && skip 'once is enough'
    has pip python3-pip
    unset DUALSVM_LIBRARY PYTHONPATH
    export MAKE="make -o $bin/libdualsvm.so.0" BUILD=$bin PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
    (cd "$root/python" && $python -c "import backend; backend.build_sdist('$tmp')")
    tar -xzf dualsvm-*.tar.gz
    rm dualsvm-*.tar.gz
    cd dualsvm-*
    cmp README "$root/python/README"
    # all that the Makefile and the sources name is in it
    make -n -C source BUILD=/new /new/libdualsvm.so.0 >/dev/null
    grep -rhoE '^#include "[^"]+' source | sed 's/.*"//' | sort -u | while read -r header; do
        [ -f "source/$header" ] || fail "no $header"
    done
    cd "$tmp"
    run $python -m pip install --no-deps --target site dualsvm-*/
    assert_success
    grep -q '^Tag: py3-none-linux' site/dualsvm-*/WHEEL
    PYTHONPATH=site run $python -c '
import dualsvm
print(dualsvm._library.library._name, dualsvm.library_version() == dualsvm.__version__)'
    assert_output "$tmp/site/dualsvm/libdualsvm.so.0 True"
}
