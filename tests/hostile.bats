# Bad input gets one clear line and a non-zero exit: never a crash, a hang, or a file.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    mkdir empty
    printf '3 qid:1 1:1 2:.5\n1 qid:1 1:.25 3:2\n2 qid:1 2:1\n' >good
    cat >sane.svm <<'END'
3 qid:1 1:1 2:0.5
1 qid:1 1:0.25 3:2
2 qid:1 2:1
5 qid:2 1:0.5 3:1
4 qid:2 2:1.5
END
}

# refuses LINE TEXT: a training file that is TEXT (printf format) is refused at that line, and no
# model is left.
refuses() {
    # shellcheck disable=SC2059 # a format on purpose: \0 and \r
    printf -- "$2" >bad.svm
    refused svm-rank-train -q bad.svm empty/model
    [[ "$(<err)" == "svm-rank-train: bad.svm:$1:"[1-9]*": "?* ]] ||
        fail "no file, line $1 and column: $(<err)"
    holds empty
}

# accepts TEXT: it trains, to the same model as sane.svm.
accepts() {
    # shellcheck disable=SC2059
    printf "$1" >variant.svm
    train variant.svm variant.model
    [ -e sane.model ] || train sane.svm sane.model
    cmp variant.model sane.model || fail "another model from: $1"
}

# ---- rows ----

# bats test_tags=long
@test "hostile: labels that are no finite numbers are refused at their line and column 1" {
    for label in 1e400 -1e400 nan NaN inf -inf infinity x 0x10 1e 1e+ . - + -- 1.2.3 1,2 1x '1 2'; do
        refuses 1 "$label 1:1\n2 1:2\n"
    done
    for label in 1e400 nan x 0x10 1x; do
        refuses 1 "$label 1:1\n2 1:2\n"
        [[ "$(<err)" == *bad.svm:1:[1-4]:* ]] || fail "column of the label: $(<err)"
    done
}

@test "hostile: values that are no finite numbers are refused" {
    for value in nan inf -inf 1e400 -1e400 0x1p3 1e 1e- . - x 1x 1,5 1..2 1e5e5 '' ' 1' :1 1:2; do
        refuses 1 "1 1:$value\n2 1:2\n"
    done
}

@test "hostile: a value beyond single precision is refused, not turned into an infinity" {
    for value in 1e39 -1e39 3.5e38 1e308; do
        refuses 1 "1 1:$value\n2 1:2\n"
    done
}

@test "hostile: an index of 0, a negative one, and one that does not increase are refused" {
    refuses 1 '1 0:1 1:1\n2 1:2\n'
    refuses 1 '1 -1:1\n2 1:2\n'
    refuses 1 '1 +1:1\n2 1:2\n'
    refuses 1 '1 1.5:1\n2 1:2\n'
    refuses 1 '1 1e2:1\n2 1:2\n'
    refuses 1 '1 a:1\n2 1:2\n'
    refuses 1 '1 1\n2 1:2\n'
    refuses 1 '1 1:2 :1\n2 1:2\n'
    refuses 1 '1 2:1 2:1\n2 1:2\n'
    [[ "$(<err)" == *bad.svm:1:[7-9]:* ]] || fail "column of the second 2: $(<err)"
    refuses 1 '1 2:1 1:1\n2 1:2\n'
    refuses 1 '1 1:1 3:1 2:1\n2 1:2\n'
}

@test "hostile: an index of 2^32 and more is refused, not wrapped around" {
    for index in 4294967296 4294967297 18446744073709551615 18446744073709551616 \
        18446744073709551617 99999999999999999999999999; do
        refuses 2 "1 1:1\n2 $index:1\n"
    done
}

@test "hostile: the largest index, 2^32 - 1, ends in a model in little memory" {
    sanitized && skip 'limits on memory do not go with the sanitizer'
    printf '1 1:1\n2 4294967295:1\n' >wide.svm
    (ulimit -v 1000000 && limited svm-rank-train -q -j 1 wide.svm empty/model) >out 2>err ||
        fail "exit $?: $(<err)"
    [ "$(stat -c %s empty/model)" -lt 1000 ]
}

