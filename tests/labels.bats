# Labels, as every family reads, weighs and compares them.

load helper

setup() {
    cd "$tmp" || exit 1
    # three labels, of which the last is only in rows 1 to 4; so are its query and its features' signs
    awk 'BEGIN { seed = 5
        print "# matrix 2 2"
        for (i = 0; i < 40; i++) {
            y = i < 4 ? 7 : i % 2
            line = y " qid:" (i < 4 ? 70 : 10 + i % 3)
            for (f = 1; f <= 4; f++) {
                seed = (seed * 16807) % 2147483647
                line = line " " f ":" (f == 1 + y % 3) + seed / 2147483647 }
            print line } }' >all.svm
    sed '2,5d' all.svm >two.svm
    sed -n '2,5p' all.svm >held.svm
    awk '!/^#/ { print n < 4 ? 1 : 2 + int(n / 2) % 2; n++ }' all.svm >folds
}

# bats test_tags=long
@test "labels: a weight for one that no training row has is a usage error, in every family" {
    for family in mc smm top; do
        run -2 "svm-$family-train" -q -w 5:2 all.svm m
        assert_output "svm-$family-train: option --weight: no training row has the label '5': try --help"
        run -2 "svm-$family-train" -q -w 7:2 -w 5:2 -v 3 all.svm
        assert_output "svm-$family-train: option --weight: no training row has the label '5': try --help"
        # rows to validate on are no training rows
        run -2 "svm-$family-train" -q -w 7:2 --validate held.svm two.svm
        assert_output "svm-$family-train: option --weight: no training row has the label '7': try --help"
    done
    run -2 svm-rank-train -q -w 71:2 all.svm m
    assert_output "svm-rank-train: option --weight: no training row has the qid '71': try --help"
    run -2 svm-rank-train -q -w 70:2 -w 71:2 -v 3 all.svm
    assert_output "svm-rank-train: option --weight: no training row has the qid '71': try --help"
    run -2 svm-rank-train -q -w 70:2 --validate held.svm two.svm
    assert_output "svm-rank-train: option --weight: no training row has the qid '70': try --help"
    assert_not_exists m
}

@test "labels: a weight for one that only held-out rows have is no error in cross-validation" {
    for family in mc smm top rank; do
        [ "$family" = rank ] && key=70 || key=7
        for scale in none std; do # the folds share the rows, or have their own
            run -0 "svm-$family-train" -q -w "$key:3" --scale $scale --fold-file folds all.svm
            assert_output --partial 'Cross Validation'
        done
    done
}

@test "labels: numbers compare exactly, in whatever way they are spelled" {
    unit common/data/decimal
}

# respell FILE: each row's label in one of many spellings of its number, that of the first row of a
# label being the plain one.
respell() {
    awk 'BEGIN { OFS = " "; n = split("%s %s.0 0%s %se0 %s0e-1 +%s %s.000E+00", form, " ") }
        /^#/ || $1 < 0 { print; next }
        { k = seen[$1]++ % n + 1; y = $1; $1 = form[k]; sub("%s", y, $1); print }' "$1"
}

