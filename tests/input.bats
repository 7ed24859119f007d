# svmlight text as a user meets it: what is accepted, and what each mistake is called and where.

load helper

setup() {
    cd "$tmp" || exit 1
}

# reads TEXT EXPECTED [DUMP-ARGUMENTS]: TEXT (printf format) is read as the lines EXPECTED.
reads() {
    # shellcheck disable=SC2059 # a format on purpose: \t and \r
    printf "$1" >file.svm
    local expected=$2
    shift 2
    run -0 "$bin/tests/unit/common/data/dump" file.svm "${@:-number}"
    assert_output "$expected"
}

# refuses TEXT MESSAGE [DUMP-ARGUMENTS]: TEXT is refused with exactly "file.svm:MESSAGE", by one
# thread and by three.
refuses() {
    # shellcheck disable=SC2059
    printf "$1" >file.svm
    local message=$2
    shift 2
    for threads in 1 3; do
        run -1 "$bin/tests/unit/common/data/dump" file.svm "${@:-number}" threads=$threads
        assert_output "file.svm:$message"
    done
}

@test "scale: training rows come out standardised, other rows get the same map" {
    unit common/data/scale
}

# bats test_tags=long
@test "data: dense in place, subsets, parts, names" {
    unit common/data/data
    unit common/data/indices
}

# bats test_tags=long,slow
@test "input: generated files, right and wrong ones, are read as a plain reference reads them" {
    files=300
    if quick; then
        files=150
    fi
    run -0 "$root/tests/rows.py" "$bin/tests/unit/common/data/dump" $files
    assert_output --partial 'ok: rows are dense until one is not'
}

# bats test_tags=long
@test "input: processes read each line once, and report an error by its line in the file" {
    unit common/data/input_part "$tmp/file"
}

# bats test_tags=long,slow
@test "input: byte ranges of random files, plain and gzip, add up to the files, with whole queries" {
    unit common/data/byte_range "$tmp/random"
}

@test "input: blanks, tabs, CRLF, comments, blank lines, a missing last newline" {
    reads '# top\n\n1 1:2 3:4\n' $'1 rows, 3 features, sparse\n1 1:2 3:4'
    reads '\t 1\t 1:2 \t 3:4 \r\n \r\n  # c\n-2 # 5:6\n' \
        $'2 rows, 3 features, sparse\n1 1:2 3:4\n-2'
    reads '1 2:3#c 4:5' $'1 rows, 2 features, sparse\n1 2:3'
    reads '1 2:3\r' $'1 rows, 2 features, sparse\n1 2:3'
    reads '1' $'1 rows, 0 features, sparse\n1'
}

# bats test_tags=long
@test "input: rows of queries are complete over any number of blocks" {
    awk 'BEGIN { for (i = 0; i < 300000; i++)
        printf "%d qid:%d 1:%d\n", i % 7, i % 5, i % 11 }' >many.svm
    for threads in 1 3; do
        "$bin/tests/unit/common/data/dump" many.svm number threads=$threads >found
        assert_equal "$(head -n 1 found)" '300000 rows, 1 features, dense'
        tail -n +2 found | cmp - many.svm
        # of a pipe nobody knows how much is to come
        "$bin/tests/unit/common/data/dump" - number threads=$threads < <(cat many.svm) >streamed
        cmp found streamed
    done
}

@test "input: numbers with signs, points and exponents" {
    reads '+1e1 1:-.5 2:+5. 3:1E-2 4:2.5e+3 5:3.4028235e38 6:1e-46 7:0012\n' \
        $'1 rows, 7 features, dense\n10 1:-0.5 2:5 3:0.01 4:2500 5:3.4028235e+38 6:0 7:12'
    reads '1 1:0.100000000000000005551115123125782702118158340454101562500000000000000001 3:1\n' \
        $'1 rows, 3 features, sparse\n1 1:0.1 3:1'
}

@test "input: zeros count as features and are not stored in sparse rows" {
    reads '1 1:0 3:2\n2 2:1 9:0\n3 1:0 5:-0.0\n' \
        $'3 rows, 9 features, sparse\n1 3:2\n2 2:1\n3'
}