@test "hostile: a line without an end is an error of one line where memory is short" {
    sanitized && skip 'limits on memory do not go with the sanitizer'
    run -1 sh -c 'ulimit -v 600000 && head -c 1G /dev/zero | tr "\0" 1 | svm-rank-train -j 1 - empty/model'
    assert_output --regexp '^svm-rank-train: out of memory: [0-9]+ MB for a line, of [0-9]+ that are free$'
}

@test "hostile: a qid that is empty, doubled or misplaced is refused" {
    for qid in '' ' 1' '#1' 'a\0b'; do
        refuses 1 "1 qid:$qid 1:1\n2 qid:1 1:2\n"
    done
    refuses 1 '1 qid:1 qid:1 1:1\n2 qid:1 1:2\n'
    refuses 1 '1 1:1 qid:1\n2 qid:1 1:2\n'
}

# bats test_tags=long
@test "hostile: any word is a qid, and equal numbers are one" {
    for qid in 18446744073709551615 9223372036854775808 99999999999999999999999 -1 x 1.5 1x + . a:b '"' \
        "$(head -c 100000 /dev/zero | tr '\0' q)"; do
        printf '1 qid:%s 1:1\n2 qid:%s 1:2\n' "$qid" "$qid" >word.svm
        train word.svm word.model
        svm-rank-predict -q --order word.svm word.model >order
        [ "$(<order)" = "qid:$qid 1 2" ] || fail "$(head -c 300 order)"
    done
    printf '1 qid:1 1:1\n2 qid:+1 1:2\n3 qid:1.0 1:3\n4 qid:10e-1 1:4\n' >ones.svm
    train ones.svm ones.model
    svm-rank-predict -q --order ones.svm ones.model >order
    [ "$(<order)" = "qid:1 1 2 3 4" ]
}

@test "hostile: a training row without a target is refused" {
    refuses 2 '1 qid:1 1:1\nqid:1 1:2\n'
    refuses 2 '1 1:1\n 1:2\n'
    refuses 2 '1 1:1\n1:2\n'
}

@test "hostile: lines are counted through comments, blank lines and CRLF" {
    refuses 6 '# one\n\n1 1:1 # three\r\n\r\n \t \n2 1:x\n3 1:1\n'
    refuses 3 '1 1:1\n2 1:2\n3 1:x'
    refuses 100001 "$(yes '1 1:1' | head -100000 | sed 's/$/\\n/' | tr -d '\n')2 1:1 1:2\n"
}

@test "hostile: NUL bytes are refused wherever they stand" {
    refuses 1 '1 1:1\0\n2 1:2\n'
    refuses 1 '\0001 1:1\n2 1:2\n'
    refuses 2 '1 1:1\n2 1:\0002\n'
    refuses 2 '1 1:1\n\0'
}

@test "hostile: control bytes of the input never reach the terminal" {
    refuses 1 '1 1:\033[31mred\n2 1:2\n'
    refuses 1 '1 1:1\233\001\n2 1:2\n'
    if LC_ALL=C grep -q '[^ -~]' err; then
        fail 'bytes that are not printable in the diagnosis'
    fi
}

@test "hostile: control bytes of names and labels never reach the terminal" {
    local name=$'x\e[31m\x9b\n'
    printf '1 1:1\n2 1:2\n1 1:3\n' >"$name"
    svm-mc-train -q "$name" model >/dev/null
    printf '9 1:1\n9 1:1\n' >"$name"
    svm-mc-predict --batch --keep-going "missing$name" "$name" model >out 2>err || true
    svm-mc-train --resume model -v 2 -c 1,2 "$name" >>out 2>>err || true
    if LC_ALL=C grep -q '[^ -~]' err out; then
        fail "bytes that are not printable: $(cat -v err out)"
    fi
    for line in 'svm-mc-predict: failed: missingx\x1b[31m\x9b\x0a' 'x\x1b[31m\x9b\x0a:' \
        'svm-mc-predict: warning: x\x1b[31m\x9b\x0a: 2 of 2 rows have labels unknown to the model'; do
        grep -qxF -- "$line" err || fail "not '$line': $(<err)"
    done
}

