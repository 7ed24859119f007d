# The generator of data sets, and the samples in datasets/.

# shellcheck disable=SC2094 # a file and an option share a name
load helper

setup() {
    cd "$tmp" || exit 1
    PATH=$bin/datasets:$PATH
}

@test "datasets: a family that there is not is named in one line" {
    run -2 generate foo
    assert_output --regexp '^[a-z-]+: unknown family: foo: try --help$'
    run -2 generate
    assert_output --regexp '^[a-z-]+: no family: try --help$'
}

@test "generate: the bytes are the same on every machine, known by their checksums" {
    assert_equal "$(generate rank | cksum)" '107082746 182379'
    assert_equal "$(generate ltr --rows 1000 | cksum)" '1787380235 1311609'
    assert_equal "$(generate sparse --rows 1000 | cksum)" '1234489223 999518'
    assert_equal "$(generate smm --rows 50 | cksum)" '2732368462 41316'
    assert_equal "$(generate smm --simulation 2 --rows 50 | cksum)" '3749593641 41372'
    assert_equal "$(generate mc --rows 1000 | cksum)" '4014463196 845536'
    assert_equal "$(generate mc --rows 1000 --values 0 --features 30 | cksum)" '2058067526 305344'
    assert_equal "$(generate ml | cksum)" '999675956 372889'
    assert_equal "$(generate top --rows 1000 | cksum)" '3073726389 201660'
}

# bats test_tags=long
@test "generate: another seed gives other rows, and an output file the same rows" {
    for family in rank ltr sparse mc ml smm top; do
        generate $family --output file
        generate $family | cmp - file
        generate $family --seed 2 >other
        run -1 cmp -s file other
    done
}

@test "generate: the samples in datasets are those of its README" {
    local command
    command=$(grep -o 'generate rank --systems 3 .* --output rank$' "$root/datasets/README")
    $command
    cmp rank.train "$root/datasets/rank.train"
    cmp rank.test "$root/datasets/rank.test"
}

@test "generate: retention times have ties at each system's dead time, and no molecule in both files" {
    generate rank --molecules 300 --test 0.3 --output set
    grep -o 'molecule-[0-9]*' set.train | sort -u >train.names
    grep -o 'molecule-[0-9]*' set.test | sort -u >test.names
    [ -s test.names ]
    [ -z "$(comm -12 train.names test.names)" ]
    cat set.train set.test | awk '{ if (!($2 in low) || $1 + 0 < low[$2]) { low[$2] = $1 + 0; n[$2] = 0 }
            n[$2] += $1 + 0 == low[$2] }
        END { for (q in n) { systems++; if (n[q] < 2) { print q ": " n[q]; exit 1 } }
              exit systems != 5 }'
}

@test "generate: rows follow the options, and their indices increase" {
    generate ltr --rows 500 --features 20 --queries 50 --grades 4 >ltr
    awk '{ if (NF != 22 || $1 !~ /^[0-3]$/) { print; exit 1 }; rows[$2]++; grades[$1]++
           for (i = 3; i <= NF; i++) { split($i, v, ":")
               if (v[1] != i - 2 || v[2] < 0 || v[2] >= 1) { print; exit 1 } } }
        END { for (q in rows) { queries++; if (rows[q] != 10) exit 1 }
              for (g in grades) levels++
              exit !(NR == 500 && queries == 50 && levels == 4) }' ltr
    generate sparse --rows 300 --features 1000 --values 9 --queries 7 >sparse
    awk '{ last = 0
           for (i = 3; i <= NF; i++) { split($i, v, ":"); values++
               if (v[1] <= last || v[1] > 1000 || v[2] <= 0) { print; exit 1 }
               last = v[1] } }
        END { exit !(NR == 300 && values / NR > 7 && values / NR <= 9.5) }' sparse
}

@test "generate: the number of classes is that of the option, and sparse rows have a norm of about 1" {
    generate mc --rows 3000 --features 2000 --classes 1000 --values 12 >sparse
    awk '{ last = 0; sum = 0; if ($1 !~ /^[0-9]+$/ || $1 < 1 || $1 > 1000) { print; exit 1 }
           classes[$1]
           for (i = 2; i <= NF; i++) { split($i, v, ":"); values++
               if (v[1] <= last || v[1] > 2000 || v[2] <= 0) { print; exit 1 }
               last = v[1]; sum += v[2] * v[2] }
           if (sum < .2 || sum > 2.3) { print; exit 1 } }
        END { for (c in classes) k++
              exit !(NR == 3000 && k > 900 && values / NR > 9 && values / NR <= 12.5) }' sparse
    generate mc --rows 200 --features 9 --classes 3 --values 0 >dense
    awk 'NF != 10 { print; exit 1 } END { exit NR != 200 }' dense
}

@test "generate: misuse is one line and exit code 2, a full disk exit code 1" {
    for arguments in 'rank --systems 0' 'rank --test 0.2' 'ltr --rows x' 'sparse surplus' \
        'ltr --grades 33'; do
        run -2 generate $arguments
        assert_equal "${#lines[@]}" 1
    done
    run -2 generate
    run -2 generate unknown
    run -0 generate --help
    run -0 generate top --help
    assert_line --partial "--positives SHARE"
    refute_line --partial "--queries"
    run -1 generate rank --output missing/file
    [ -c /dev/full ] || skip 'no /dev/full'
    run -1 generate ltr --output /dev/full
    run -1 bash -c 'svm-generate --help >/dev/full'
    assert_output 'svm-generate: <stdout>: cannot write: No space left on device'
}

@test "generate: labels of documents are correlated, and both parts of a split come from one set" {
    generate ml --rows 3000 --labels 20 >whole
    generate ml --rows 3000 --labels 20 --test 0.3 --output set
    sort whole | cmp - <(sort set.train set.test)
    # label 19 occurs with its parent, 5, far more often than label 5 occurs overall
    awk '{ n = $1 ~ /:/ ? 0 : split($1, l, ","); for (k = 1; k <= 20; k++) has[k] = 0
           for (i = 1; i <= n; i++) has[l[i]] = 1
           empty += n == 0; labels += n; words += NF - (n > 0)
           children += has[19]; both += has[19] && has[5]; parents += has[5] }
        END { exit !(children > 20 && both / children > 1.5 * parents / NR && empty > 0 &&
                     labels / NR > 2 && labels / NR < 10 && words / NR > 25 && words / NR <= 40) }' whole
}