@test "input: rows that all have the columns 1 to d are dense" {
    reads '1 1:5 2:0\n2 1:6 2:7\n' $'2 rows, 2 features, dense\n1 1:5 2:0\n2 1:6 2:7'
    reads '1 1:5 2:6\n2 1:7 2:8\n3 1:9\n' \
        $'3 rows, 2 features, sparse\n1 1:5 2:6\n2 1:7 2:8\n3 1:9'
    reads '1 1:5 2:6\n2 1:7 2:8\n3 1:9 3:1\n' \
        $'3 rows, 3 features, sparse\n1 1:5 2:6\n2 1:7 2:8\n3 1:9 3:1'
}

@test "input: qid, from 0 to 2^64 - 1; all rows have one, or none" {
    reads '1 qid:18446744073709551615 1:1\n2 qid:0 1:2\n' \
        $'2 rows, 1 features, dense\n1 qid:18446744073709551615 1:1\n2 qid:0 1:2'
    refuses '1 1:1\n2 qid:7 1:2\n' "2:1: row has a qid, the rows before have none: '2'"
    refuses '1 qid:0 1:1\n\n2 1:2\n' "3:1: row has no qid, the rows before have one: '2'"
    # in blocks that are parsed one by one: the first row fills one
    for first in qid:1 ''; do
        second=$([ -n "$first" ] || echo qid:1)
        { echo "1 $first 1:1 # $(head -c 300000 /dev/zero | tr '\0' x)" && echo "2 $second 1:2"; } >long.svm
        run svm-rank-train -q long.svm
        assert_failure 1
        assert_output --partial "svm-rank-train: long.svm:2:1: row has $([ -n "$second" ] && echo a || echo no) qid, the rows before have"
    done
}

@test "input: labels that are names are kept as written, equal numbers as first spelled" {
    reads '+1 1:1\nC# 1:2\n\303\244 1:3\n+1 1:4\n1 1:5\n1x 1:6\n' \
        $'6 rows, 1 features, dense\n+1 1:1\nC# 1:2\n\303\244 1:3\n+1 1:4\n+1 1:5\n1x 1:6' name
}

@test "input: sets of labels, perhaps empty" {
    reads 'a,b 1:1\n 1:2\n1:3\nqid:4 1:4\nb\n' \
        $'5 rows, 1 features, sparse\n{a,b} qid:0 1:1\n{} qid:0 1:2\n{} qid:0 1:3\n{} qid:4 1:4\n{b} qid:0' \
        set
}

@test "input: rows without labels where they are optional" {
    reads 'qid:1 1:1\nqid:2 1:2\n3 qid:1 1:3\n' \
        $'3 rows, 1 features, dense\nnone qid:1 1:1\nnone qid:2 1:2\n3 qid:1 1:3' number optional
    reads '1:1\nx 1:3\n' $'2 rows, 1 features, dense\nnone 1:1\nx 1:3' name optional
}

@test "input: precomputed rows begin with 0:serial" {
    reads '1 qid:0 0:3 1:5 2:6\n2 qid:1 0:4 1:7 2:8\n' \
        $'2 rows, 2 features, dense\n1 qid:0 0:3 1:5 2:6\n2 qid:1 0:4 1:7 2:8' number precomputed
    refuses '1 1:5\n' "1:3: row does not begin with 0:serial (precomputed kernel): '1:5'" \
        number precomputed
    refuses '1 0:1\n1\n' \
        '2:2: row does not begin with 0:serial (precomputed kernel): end of the row' \
        number precomputed
    refuses '1 0:x 1:5\n' "1:5: serial number is not a whole number: 'x'" number precomputed
    refuses '1 0:1 0:2\n' "1:7: index is 0 (indices count from 1): '0:2'" number precomputed
}