# bats test_tags=long
@test "labels: a number is one class however it is spelled, the first spelling being written" {
    respell all.svm >mixed.svm
    [ "$(awk '{ print $1 }' mixed.svm | sort -u | wc -l)" -gt 15 ]
    for family in mc smm top; do
        for options in '-c 2' '-w 7:3' '-w 07.0:3' '-w+7e0 3'; do
            [ "$family" = top ] && options="$options -s svm --positive 7.0"
            # shellcheck disable=SC2086 # several words
            "svm-$family-train" -q --force $options all.svm plain >/dev/null
            # shellcheck disable=SC2086
            "svm-$family-train" -q --force $options mixed.svm mixed >/dev/null
            cmp plain mixed
            grep '^primal' plain >>primals
        done
        [ "$(sort primals | uniq -c | awk '{ print $1 }' | sort | tr '\n' ' ')" = '1 3 ' ]
        rm primals
        # the spelling of test rows does not matter either
        "svm-$family-predict" --metrics all.svm plain plain.out >plain.metrics
        "svm-$family-predict" --metrics mixed.svm plain mixed.out >mixed.metrics
        cmp plain.metrics mixed.metrics
        cmp plain.out mixed.out
    done
    svm-mc-train -q --force all.svm plain >/dev/null
    svm-mc-predict -q --confusion plain.table all.svm plain >/dev/null
    svm-mc-predict -q --confusion mixed.table mixed.svm plain >/dev/null
    cmp plain.table mixed.table
    # in sets, too
    sed '1d; s/ qid:[0-9]*//; s/^7/7,2/; s/^1/1,2/' all.svm >sets.svm
    awk '{ sub(/^7,2/, "7.0,+2"); sub(/^1,2/, NR % 2 ? "01,2e0" : "2.0,1."); print }' sets.svm \
        >spelled.svm
    svm-ml-train -q --force sets.svm plain
    svm-ml-train -q --force spelled.svm mixed
    grep -v '^labels\|^end' plain >plain.body
    grep -v '^labels\|^end' mixed | cmp - plain.body
    assert_equal "$(grep '^labels' mixed)" 'labels 0 1. +2 7.0'
    svm-ml-predict --metrics sets.svm mixed out >mixed.metrics
    svm-ml-predict --metrics sets.svm plain out | cmp - mixed.metrics
    echo '1,2,1.0 1:1' >>sets.svm
    run -1 svm-ml-train -q --force sets.svm m
    assert_output "svm-ml-train: sets.svm:41:5: label is given twice: '1.0'"
}

@test "labels: the first spelling is that of the file, for any number of threads" {
    # blocks of a file are read at the same time
    awk 'BEGIN { for (i = 0; i < 60000; i++) {
        y = i % 3; f = i == 40000 ? 9 : 1 + y
        print (i < 20000 ? y ".0" : i == 40000 ? "5e0" : i % 2 ? y : "+" y), f ":1" } }' >long.svm
    svm-mc-train -q -e .5 -j 1 long.svm one
    svm-mc-train -q -e .5 -j 4 long.svm four
    cmp one four
    assert_equal "$(grep '^labels' one)" 'labels 0.0 1.0 2.0 5e0'
}

@test "labels: numbers are in the order of their values, words in that of their bytes" {
    printf '%s 1:1\n%s 2:1\n%s 3:1\n%s 4:1\n' 10.5 -2 +9 -1e1 >numbers.svm
    svm-mc-train -q numbers.svm m
    assert_equal "$(grep '^labels' m)" 'labels -1e1 -2 +9 10.5'
    # nan, inf, hexadecimals and what overflows are words, and so no two of them are the same
    printf '%s 1:1\n%s 2:1\n%s 3:1\n%s 4:1\n%s 5:1\n' 16 0x10 nan NaN 1e1000000000 >words.svm
    svm-mc-train -q words.svm m
    assert_equal "$(grep '^labels' m)" 'labels 0x10 16 1e1000000000 NaN nan'
    # whole numbers that no double tells apart are two classes
    printf '9007199254740993 1:1\n9007199254740992 2:1\n' >large.svm
    svm-mc-train -q large.svm m
    assert_equal "$(grep '^labels' m)" 'labels 9007199254740992 9007199254740993'
}

@test "labels: LIBLINEAR gets the int of a number, and no word" {
    sed '1d; s/ qid:[0-9]*//; s/^7/+7.0/; s/^1/1e0/; s/^0/-0/' all.svm >spelled.svm
    svm-mc-train -q --liblinear exported spelled.svm m
    assert_equal "$(grep '^labels' m)" 'labels -0 1e0 +7.0'
    assert_equal "$(grep '^label' exported)" 'label 0 1 7 '
    if command -v liblinear-predict >/dev/null; then
        liblinear-predict spelled.svm exported out >/dev/null
        svm-mc-predict -q spelled.svm m | sed 's/+7.0/7/; s/1e0/1/; s/-0/0/' | cmp - out
    fi
    for label in 1.5 2147483648 word; do
        sed "1s/^[^ ]*/$label/" spelled.svm >bad.svm
        run -2 svm-mc-train -q --liblinear exported bad.svm m
        assert_output --partial "labels must be whole numbers: '$label'"
    done
}