@test "hostile: a long path loses its middle, not the line and the message" {
    local folder=. byte=d
    for _ in 1 2 3 4 5 6; do
        folder=$folder/$(printf "$byte%.0s" $(seq 240))
        byte=$'\x81' # four characters in a message
    done
    (mkdir -p "$folder") 2>/dev/null || skip 'no paths as long'
    printf '1 1:1\n2 1:2\n1 1:x\n' >"$folder/bad"
    refused svm-mc-train -q "$folder/bad" model
    [[ "$(<err)" == 'svm-mc-train: ./ddd'*'dd...'*"/bad:3:5: value is not a number: 'x'" ]] || fail "$(<err)"
    refused svm-mc-train -q "$folder/bad" "$folder/none/model"
    [[ "$(<err)" == *'/none/model: cannot write: No such file or directory' ]] || fail "$(<err)"
    misused svm-mc-train -q "$folder/bad" "$folder/bad"
    [[ "$(<err)" == *"/bad' is read and written: try --help" ]] || fail "$(<err)"
    printf 'dualsvm mc 1\nnonsense\n' >"$folder/model"
    refused svm-mc-predict "$folder/bad" "$folder/model"
    [[ "$(<err)" == *"/model:2: "* ]] || fail "$(<err)"
    [ "$(wc -c <err)" -le 1100 ]
}

# ---- files ----

@test "hostile: no row at all is an error that names the file" {
    for text in '' '\n' '# only a comment\n' '\n\r\n \t\n# end'; do
        # shellcheck disable=SC2059
        printf "$text" >bad.svm
        refused svm-rank-train -q bad.svm empty/model
        [[ "$(<err)" == *bad.svm* ]] || fail "does not name the file: $(<err)"
        holds empty
    done
    printf '' | gzip >bad.svm
    refused svm-rank-train -q bad.svm empty/model
    holds empty
}

@test "hostile: one row, equal targets, and groups of one row are refused as having no pair" {
    for text in '1 1:1\n' '1 1:1\n1 1:2\n' '1 qid:1 1:1\n2 qid:2 1:2\n' '1 1:1'; do
        # shellcheck disable=SC2059
        printf "$text" >bad.svm
        refused svm-rank-train -q bad.svm empty/model
        [[ "$(<err)" == *pair* ]] || fail "does not speak of pairs: $(<err)"
        holds empty
    done
    refused svm-rank-train -q --rank-gap 7:9 sane.svm empty/model
    [[ "$(<err)" == *pair* ]] || fail "does not speak of pairs: $(<err)"
}

@test "hostile: a file that is missing, a folder, or cannot be opened is refused by its name" {
    for file in missing.svm empty good/below ''; do
        refused svm-rank-train -q "$file" empty/model
        [[ -z $file || "$(<err)" == *"$file"* ]] || fail "does not name $file: $(<err)"
        holds empty
    done
    train sane.svm sane.model
    refused svm-rank-predict -q missing.svm sane.model empty/scores
    refused svm-rank-predict -q sane.svm missing.model empty/scores
    refused svm-rank-predict -q empty sane.model empty/scores
    refused svm-rank-predict -q sane.svm empty empty/scores
    holds empty
}

# bats test_tags=long
@test "hostile: a gzip file truncated anywhere is refused" {
    rows 40 2 4 1 | gzip -9 >whole.gz
    local size n
    size=$(wc -c <whole.gz)
    for ((n = 1; n < size; n += size / 40 + 1)); do
        head -c "$n" whole.gz >bad.svm
        refused svm-rank-train -q bad.svm empty/model
        holds empty
    done
    for n in 1 4 7 8; do # within the checksum and the length at the end
        head -c $((size - n)) whole.gz >bad.svm
        refused svm-rank-train -q bad.svm empty/model
    done
}