# bats test_tags=long
@test "input: labels that are wrong" {
    refuses 'x 1:1\n' "1:1: label is not a number: 'x'"
    refuses '1\n\n1x 1:1\n' "3:2: junk after the label: 'x'"
    refuses '  1,2 1:1\n' "1:4: junk after the label: ',2'"
    refuses 'nan 1:1\n' "1:1: label is not finite: 'nan'"
    refuses ' -Inf 1:1\n' "1:2: label is not finite: '-Inf'"
    refuses '1e400 1:1\n' "1:1: label is too large: '1e400'"
    refuses '0x10 1:1\n' "1:2: junk after the label: 'x10'"
    refuses '1:1\n' "1:1: label is missing: '1:1'"
    refuses '1 1:1\n qid:1 1:1\n' "2:2: label is missing: 'qid:1'"
    refuses '1:1\n' "1:1: label is missing: '1:1'" name
    refuses 'a,b 1:1\n' "1:2: comma in the label: one label is expected: ',b'" name
    refuses 'a,,b 1:1\n' "1:3: label is empty: ',b'" set
    refuses ',a 1:1\n' "1:1: label is empty: ',a'" set
    refuses 'a, 1:1\n' "1:3: label is empty: ' 1:1'" set
    refuses 'a,b,a 1:1\n' "1:5: label is given twice: 'a'" set
}

@test "input: a qid that is wrong" {
    refuses '1 qid:\n' '1:7: qid is empty: end of the row'
    refuses '1 qid: 1:1\n' "1:7: qid is empty: ' 1:1'"
    refuses '1 qid:a\0b 1:1\n' "1:8: NUL byte: '\\x00b'"
    refuses '1 qid:1 qid:1 1:1\n' "1:9: qid is given twice: 'qid:1'"
    refuses '1 1:1 qid:1\n' "1:7: qid stands behind a feature: 'qid:1'"
}

# bats test_tags=long
@test "input: an index that is wrong" {
    refuses '1 0:1\n' "1:3: index is 0 (indices count from 1): '0:1' (if indices count from 0: tools/convert \
--zero-based; if this is 0:serial: train with -t precomputed)"
    refuses '1 -1:1\n' "1:3: index is negative: '-1:1'"
    refuses '1 2:1 2:1\n' "1:7: index is not above the one before: '2:1'"
    refuses '1 2:1 1:1\n' "1:7: index is not above the one before: '1:1'"
    refuses '1 4294967296:1\n' "1:3: index is over 4294967295: '4294967296:1'"
    refuses '1 18446744073709551617:1\n' \
        "1:3: index is over 4294967295: '18446744073709551617:1'"
    refuses '1 1.5:1\n' "1:3: index is not a whole number: '1.5:1'"
    refuses '1 x:1\n' "1:3: index:value is expected: 'x:1'"
    refuses '1 7\n' "1:3: no colon behind the index: '7'"
    reads '1 4294967295:1\n' $'1 rows, 4294967295 features, sparse\n1 4294967295:1'
}

# bats test_tags=long
@test "input: a value that is wrong" {
    refuses '1 1:\n' '1:5: value is missing: end of the row'
    refuses '1 1: 2\n' "1:5: value is missing: ' 2'"
    refuses '1 1:x\n' "1:5: value is not a number: 'x'"
    refuses '1 1:nan\n' "1:5: value is not finite: 'nan'"
    refuses '1 1:-INF\n' "1:5: value is not finite: '-INF'"
    refuses '1 1:2x\n' "1:6: junk after the value: 'x'"
    refuses '1 1:1e\n' "1:6: junk after the value: 'e'"
    refuses '1 1:1:2\n' "1:6: junk after the value: ':2'"
    refuses '1 1:1\r2:1\n' "1:6: junk after the value: '\\x0d2:1'"
    missing='(if that stands for a missing value: tools/convert --missing-words)'
    refuses '1 1:3.5e38\n' "1:5: value is too large for single precision: '3.5e38' $missing"
    refuses '1 1:1e400\n' "1:5: value is too large for single precision: '1e400' $missing"
}

@test "input: NUL bytes are refused, in comments too; what is not printable is shown in hex" {
    refuses '1 1:1\0\n' "1:6: junk after the value: '\\x00'"
    refuses '1 \0001:1\n' "1:3: NUL byte: '\\x001:1'"
    refuses '1 1:1 # a\0b\n' "1:10: NUL byte: '\\x00b'"
    refuses 'a\0b 1:1\n' "1:2: NUL byte: '\\x00b'" name
    refuses '1 1:\0337m\n' "1:5: value is not a number: '\\x1b7m'"
}