# bats test_tags=long
@test "labels: labels of a test file that the model does not have are reported" {
    sed '1d; s/ qid:[0-9]*//; s/^7/1/' all.svm >known.svm
    sed '1,10s/^1/one/; 11,12s/^[01] /2 /' known.svm >some.svm
    sed 's/^0/zero/; s/^1/one/' known.svm >none.svm
    unknown=$(grep -vc '^[01] ' some.svm)
    [ "$unknown" -gt 2 ]
    for family in mc smm ml; do
        shape=
        [ $family = smm ] && shape='--shape 2x2'
        "svm-$family-train" -q --force $shape known.svm m
        run -0 --separate-stderr "svm-$family-predict" known.svm m out
        refute [ "$(grep -c unknown <<<"$stderr")" -gt 0 ]
        # measures follow
        "svm-$family-predict" some.svm m out 2>said
        head -1 said | grep -Fx "svm-$family-predict: warning: some.svm: $unknown of 40 rows have labels unknown to the model"
        grep -q ' = ' said
        run -0 --separate-stderr "svm-$family-predict" --metrics -q some.svm m out
        assert_equal "$stderr" "svm-$family-predict: warning: some.svm: $unknown of 40 rows have labels unknown to the model"
        [ "${#lines[@]}" -gt 1 ]
        # none is known: no measure, and an error if some were asked for
        run -0 --separate-stderr "svm-$family-predict" none.svm m out
        assert_equal "$stderr" "svm-$family-predict: warning: none.svm: 40 of 40 rows have labels unknown to the model"
        run -1 --separate-stderr "svm-$family-predict" --metrics none.svm m out
        assert_equal "${stderr_lines[1]}" "svm-$family-predict: none.svm: its rows have nothing to measure by"
        # -q looks at no labels
        run -0 --separate-stderr "svm-$family-predict" -q none.svm m out
        refute [ -n "$stderr" ]
    done
    # where no label of positives was named, a word is no class
    svm-top-train -q --force known.svm m
    words=$(grep -c '^one' some.svm)
    svm-top-predict some.svm m out 2>said
    head -1 said | grep -Fx "svm-top-predict: warning: some.svm: $words of 40 rows have labels unknown to the model"
    # in cross-validation a label that training rows lack is an error, not a row that is left out
    awk '{ print NR <= 4 ? 0 : 1 + NR % 2 }' known.svm >folds
    sed '1,4s/^[01]/9/' known.svm >new.svm
    run -0 svm-mc-train -q --fold-file folds new.svm
    assert_output --partial 'Accuracy'
    rate=$(sed -n 's/^Cross Validation Accuracy = \(.*\)%$/\1/p' <<<"$output")
    within "$rate" 0 90
}

# bats test_tags=long
@test "labels: a predictor warns if all rows have one score, and only then" {
    for family in top mc smm ml rank; do
        case $family in
            rank) printf '1 1:1\n2 1:1\n' >same.svm ;;
            *) printf 'a 1:1\nb 1:1\n' >same.svm ;;
        esac
        local options=
        [ $family = top ] && options='--positive a'
        if [ $family = smm ]; then sed -i '1i # matrix 1 1' same.svm; fi
        svm-$family-train -q --force $options same.svm m >report
        grep -Eq '^note = (all rows have the same score|w = 0 is optimal)' report
        svm-$family-predict -q same.svm m >out 2>said
        grep -Eq "^svm-$family-predict: warning: same.svm: all 2 rows have the same scores?: the model tells nothing apart\$" said
        head -n 1 same.svm >one.svm # one row has nothing to be told from
        [ $family = smm ] && head -n 2 same.svm >one.svm
        svm-$family-predict -q one.svm m >out 2>said
        [ ! -s said ]
    done
    printf '1 1:1\n2 1:2\n' >two.svm
    svm-rank-train -q --force two.svm m >report
    svm-rank-predict -q two.svm m >out 2>said
    [ ! -s said ]
}
