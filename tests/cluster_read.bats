# Input of several processes: disjoint parts of one file, or one file each, with the rows that one process reads.
bats_require_minimum_version 1.5.0
load helper
load cluster

# same_rows FORMAT [RANKS]: checks that file.svm is stored on that many processes as in one process, row for row,
# with its names, width and first comment.
same_rows() {
    local format=$1 n
    "$bin/tests/unit/common/data/dump" file.svm "$format" held >one
    for n in ${2:-3 7}; do
        rm -f rows.*
        ranks "$n" "$bin/tests/unit/common/data/dump" file.svm "$format" "ranks=$tmp/rows" \
            ${queries:+queries} || fail "$n ranks"
        seq -f rows.%.0f 0 $((n - 1)) | xargs cat | cmp - one || fail "$n ranks hold other rows"
    done
}

# primal FILE: prints the primal of a report.
primal() {
    awk '$1 == "primal" { print $3 }' "$1"
}

# same_optimum REPORT REPORT: checks equality to 1e-10; other distributions of rows have other orders of summation.
same_optimum() {
    awk -v a="$(primal "$1")" -v b="$(primal "$2")" \
        'BEGIN { d = a - b; exit !(a > 0 && d * d <= 1e-20 * a * a) }' ||
        fail "$1: $(primal "$1"), $2: $(primal "$2")"
}

# same_fit N ARGUMENTS: checks that svm-rank-train has the same optimum and header on N processes as on one.
same_fit() {
    local n=$1
    shift
    svm-rank-train -q -j 1 "$@" one.model >one.report
    ranks "$n" svm-rank-train -q -j 1 "$@" ranks.model >ranks.report || fail "$n ranks: $*"
    same_optimum ranks.report one.report
    assert_equal "$(grep -E '^(rows|features|groups|pairs|scale) ' ranks.model | sort)" \
        "$(grep -E '^(rows|features|groups|pairs|scale) ' one.model | sort)"
}

# queries [N]: prints N queries of 1 to 300 rows, with comments, blank lines and words as qids.
queries() {
    awk -v n="${1:-12}" 'BEGIN {
        srand(3)
        print "# matrix 1 5"
        for (q = 1; q <= n; q++) {
            m = q % 4 ? 1 + int(5 * rand()) : 300
            for (i = 0; i < m; i++) {
                name = q % 3 ? q : "system-" q
                if (q % 5 == 1 && q % 3 && i % 2) name = "+" q ".0"
                line = int(9 * rand()) " qid:" name
                for (j = 1; j <= 5; j++) if (rand() < .8) line = line " " j ":" rand()
                print line
                if (rand() < .1) print ""
                if (rand() < .1) print "# qid:" q + 1
            }
        }
    }'
}

@test "cluster: rows are stored as in one process, plain and gzip" {
    local queries=yes
    queries >file.svm
    same_rows number
    sed -i 's/$/\r/' file.svm
    truncate -s -2 file.svm
    same_rows number
    gzip -c file.svm >packed
    mv packed file.svm
    same_rows number
}

# bats test_tags=slow
@test "cluster: a byte order mark is skipped by all processes, plain and gzip" {
    local queries=yes whole
    { printf '\xef\xbb\xbf'; queries; } >file.svm
    same_rows number '2 3 5 7'
    whole=$(<one)
    gzip file.svm
    mv file.svm.gz file.svm
    same_rows number '3 5'
    assert_equal "$(<one)" "$whole"
    queries >plain.svm
    "$bin/tests/unit/common/data/dump" plain.svm number held | cmp - one
    # short files, of which processes start within the mark
    for rows in '1 1:1\n' '1 1:1\n2 1:2\n' ''; do
        # shellcheck disable=SC2059 # a format on purpose
        printf "\xef\xbb\xbf$rows" >file.svm
        [ -n "$rows" ] || continue
        same_rows number '2 3'
    done
}