@test "input: the text shown in an error is cut to 30 bytes" {
    refuses '1 1:abcdefghijklmnopqrstuvwxyzabcdefghij 2:3\n' \
        "1:5: value is not a number: 'abcdefghijklmnopqrstuvwxyzabcd'..."
}

# bats test_tags=long,slow
@test "input: the first of several mistakes is reported, with its line of the whole file" {
    yes '1 1:1 2:0.25 3:1e-3 # comment' | head -60000 >good
    { cat good; echo '1 1:bad'; cat good; echo '1 0:1'; cat good; } >file.svm
    for threads in $(quick || echo 2) 1 3; do
        run -1 "$bin/tests/unit/common/data/dump" file.svm number threads=$threads
        assert_output "file.svm:60001:5: value is not a number: 'bad'"
        run -1 "$bin/tests/unit/common/data/dump" file.svm number stream threads=$threads
        assert_line "file.svm:60001:5: value is not a number: 'bad'"
    done
}

@test "input: no rows are an error" {
    for text in '' '\n' '# only a comment' '\n \r\n\t\n'; do
        # shellcheck disable=SC2059
        printf "$text" >file.svm
        run -1 "$bin/tests/unit/common/data/dump" file.svm number
        assert_output 'file.svm: no rows'
    done
}

@test "input: one line of 30 MB is a row, and a mistake at its end is found" {
    awk 'BEGIN { printf "1"; for (i = 1; i <= 2500000; i++) printf " %d:0.5", i * 2; print "" }' \
        >file.svm
    run -0 "$bin/tests/unit/common/data/dump" file.svm number head threads=2
    assert_output --partial '1 rows, 5000000 features, sparse'
    truncate -s -1 file.svm
    echo x >>file.svm
    run -1 "$bin/tests/unit/common/data/dump" file.svm number threads=2
    assert_output "file.svm:1:$(($(wc -c <file.svm) - 1)): junk after the value: 'x'"
}

# plain_rows N: plain, of so many rows, and sum, of what is read of it
plain_rows() {
    awk -v n="$1" 'BEGIN { srand(3); for (i = 0; i < n; i++) { printf "%d qid:%d", i % 7, i % 50
         for (j = 1; j < 30; j += 1 + int(3 * rand())) printf " %d:%.7g", j, rand() - 0.5
         print "" } }' >plain
    "$bin/tests/unit/common/data/dump" plain number | sha256sum >sum
}

# the same, whichever way it comes
same() {
    run -0 "$bin/tests/unit/common/data/dump" "$@"
    assert_equal "$(sha256sum <<<"$output")" "$(<sum)"
}

# bats test_tags=long,slow
@test "input: file = standard input = pipe = gzip = gzip of many members, whole and streamed" {
    plain_rows 8000
    gzip <plain >whole.gz
    { head -2000 plain | gzip; printf '' | gzip; tail -n +2001 plain | gzip; } >many.gz
    { cat whole.gz; head -c 1000 /dev/zero; } >padded.gz
    for threads in $(quick || echo 2) 1 5; do
        for file in plain whole.gz many.gz padded.gz; do
            same $file number threads=$threads
            same - number threads=$threads <$file
            same <(cat $file) number threads=$threads
        done
    done
    "$bin/tests/unit/common/data/dump" plain number stream | sha256sum >sum
    same many.gz number stream threads=1
    same - number stream threads=2 <plain
}

# bats test_tags=long
@test "input: every decompressor agrees with zlib, with one thread and several" {
    unit common/data/gzip
}

# bgzip [SIZE]: standard input as members of SIZE bytes that say how long they are.
bgzip() {
    split -b "${1:-60000}" --filter 'gzip -n | tail -c +11 >member
        printf "\37\213\10\4\0\0\0\0\0\3\6\0BC\2\0"
        printf "%04x" $(($(wc -c <member) + 17)) |
            sed "s/\(..\)\(..\)/\\\\x\2\\\\x\1/" | xargs -0 printf
        cat member' -
}