# bats test_tags=long
@test "hostile: a gzip file with a changed byte, or with junk after it, is never accepted" {
    rows 40 2 4 1 >plain.svm
    gzip -9n <plain.svm >whole.gz
    train plain.svm plain.model
    local size n
    size=$(wc -c <whole.gz)
    for ((n = 10; n < size; n += size / 25 + 1)); do
        {
            head -c "$n" whole.gz
            tail -c +$((n + 1)) whole.gz | head -c 1 | tr '\000-\377' '\001-\377\000'
            tail -c +$((n + 2)) whole.gz
        } >bad.svm
        refused svm-rank-train -q bad.svm empty/model
        holds empty
    done
    { cat whole.gz; echo junk; } >bad.svm
    refused svm-rank-train -q bad.svm empty/model
    cat whole.gz whole.gz >twice.gz # members in a row are one file, as for zcat
    cat plain.svm plain.svm >twice.svm
    train twice.gz twice.gz.model
    train twice.svm twice.svm.model
    cmp twice.gz.model twice.svm.model
}

@test "hostile: lines of five megabytes are read, or refused, in one line" {
    { printf '1 qid:1'; awk 'BEGIN { for (i = 1; i <= 500000; i++) printf " %d:1", i }'
      printf '\n2 qid:1 3:1 700000:2\n'; } >wide.svm
    [ "$(head -1 wide.svm | wc -c)" -gt 4000000 ]
    train wide.svm wide.model
    { printf '1 1:1\n2 1:2 # '; head -c 5000000 /dev/zero | tr '\0' x; } >comment.svm
    train comment.svm comment.model
    { printf '1 1:1\n2 1:0.'; head -c 5000000 /dev/zero | tr '\0' 3; echo; } >digits.svm
    train digits.svm digits.model
    { printf '1 1:1\n2 1:2 '; head -c 5000000 /dev/zero | tr '\0' ' '; echo '2:3'; } >blanks.svm
    train blanks.svm blanks.model
    head -c 5000000 /dev/zero | tr '\0' x >bad.svm
    refused svm-rank-train -q bad.svm empty/model
    [ "$(wc -c <err)" -lt 1100 ] || fail "a diagnosis of $(wc -c <err) bytes"
    head -c 5000000 /dev/zero >bad.svm
    refused svm-rank-train -q bad.svm empty/model
    holds empty
}

@test "hostile: binary noise is refused" {
    for seed in 1 2 3 4 5 6 7 8; do
        awk -v seed=$seed 'BEGIN { for (i = 0; i < 4000; i++) {
            seed = (seed * 16807) % 2147483647; printf "%c", 1 + seed % 255 } }' >bad.svm
        refused svm-rank-train -q bad.svm empty/model
    done
    refused svm-rank-train -q "$bin/svm-rank-train" empty/model
    holds empty
}

@test "hostile: line ends, blanks, comments and a missing last newline change nothing" {
    accepts '3 qid:1 1:1 2:0.5\r\n1 qid:1 1:0.25 3:2\r\n2 qid:1 2:1\r\n5 qid:2 1:0.5 3:1\r\n4 qid:2 2:1.5\r\n'
    accepts '3 qid:1 1:1 2:0.5\n1 qid:1 1:0.25 3:2\n2 qid:1 2:1\n5 qid:2 1:0.5 3:1\n4 qid:2 2:1.5'
    accepts '# head\n\n3\tqid:1  1:1\t\t2:0.5 \t \n1 qid:1 1:0.25 3:2 # note 9:9\n\n2 qid:1 2:1#x\n   \n5 qid:2 1:0.5 3:1\n# mid\n4 qid:2 2:1.5 # end'
    accepts '+3 qid:1 1:+1 2:.5\n1. qid:1 1:2.5e-1 3:2.0\n2e0 qid:01 2:10E-1\n5 qid:2 01:0.50 3:1.\n4.00 qid:2 2:1.5\n'
}

# ---- prediction ----

@test "hostile: a bad test row is refused at its line, and the old predictions stay" {
    train sane.svm sane.model
    echo old >scores
    { rows 3000 3 4 5; echo '1 1:1 1:1'; } >test.svm
    refused svm-rank-predict -q test.svm sane.model scores
    [[ "$(<err)" == *test.svm:3001:[1-9]* ]] || fail "$(<err)"
    assert_equal "$(<scores)" old
    : >none.svm
    predict none.svm sane.model scores # no row, no prediction
    [ ! -s scores ]
}