@test "cluster: few columns, dense rows and sparse rows have the same storage on all processes" {
    awk 'BEGIN { for (i = 0; i < 90; i++) print i % 3, "1:" i, "2:0", "3:1" }' >file.svm
    same_rows number 3
    printf '1 2:1\n1 1:1 2:0 3:1 4:4\n' >>file.svm
    same_rows number '2 3'
    awk 'BEGIN { for (i = 0; i < 90; i++) printf "%d %d:1 40000%05d:2\n", i % 3, 1 + i % 7, i }' >file.svm
    same_rows number '2 3'
    awk 'BEGIN { for (i = 0; i < 2000; i++) print i % 3, i + 1 ":1" }' >file.svm
    same_rows number 3
}

@test "cluster: labels have the same numbers and spellings as in one process" {
    awk 'BEGIN { split("1 b +1 a 1.0 c", name); for (i = 0; i < 60; i++) print name[1 + int(i / 11)], "1:" i }' >file.svm
    same_rows name
    awk 'BEGIN { for (i = 0; i < 60; i++) print (i % 4 ? "w" int(i / 9) ",x" : ""), "1:" i }' >file.svm
    same_rows set
}

# bats test_tags=slow
@test "cluster: fewer rows than processes, one row, one long line, no final newline" {
    local queries=yes
    printf '1 qid:1 1:1\n2 qid:1 1:2' >file.svm
    same_rows number '2 5'
    printf '1 1:1' >file.svm
    same_rows number '2 7'
    { printf '1 qid:a 1:1 #%0300000d\n' 0; printf '2 qid:a 1:2\n3 qid:b 1:1\n'; } >file.svm
    same_rows number '2 4'
    { printf '3 qid:b 1:1\n1 qid:a 1:1 #%0300000d\n' 0; printf '2 qid:a 1:2\n'; } >file.svm
    same_rows number '2 4'
}

@test "cluster: a query that is longer than several parts belongs to one process" {
    local queries=yes
    awk 'BEGIN { print "1 qid:0 1:1"; for (i = 0; i < 500; i++) print i, "qid:7 1:" i; print "1 qid:9 1:1" }' >file.svm
    same_rows number '3 7'
    sed -i 's/ qid:[0-9]//' file.svm
    same_rows number 3
}

# bats test_tags=slow
@test "cluster: the first bad line is reported once, by its number in the file" {
    local line n
    for line in 1 200; do
        queries | sed "${line}s/.*/1 qid:1 1:x/; \$s/.*/1 1:y/" >bad.svm
        for n in 2 4; do
            on_ranks $n refused svm-rank-train bad.svm model
            grep -q "bad.svm:$line:11: value is not a number: 'x'" err || fail "$line, $n: $(<err)"
        done
    done
    gzip bad.svm
    on_ranks 3 refused svm-rank-train bad.svm.gz model
    grep -q 'bad.svm.gz:200:11: value is not a number' err || fail "$(<err)"
}

# bats test_tags=slow
@test "cluster: files without rows, and files that cannot be divided, are refused" {
    : >empty
    printf '# only\n\n' >comments
    on_ranks 3 refused svm-rank-train empty model
    grep -q 'empty: no rows' err
    on_ranks 3 refused svm-rank-train comments model
    grep -q 'comments: no rows' err
    on_ranks 2 misused svm-rank-train - model
    grep -q 'several MPI processes cannot read standard input: name a file' err
    awk 'BEGIN { for (i = 0; i < 200; i++) print i % 3, i < 100 ? "qid:1" : "", "1:" i % 7 }' >half.svm
    on_ranks 2 refused svm-rank-train half.svm model
    grep -q 'half.svm.* qid' err || fail "$(<err)"
    queries >data.svm
    on_ranks 2 refused svm-rank-train /dev/null model
    grep -q '/dev/null: not a regular file, of which each rank could read its part' err
    gzip -c data.svm | head -c 1000 >cut.gz
    on_ranks 3 refused svm-rank-train cut.gz model
    grep -q 'cut.gz: truncated gzip data' err
}

@test "cluster: a query whose rows are not adjacent is an error" {
    { queries 6; echo '1 qid:5 1:1'; } >data.svm
    svm-rank-train -q data.svm model >out
    for n in 2 4; do
        on_ranks $n refused svm-rank-train data.svm model
        grep -q 'data.svm: query 5 is in two places of the file: rows of a query must stand together' err || fail "$(<err)"
    done
    { queries 6; echo '1 qid:system-3 1:1'; } >data.svm
    on_ranks 3 refused svm-rank-train data.svm model
    grep -q 'query system-3 is in two places' err || fail "$(<err)"
}