# bats test_tags=long,slow
@test "input: gzip members of known length, as bgzip writes them, give the same file" {
    plain_rows 9000
    bgzip <plain >blocks.gz
    gzip -t blocks.gz
    { head -c 100000 plain | bgzip 700; tail -c +100001 plain | gzip; } >mixed.gz
    for threads in 1 2 5; do
        for file in blocks.gz mixed.gz; do
            same $file number threads=$threads
            same <(cat $file) number threads=$threads
        done
    done
    size=$(wc -c <blocks.gz)
    for threads in 1 2; do
        head -c $((size - 30000)) blocks.gz >bad.gz
        run -1 "$bin/tests/unit/common/data/dump" bad.gz number threads=$threads
        assert_output 'bad.gz: truncated gzip data'
        { head -c $((size - 6)) blocks.gz; printf 'abcdef'; } >bad.gz
        run -1 "$bin/tests/unit/common/data/dump" bad.gz number threads=$threads
        assert_output 'bad.gz: corrupt gzip data'
        { cat blocks.gz; echo junk; } >bad.gz
        run -1 "$bin/tests/unit/common/data/dump" bad.gz number threads=$threads
        assert_output 'bad.gz: corrupt gzip data: junk behind the end'
    done
}

# header FLAGS FIELDS: a member of two rows behind a header with these, in printf's escapes.
# shellcheck disable=SC2059 # the format is the header
header() {
    printf "\\37\\213\\10\\$1\\0\\0\\0\\0\\0\\3$2"
    printf '1 1:2\n2 1:3\n' | gzip -n | tail -c +11
}

# bats test_tags=long
@test "input: every field of a gzip header is read, and invalid headers are refused" {
    for header in '0 ' '1 ' '4 \5\0abcde' '10 name\0' '20 comment\0' '30 n\0c\0' \
        '34 \0\0n\0c\0' '2 \247\167'; do
        # shellcheck disable=SC2086 # two words
        header $header >member.gz
        run -0 "$bin/tests/unit/common/data/dump" member.gz number
        assert_line '2 1:3'
    done
    for header in '40 ' '100 ' '200 ' '2 \0\0'; do
        # shellcheck disable=SC2086
        header $header >member.gz
        run -1 "$bin/tests/unit/common/data/dump" member.gz number
        assert_output 'member.gz: corrupt gzip data'
    done
    for header in '4 \377\377' '10 name' '20 comment'; do
        # shellcheck disable=SC2086
        header $header | head -c 25 >member.gz
        run -1 "$bin/tests/unit/common/data/dump" member.gz number
        assert_output 'member.gz: truncated gzip data'
    done
}

# bats test_tags=long
@test "input: gzip data that is truncated, damaged or followed by junk is refused" {
    awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++) print i, "1:" rand() }' | gzip >whole.gz
    size=$(wc -c <whole.gz)
    for cut in 3 9 10 11 100 $((size / 2)) $((size - 8)) $((size - 1)); do
        head -c "$cut" whole.gz >bad.gz
        run -1 "$bin/tests/unit/common/data/dump" bad.gz number
        assert_output 'bad.gz: truncated gzip data'
        run -1 "$bin/tests/unit/common/data/dump" - number threads=2 <bad.gz
        assert_output '<stdin>: truncated gzip data'
    done
    for at in 2 200 $((size / 2)) $((size - 6)) $((size - 2)); do # header, data, checksum, length
        cp whole.gz bad.gz
        printf '\377\377' | dd of=bad.gz bs=1 seek=$at conv=notrunc status=none
        run -1 "$bin/tests/unit/common/data/dump" bad.gz number
        assert_output --regexp '^bad.gz(: corrupt gzip data|: truncated gzip data|:[0-9]+:[0-9]+: )'
    done
    { cat whole.gz; echo junk; } >bad.gz
    run -1 "$bin/tests/unit/common/data/dump" bad.gz number
    assert_output 'bad.gz: corrupt gzip data: junk behind the end'
}