@test "hostile: test rows may have features that the model has not, and no label" {
    train sane.svm sane.model
    predict sane.svm sane.model >plain
    sed 's/$/ 100:5 4000000000:7/' sane.svm >more.svm
    predict more.svm sane.model >scores
    cmp plain scores
    cut -d' ' -f2- sane.svm >unlabelled.svm
    predict unlabelled.svm sane.model >unlabelled
    cmp plain unlabelled
}

@test "hostile: measures want labels" {
    train sane.svm sane.model
    cut -d' ' -f2- sane.svm >unlabelled.svm
    refused svm-rank-predict -q --metrics unlabelled.svm sane.model empty/scores
    [[ "$(<err)" == *'nothing to measure by' ]]
    misused svm-rank-predict --metrics=x sane.svm sane.model empty/scores
    holds empty
}

# ---- values ----

@test "hostile: a precomputed kernel may leave out zeros, those of whole last columns too" {
    printf '%s\n' '1 0:1 1:2 2:1 3:0 4:0' '-1 0:2 1:1 2:2 3:0 4:0' '1 0:3 1:0 2:0 3:0 4:0' \
        '-1 0:4 1:0 2:0 3:0 4:0' >whole.svm
    printf '%s\n' '1 0:1 1:2 2:1' '-1 0:2 1:1 2:2' '1 0:3' '-1 0:4' >sparse.svm
    for family in rank top mc ml; do
        svm-$family-train -q --force -t 4 whole.svm whole.model >/dev/null
        svm-$family-train -q --force -t 4 --proof proof sparse.svm model >/dev/null
        diff <(grep -v '^features\|^end' whole.model) <(grep -v '^features\|^end' model)
        svm-check sparse.svm model proof | grep -q VERIFIED
        svm-$family-predict -q whole.svm whole.model expected 2>/dev/null
        svm-$family-predict -q sparse.svm model scores 2>/dev/null
        cmp scores expected
        [ $family != rank ] || continue # whose folds are of more rows
        printf '1\n1\n2\n2\n' >folds
        svm-$family-train -q -t 4 --fold-file folds whole.svm >whole.report
        svm-$family-train -q -t 4 --fold-file folds sparse.svm >report
        diff <(cut -f1-9 whole.report) <(cut -f1-9 report)
    done
    # rows of a larger matrix: a number beyond those of the rows, of a row of zeros
    { grep -v 0:3 sparse.svm; echo '-1 0:9'; } >part.svm
    svm-top-train -q --force -t 4 part.svm model >/dev/null
    # a mistyped number stays an error
    printf '1 0:1 1:1 2:.5\n-1 0:22 1:.5 2:1\n' >wrong.svm
    refused svm-top-train -t 4 wrong.svm model
    assert_equal "$(<err)" 'svm-top-train: precomputed kernel: row 2: serial number 22: must be 1..2'
    printf '1 0:1 1:1 2:.5\n-1 0:2 1:.5 2:1\n1 0:3 1:4\n' >wrong.svm
    refused svm-top-train -t 4 wrong.svm model
    grep -q 'not symmetric: 4 for rows 3 and 1, 0 for rows 1 and 3' err
}

@test "hostile: minmax wants values that are not negative, and a precomputed row its serial" {
    printf '1 1:1\n2 1:-1\n3 1:2\n' >negative.svm
    refused svm-rank-train -q -t minmax negative.svm empty/model
    printf '1 1:1\n2 1:2\n' >positive.svm
    train -t minmax positive.svm positive.model
    awk 'BEGIN { for (i = 1; i <= 150000; i++) print i % 3, "1:" (i == 120000 ? -1 : i % 7) }' >many.svm
    refused svm-rank-predict -q many.svm positive.model empty/out
    assert_equal "$(<err)" 'svm-rank-predict: many.svm: minmax kernel: values must not be negative: row 120000, feature 1: -1'
    refused svm-rank-train -q -t 4 sane.svm empty/model
    printf '1 0:1 1:1 2:.5\n2 0:2 1:.5 2:1\n' >precomputed.svm
    train -t 4 precomputed.svm precomputed.model
    printf '1 0:1 1:1 2:.5\n2 0:9 1:.5 2:1\n' >bad.svm # no column 9
    refused svm-rank-train -q -t 4 bad.svm empty/model
    [[ "$(<err)" == *'serial number 9: must be 1..2' ]]
    for serial in -1 0 1.5 x 1e30; do
        printf '1 0:%s 1:1 2:.5\n2 0:2 1:.5 2:1\n' "$serial" >bad.svm
        refused svm-rank-train -q -t 4 bad.svm empty/model
    done
}