# bats test_tags=slow
@test "cluster: one file per process, whose number replaces %d" {
    queries 12 >data.svm
    awk '$1 != "#" && $2 ~ /^qid:/ { q = $2; sub(/qid:(system-)?\+?/, "", q); n = int((q - 1) / 4) } { print >"part." n + 0 ".svm" }' data.svm
    same_fit 3 data.svm
    ranks 3 svm-rank-train -q -j 1 part.%d.svm parts.model >parts.report
    same_optimum parts.report ranks.report
    gzip part.1.svm
    mv part.1.svm.gz part.1.svm
    ranks 3 svm-rank-train -q -j 1 part.%d.svm parts.model >parts.report
    same_optimum parts.report ranks.report

    on_ranks 2 refused svm-rank-train part.%d.svm model
    grep -q 'there is part.2.svm too' err || fail "$(<err)"
    on_ranks 4 refused svm-rank-train part.%d.svm model
    grep -q 'part.3.svm: No such file' err || fail "$(<err)"
    on_ranks 3 misused svm-rank-train part.%d.svm part.1.svm
    on_ranks 3 misused svm-rank-train -t 2 part.%d.svm model
    on_ranks 3 misused svm-rank-train -v 3 part.%d.svm model
    grep -q 'a training file in parts (%d) is for a fit whose rows are distributed ' err
    echo '1 qid:1 x' >>part.2.svm
    on_ranks 3 refused svm-rank-train part.%d.svm model
    grep -q "part.2.svm:$(wc -l <part.2.svm):9: " err || fail "$(<err)"

    svm-rank-train -q data.svm plain.model >/dev/null
    cp data.svm plain.%d
    svm-rank-train -q plain.%d model >/dev/null
    cmp plain.model model
}

# bats test_tags=slow
@test "cluster: each kind of scaling uses all rows" {
    local scale
    queries >data.svm
    { sed 1d data.svm | head -200 | sed '/ qid:.*:/s/$/ 2000:3/'; printf '1 qid:z 7000:-2\n2 qid:z 9:1\n'; } >sparse.svm
    for scale in none std std-center minmax l2; do
        same_fit 3 -e 1e-6 --scale $scale data.svm
        same_fit 2 -e 1e-6 --scale $scale sparse.svm
    done
    on_ranks 2 misused svm-rank-train --scale quantile data.svm model
    grep -q -e '--scale quantile is not available for rows distributed over MPI processes' err
}

@test "cluster: weights of queries are accepted if any process has the query" {
    queries >data.svm
    same_fit 3 -e 1e-6 -w 11:3 -w system-3:2.5 data.svm
    on_ranks 3 misused svm-rank-train -w 77:3 data.svm model
    on_ranks 3 misused svm-rank-train -w system-77:3 data.svm model
}

# bats test_tags=slow
@test "cluster: real data have the optimum of one process" {
    real rank/report_desc.train.svm.gz
    same_fit 2 -l 1 -e 1e-2 --scale std "$real"
    gunzip -c "$real" >plain.svm
    same_fit 4 -l 1 -e 1e-2 plain.svm
    real rank/eccb2018.svm.gz
    same_fit 3 "$real"
}

@test "cluster: the memory of a process is that of its part" {
    local alone most
    [ -x /usr/bin/time ] || skip 'no /usr/bin/time'
    svm-generate ltr --rows 60000 --queries 300 --seed 2 --output data.svm
    /usr/bin/time -f %M svm-rank-train -q -j 1 --max-iter 1 data.svm model >out 2>alone
    alone=$(tail -1 alone)
    # each process appends its line to a file, since lines on one stderr could be interleaved
    ranks 4 /usr/bin/time -a -o peaks -f %M svm-rank-train -q -j 1 --max-iter 1 data.svm model >out
    [ "$(wc -l <peaks)" -eq 4 ] || fail "not four lines: $(<peaks)"
    most=$(sort -n peaks | tail -1)
    # 31 MiB of rows, of which a process should save more than half; the rest is the program
    [ "$most" -lt $((alone - 16000)) ] || fail "$most KiB, alone $alone"
}