# marked FILE: with a byte order mark in front.
marked() {
    printf '\xef\xbb\xbf' | cat - "$1"
}

# bats test_tags=long
@test "input: a byte order mark is skipped, in every file that is read, plain, gzip and from a pipe" {
    reads '\xef\xbb\xbf1 1:2\n' '1 rows, 1 features, dense
1 1:2'
    refuses '\xef\xbb\xbf1 2:x\n' "1:5: value is not a number: 'x'"
    refuses '\xef\xbb\xbf' ' no rows'
    # behind the first line it is that of another file, and no part of a label or of a fold's name
    for kind in number name set; do
        refuses '1 1:2\n\xef\xbb\xbf1 1:2\n' "2:1: byte order mark within the text: '\\xef\\xbb\\xbf1'" $kind
        refuses '\xef\xbb\xbf\xef\xbb\xbf1 1:2\n' \
            "1:1: byte order mark within the text: '\\xef\\xbb\\xbf1'" $kind
    done
    printf '1 1:2\n1 1:3\n2 1:1\n2 1:0\n' >data.svm
    printf '1\n2\n\xef\xbb\xbf1\n2\n' >folds
    refused svm-mc-train --fold-file folds data.svm
    assert_equal "$(<err)" 'svm-mc-train: folds:3: byte order mark within the text'
    printf '1 1:2\n1 1:1\n1 1:2.5\n2 1:-1\n2 1:-2\n' >plain.svm
    marked plain.svm >marked.svm
    gzip -c marked.svm >marked.gz
    printf '1\n2\n2\n1\n2\n' >folds
    printf '1\n2\n1\n2\n1\n' >weights
    svm-mc-train -q plain.svm plain.model >/dev/null
    svm-top-train -q --row-weights weights --positive 1 plain.svm top.model >/dev/null
    svm-mc-train -q --fold-file folds plain.svm >expected
    for file in marked.svm marked.gz; do
        for threads in 1 3; do
            svm-mc-train -q -j $threads $file model >/dev/null
            cmp model plain.model
            svm-mc-train -q -j $threads - model <$file >/dev/null
            cmp model plain.model
            svm-mc-train -q -j $threads --fold-file <(marked folds) $file | diff - expected
            svm-top-train -q -j $threads --row-weights <(marked weights | gzip) --positive 1 $file \
                top.copy >/dev/null
            cmp top.copy top.model
        done
    done
    # a pipe that brings a byte at a time
    for byte in '\xef' '\xbb' '\xbf' 1 ' 1:2\n' '2 1:-1\n'; do
        # shellcheck disable=SC2059 # a format on purpose
        printf "$byte"
        sleep .05
    done | "$bin/tests/unit/common/data/dump" - name | tail -2 | diff - <(printf '1 1:2\n2 1:-1\n')
    # models, the tests of predictors, matrices and the proofs of svm-check
    svm-mc-predict -q plain.svm plain.model expected
    marked plain.model >marked.model
    svm-mc-predict -q marked.gz marked.model labels
    cmp labels expected
    svm-mc-predict -q marked.svm <(gzip -c marked.model) labels
    cmp labels expected
    printf '# matrix 1 2\n1 1:1\n2 1:-1\n' >matrix.svm
    svm-smm-train -q -s svm --force --proof proof matrix.svm model >report
    svm-check <(marked matrix.svm) <(marked model) <(marked proof) | grep -q VERIFIED
}