# bats test_tags=long
@test "hostile: rows that are all equal, all zero, or huge give finite numbers or a one-line error" {
    printf '1 1:2\n2 1:2\n3 1:2\n' >equal.svm
    printf '1\n2\n3\n' >zero.svm
    printf '1 1:3e38\n2 1:-3e38\n3 1:1e-38\n' >huge.svm
    printf '1e300 1:1\n-1e300 1:2\n0 1:3\n' >targets.svm
    for file in equal zero huge targets; do
        for options in '-t 0' '-t 0 -l squared-hinge' '-t 2' '-t 1' '-t 5' '-t 3' '-t 7' '-t 7 -g 1e-38' \
            '--scale std' '--scale l2' '--scale minmax' '-t 2 -l squared-hinge'; do
            rm -f model
            local status=0
            limited svm-rank-train -q $options $file.svm model >out 2>err || status=$?
            [ "$status" -le 1 ] || fail "$file $options: exit $status $(<err)"
            if [ "$status" = 1 ]; then
                assert_equal "$(wc -l <err)" 1
                [ ! -e model ]
            else
                if grep -Eqi 'nan|inf' model; then
                    fail "$file $options: $(grep -Ei 'nan|inf' model | head -2)"
                fi
                predict $file.svm model >scores
                if grep -Eqi 'nan|inf' scores; then
                    fail "$file $options: scores $(<scores)"
                fi
            fi
        done
    done
    for options in '' '-l squared-hinge' '-t 2' '-t 2 -l squared-hinge' '-t 5'; do
        for file in equal zero; do # f = 0 is the best there is: C times the number of pairs
            train -c 2 -e 1e-6 $options $file.svm model
            within "$(header primal model)" 5.999999 6.000001
            within "$(header gap model)" 0 1e-6
        done
    done
}

# bats test_tags=long,slow
@test "hostile: with costs so small that products underflow, no bound is false" {
    printf '%s 1:1 2:.5\n%s 1:-1 2:.3\n%s 1:.2 2:-1\n%s 1:.8 2:.7\n%s 1:-.6\n%s 2:-2\n' 1 2 3 1 2 3 >three.svm
    sed 's/^1/+1/; s/^[23]/-1/' three.svm >two.svm
    sed 's/^1/a/; s/^2/b/; s/^3/a,b/' three.svm | sed '3s/a,b/b,c/' >sets.svm
    # bounds TIMES COMMAND: f = 0 is as good as the best there is, and has C times this
    bounds() {
        local times=$1
        shift
        limited "$@" -q --force -c "$cost" "$file" model >out 2>err || fail "$* -c $cost: $(<err)"
        awk -v c="$cost" -v times="$times" -v p="$(header primal model)" -v d="$(header dual model)" \
            'BEGIN { exit !(d + 0 <= c * times && p + 0 >= c * times) }' ||
            fail "$* -c $cost: $(header dual model) .. $(header primal model)"
        [ "$(header certified model)" = yes ]
    }
    for cost in 5e-324 1e-323 1.5e-323 1e-322 1e-320; do
        file=three.svm
        bounds 12 svm-mc-train -s ww
        bounds 6 svm-mc-train -s cs -t rbf
        bounds 10 svm-mc-train -s ww -w 1:.5
        bounds 9 svm-mc-train -s mmr -w 3:2.5
        bounds 12 svm-rank-train
        bounds 12 svm-rank-train -l squared-hinge
        bounds 12 svm-rank-train -t rbf
        file=two.svm
        bounds 4 svm-smm-train --shape 1x2
        bounds 2 svm-smm-train --shape 1x2 -w +1:.5
        bounds 8 svm-smm-train --shape 1x2 -l squared-hinge -w +1:2
        file=sets.svm
        bounds 6 svm-ml-train
        bounds 6 svm-ml-train -t rbf
    done
}