# bats test_tags=long
@test "input: files of other compressors are named with the pipe that reads them; UTF-16 is named" {
    # of each only the first bytes, and then bytes that are no text
    while read -r what command bytes; do
        # shellcheck disable=SC2059 # formats on purpose
        { printf "$bytes"; printf '\1\0\377'; } >data.svm
        command=${command/_/ }
        refused svm-rank-train data.svm model
        assert_equal "$(<err)" \
            "svm-rank-train: data.svm: compressed by $what: read it by $command data.svm | svm-... -"
        refused svm-mc-predict model data.svm labels
        grep -qF "data.svm: compressed by $what: read it by $command data.svm |" err || fail "$(<err)"
        ! svm-top-train - model <data.svm 2>err || fail "taken"
        grep -qF "<stdin>: compressed by $what: read it by $command FILE |" err || fail "$(<err)"
        cp data.svm 'of us.svm'
        refused svm-ml-train 'of us.svm' model
        grep -qF "read it by $command FILE |" err || fail "$(<err)"
    done <<'END'
bzip2 bzip2_-dc BZh91AY&SY
bzip2 bzip2_-dc BZh9\27rE8P\220
lzma xz_-dc ]\0\0
xz xz_-dc \3757zXZ\0
zstd zstd_-dc \50\265\57\375
lz4 lz4_-dc \4\42\115\30
compress gzip_-dc \37\235
zip unzip_-p PK\3\4
END
    # within gzip too, and gzip itself
    for bytes in 'xz \3757zXZ\0' 'gzip \37\213\10'; do
        # shellcheck disable=SC2059 # formats on purpose
        { printf "${bytes#* }"; printf '\1\0\377'; } | gzip -c >data.gz
        for command in 'svm-mc-train -q data.gz model' 'svm-mc-predict plain.svm data.gz'; do
            refused $command
            assert_equal "$(<err)" "${command%% *}: data.gz: compressed by ${bytes%% *}, and again by gzip: \
read it by gzip -dc data.gz | ${bytes%% *} -dc | svm-... -"
        done
    done
    # labels may begin as they do
    printf 'BZh9 1:1\nBZh91AY 1:2\n' >data.svm
    svm-mc-train -q data.svm mc.model >report
    grep -q '^labels BZh9 BZh91AY$' mc.model
    printf '\xff\xfe1\0 \0' >data.svm
    refused svm-rank-train data.svm model
    assert_equal "$(<err)" 'svm-rank-train: data.svm: is UTF-16: UTF-8 is expected'
    gzip data.svm
    refused svm-rank-train data.svm.gz model
    assert_equal "$(<err)" 'svm-rank-train: data.svm.gz: is UTF-16: UTF-8 is expected'
}

# bats test_tags=long
@test "input: CSV, TSV, XMC and zero-based indices: the error names what converts them" {
    for family in rank mc top smm; do
        for text in 'a,b\n5.1,3\n' '5.1,3.5,x\n' 'a\tb\n1\t2\n' '# ours\na\tb\n' 'at: s,b\n'; do
            # shellcheck disable=SC2059 # a format on purpose
            printf "$text" >data.csv
            refused svm-$family-train data.csv model
            [[ "$(<err)" == *' (if this is CSV or TSV: tools/convert)' ]] || fail "$(<err)"
        done
        printf '2 4 2\n0,1 0:1.5 2:3\n1 1:2\n' >data.txt
        refused svm-$family-train data.txt model
        [[ "$(<err)" == *'(if this is XMC, its first line '*': tools/convert --from xmc)' ]] ||
            fail "$(<err)"
        for text in '%% iris\n%%\n% from\n@relation x\n' '@RELATION x\n@data\n'; do
            # shellcheck disable=SC2059 # a format on purpose
            printf "$text" >data.arff
            refused svm-$family-train data.arff model
            [[ "$(<err)" == *' (if this is ARFF: tools/convert)' ]] || fail "$(<err)"
        done
        printf '\x93NUMPY\1\0v\0{"descr": "<f8", "shape": (3,)}\n' >data.npy
        refused svm-$family-train data.npy model
        [[ "$(<err)" == *' (if this is .npy: tools/convert)' ]] || fail "$(<err)"
        for text in '{"label": 1, "f": 2}\n' '<html lang="en", x>\n' '%%%%MatrixMarket matrix\n'; do
            # shellcheck disable=SC2059 # a format on purpose
            printf "$text" >data.txt
            refused svm-$family-train data.txt model
            [[ "$(<err)" != *'if this is'* ]] || fail "$(<err)"
        done
        printf '# dump\n# Column indices are zero-based\n#\n1 1:1\n' >data.svm
        seq -f '1 0:%.0f' 40000 >>data.svm
        refused svm-$family-train data.svm model
        [[ "$(<err)" == *"data.svm:5:3: index is 0 (indices count from 1): '0:1' (a comment says \
zero-based: tools/convert --zero-based)" ]] || fail "$(<err)"
    done
    # rows that may be meant as such have no advice
    refuses '1,2 1:1\n' "1:2: comma in the label: one label is expected: ',2'" name
    refuses '1 1:1\n1,2\n' "2:2: comma in the label: one label is expected: ',2'" name
    refuses '1 1:1\n1 2 3\n' "2:3: no colon behind the index: '2'"
    refuses '1 2 3\n' "1:3: no colon behind the index: '2' (if this is XMC, its first line ROWS \
FEATURES LABELS: tools/convert --from xmc)"
    refuses '1\t2\t3\n' "1:3: no colon behind the index: '2' (if this is CSV or TSV: tools/convert)"
    refuses '1 2 3 4\n' "1:3: no colon behind the index: '2'"
    refuses '1 0:1\n' "1:3: index is 0 (indices count from 1): '0:1' (if indices count from 0: tools/convert \
--zero-based; if this is 0:serial: train with -t precomputed)"
    # to ml such rows are sets of labels
    printf 'a,b\nc,d\n' >data.csv
    svm-ml-train -q data.csv model >report
    grep -q '^note = no row has an index:value (if the file is CSV: tools/convert)$' report
}

@test "input: files that cannot be read are named" {
    run -1 "$bin/tests/unit/common/data/dump" nowhere.svm number
    assert_output 'nowhere.svm: No such file or directory'
    run -1 "$bin/tests/unit/common/data/dump" . number
    assert_output '.: Is a directory'
    run -1 "$bin/tests/unit/common/data/dump" - number <.
    assert_output '<stdin>: Is a directory'
    # in a shell of its own: run would put a pipe of its own where the standard input was
    run -1 bash -c '"$1" - number <&-' _ "$bin/tests/unit/common/data/dump"
    assert_output '<stdin>: Bad file descriptor'
}

@test "input: an unreadable file is named" {
    [ "$(id -u)" != 0 ] || skip 'root reads everything'
    echo '1 1:1' >file.svm
    chmod 000 file.svm
    run -1 "$bin/tests/unit/common/data/dump" file.svm number
    assert_output 'file.svm: Permission denied'
}

@test "input: a mistake ends reading from a pipe that stays open and silent" {
    mkfifo pipe
    sleep 1000 3>&- <>pipe & # keeps the pipe open, for reading too, so that nobody waits for anybody
    local sleeper=$!
    { yes '1 1:1 2:2' | head -1000000; echo '1 1:x'; yes '1 1:1' | head -3000000; } \
        2>/dev/null 3>&- >pipe &
    run -1 limited "$bin/tests/unit/common/data/dump" pipe number threads=2
    kill "$sleeper"
    assert_output "pipe:1000001:5: value is not a number: 'x'"
}

# bats test_tags=long,slow
@test "input: a stream of any length takes the same memory" {
    sanitized && skip 'limits on memory do not go with the sanitizer'
    streamed() {
        awk 'BEGIN { for (i = 0; i < 3000000; i++) print i, "1:0.5 3:0.25 7:1e-3" }' 2>/dev/null |
            (ulimit -v 80000 && exec "$bin/tests/unit/common/data/dump" - number "$@")
    }
    assert_equal "$(streamed stream | tail -1)" '2999999 1:0.5 3:0.25 7:0.001'
    run -1 streamed
    assert_output --partial 'out of memory'
}

@test "input: real data of every family is read" {
    real rank/eccb2018.svm.gz
    run -0 "$bin/tests/unit/common/data/dump" "$real" number
    assert_line --index 0 '1081 rows, 307 features, sparse'
    real ml/yeast.train.svm.gz
    run -0 "$bin/tests/unit/common/data/dump" "$real" set threads=2
    assert_line --index 0 --regexp '^1500 rows, 103 features, '
    real mc/letter.train.svm.gz
    run -0 "$bin/tests/unit/common/data/dump" "$real" name
    assert_line --index 0 --regexp '^15000 rows, 16 features, '
}
