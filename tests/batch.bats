# --batch and --by-query: many test files with one load of the model, tables of measures, and interrupted
# runs.

load helper

setup() {
    cd "$tmp" || exit 1
    awk 'BEGIN { seed = 11
        for (i = 0; i < 240; i++) {
            line = ""; sum = 0
            for (f = 1; f <= 4; f++) {
                seed = (seed * 16807) % 2147483647; v = int(seed / 2147483647 * 16) / 8
                sum += (f - 2) * v; line = line " " f ":" v }
            seed = (seed * 16807) % 2147483647
            print int(100 * (sum + 2 * seed / 2147483647)) / 100 " qid:" 1 + i % 24 line } }' >set.svm
    mkdir -p files
    # the third has too few rows for the measures
    awk '{ split($2, q, ":"); n[q[2]]++ } q[2] != 3 || n[3] < 4 { print >("files/" q[2]) }' set.svm
    svm-rank-train -q set.svm model >/dev/null
}

# family_files FAMILY: makes the model FAMILY.model and three test files in the folder FAMILY; the
# labels of the second are unknown to the model.
family_files() {
    mkdir -p "$1"
    case $1 in
    rank) cp files/1 rank/a && sed 's/^[^ ]* //' files/2 >rank/b && cp files/4 rank/c ;;
    *)
        awk -v family="$1" 'BEGIN { split("a a,b b", set, " ")
            if (family == "smm") print "# matrix 2 2"
            for (i = 1; i <= 40; i++) {
                label = family == "ml" ? set[i % 3 + 1] : family == "mc" ? i % 3 : i % 2 ? "+1" : "-1"
                print label " 1:" i % 3 " 2:" i % 2 + i / 40 " 3:" i * i % 5 " 4:" i % 7 } }' >"$1/a"
        cp "$1/a" "$1/c"
        sed '/^#/!s/^[^ ]*//' "$1/a" >"$1/b"
        ;;
    esac
    "svm-$1-train" -q "$1/a" "$1.model" >/dev/null
}

# bats test_tags=long
@test "batch: one table of all files, with empty cells for undefined measures, in every family" {
    local columns
    for family in rank top mc ml smm; do
        family_files $family
        svm-$family-predict -q --batch --metrics --output-dir out.$family $family.model $family/[abc] >table
        assert_equal "$(wc -l <table)" 4
        columns=$(head -1 table)
        [[ $columns == file$'\t'rows$'\t'* ]] || fail "$columns"
        assert_equal "$(awk -F'\t' '{ print NF }' table | sort -u | wc -l)" 1
        # each cell equals the output of a run on that file, and an unlabelled file has none
        for file in a c; do
            svm-$family-predict -q --metrics $family/$file $family.model scores >single
            awk -F'\t' -v file=$family/$file 'NR == 1 { split($0, name) }
                $1 == file { for (k = 3; k <= NF; k++) if ($k != "") print name[k] " " $k }' table | cmp - single
            cmp scores out.$family/$file.predict
        done
        awk -F'\t' -v file=$family/b '$1 == file { for (k = 3; k <= NF; k++) bad += $k != ""; n++ }
            END { exit bad || n != 1 }' table || fail "$(<table)"
    done
}

@test "batch: a file with too few rows for the measures is not an error" {
    svm-rank-predict -q --batch --metrics --output-dir made model files/{1,2,3,4} >table
    assert_equal "$(sed -n 4p table | sed 's/\t*$//')" $'files/3\t3'
    assert_equal "$(awk -F'\t' '{ print NF }' table | sort -u | wc -l)" 1
    assert_equal "$(wc -l <table)" 5
}

@test "batch: the model may come first or last" {
    svm-rank-predict -q --batch --metrics --output-dir first model files/* >first.tsv
    svm-rank-predict -q --batch --metrics --output-dir last files/* model >last.tsv
    cmp first.tsv last.tsv
    diff -r first last
    gzip -k model
    svm-rank-predict -q --batch --metrics --output-dir gzip files/* model.gz >gzip.tsv
    cmp first.tsv gzip.tsv
    # pipes are not opened to find the model
    svm-rank-predict -q --batch --metrics --output-dir pipe - files/* <model >pipe.tsv
    cmp first.tsv pipe.tsv
    svm-rank-predict -q --batch --output-dir pipe - model <files/1
    cmp first/1.predict pipe/stdin.predict
    # a missing test file does not make the model ambiguous
    refused svm-rank-predict -q --batch --output-dir none missing files/1 model
    assert_equal "$(<"$tmp/err")" 'svm-rank-predict: missing: No such file or directory'
}

@test "batch: --output-dir is created, and may exist" {
    svm-rank-predict -q --batch --output-dir made/ model files/1
    svm-rank-predict -q --batch --output-dir made model files/2
    holds made 1.predict 2.predict
    refused svm-rank-predict -q --batch --output-dir none/there model files/1
    : >plain
    refused svm-rank-predict -q --batch --output-dir plain model files/1
    for option in '--output-dir out' --keep-going --skip-existing; do
        run -2 svm-rank-predict $option files/1 model
        assert_output --partial "${option%% *} wants --batch"
    done
}

@test "batch: --keep-going continues after files that fail, and lists them" {
    echo '1 qid:1 1:x' >files/broken
    run -1 --separate-stderr svm-rank-predict -q --batch --metrics --output-dir made model files/1 \
        files/broken missing files/2
    assert_output --partial files/1
    refute_output --partial files/2
    run -1 --separate-stderr svm-rank-predict -q --batch --metrics --keep-going --by-query q.tsv \
        --output-dir made model files/1 files/broken missing files/2
    assert_equal "$(printf '%s\n' "${lines[@]}" | cut -f1 | tr '\n' ' ')" 'file files/1 files/2 '
    assert_equal "$stderr" "svm-rank-predict: files/broken:1:11: value is not a number: 'x'
svm-rank-predict: missing: No such file or directory
svm-rank-predict: failed: files/broken
svm-rank-predict: failed: missing
svm-rank-predict: 2 of 4 test files failed"
    holds made 1.predict 2.predict
    assert_equal "$(cut -f1 q.tsv | tr '\n' ' ')" 'file files/1 files/2 '
    # an error of the table itself ends the run
    run -1 bash -c 'svm-rank-predict -q --batch --metrics --keep-going --output-dir made model files/* >/dev/full'
    assert_output --partial '<stdout>: cannot write: No space left on device'
}

@test "batch: --by-query has a row for each query, of one file or of many" {
    svm-rank-predict -q --metrics --by-query q.tsv set.svm model >all
    assert_equal "$(wc -l <q.tsv)" 25
    [[ $(head -1 q.tsv) == file$'\t'query$'\t'rows$'\t'pairs$'\t'pairwise-accuracy$'\t'* ]]
    # the mean of the rows is the measure of the file
    for measure in pairwise-accuracy kendall-tau spearman; do
        near "$(awk -F'\t' -v name=$measure 'NR == 1 { for (k = 1; k <= NF; k++) if ($k == name) at = k }
            NR > 1 { sum += $at; n++ } END { printf "%.15g", sum / n }' q.tsv)" "$(metric $measure all)" 1e-12
    done
    # a query is measured like a file of its own, and its pairs are counted
    svm-rank-predict -q --batch --metrics --by-query many.tsv --output-dir made model files/* >table
    diff <(cut -f2-7 many.tsv | sort) <(awk -F'\t' -v OFS='\t' '$2 != 3' q.tsv | cut -f2-7 |
        cat - <(printf '3\t3\t3\t\t\t\n') | sort)
    printf '1 qid:7 1:1\n2 qid:8 1:1\n2 qid:7 1:2\n2 qid:7 1:3\n1:4 qid:9\n' >odd.svm
    refused svm-rank-predict -q --by-query q.tsv odd.svm model
    printf '1 qid:7 1:1\n2 qid:8 1:1\n2 qid:7 1:2\n2 qid:7 1:3\nqid:9 1:4\n' >odd.svm
    svm-rank-predict -q --by-query q.tsv odd.svm model >/dev/null
    assert_equal "$(cut -f2-4 q.tsv | tr '\t\n' ', ')" 'query,rows,pairs 7,3,2 8,1,0 9,1,0 '
    # without queries there is one row with an empty name; other families have no pairs
    family_files mc
    svm-mc-predict -q --by-query q.tsv mc/a mc.model >/dev/null
    assert_equal "$(head -1 q.tsv)" $'file\tquery\trows\taccuracy\tbalanced-accuracy\tmacro-f1'
    assert_equal "$(cut -f1-4 q.tsv | tail -1)" $'mc/a\t\t40\t'"$(svm-mc-predict -q --metrics mc/a mc.model |
        sed -n 's/^accuracy //p')"
    sed 's/ / qid:2 /' mc/a >mc/q
    svm-mc-predict -q --by-query q.tsv mc/q mc.model >/dev/null
    assert_equal "$(cut -f2,3 q.tsv | tail -1)" $'2\t40'
    run -2 svm-rank-predict -q --by-query scores set.svm model scores
    assert_output --partial "two outputs to one file: 'scores'"
    run -2 svm-rank-predict -q --by-query - set.svm model
    assert_output --partial "two outputs to one file: '-'"
}

@test "batch: an interrupted run is completed by the same command with the same result" {
    local command='svm-rank-predict -q --batch --metrics --skip-existing --by-query'
    $command whole.tsv --output-dir whole model files/* >whole.out
    # one file is a pipe: the run is killed while it waits there
    mv files/20 kept && mkfifo files/20
    $command part.tsv --output-dir part model files/* >part.out &
    local pid=$!
    until [ -e part/2.predict ]; do sleep .01; done
    kill -9 $pid
    wait $pid || true
    rm files/20 && mv kept files/20
    assert_not_exists part.tsv
    assert_not_exists part/20.predict
    local before
    before=$(find part -name '*.predict' | wc -l)
    [ "$before" -gt 3 ]
    [ "$before" -lt 24 ]
    stat -c '%n %i' part/*.predict >inodes
    run -0 --separate-stderr svm-rank-predict --batch --metrics --skip-existing --by-query part.tsv \
        --output-dir part model files/*
    assert_equal "$stderr" "svm-rank-predict: $before of 24 test files were predicted before"
    assert_equal "$output" "$(<whole.out)"
    cmp part.tsv whole.tsv
    diff -r part whole
    while read -r name inode; do # those that were there are left alone
        assert_equal "$(stat -c %i "$name")" "$inode"
    done <inodes
}

# bats test_tags=long
@test "batch: --skip-existing repeats files whose measures are missing" {
    svm-rank-predict -q --batch --output-dir made model files/{1,2}
    echo changed >made/1.predict
    svm-rank-predict -q --batch --skip-existing --output-dir made model files/{1,2}
    assert_equal "$(<made/1.predict)" changed
    svm-rank-predict -q --batch --skip-existing --metrics --output-dir made model files/{1,2} >table
    cmp made/1.predict <(svm-rank-predict -q files/1 model)
    for damage in 's/ndcg@10/ndcg@9/' '$d' 's/^/x/'; do
        sed -i "$damage" made/1.measures
        echo changed >made/1.predict
        svm-rank-predict -q --batch --skip-existing --metrics --output-dir made model files/{1,2} | cmp - table
        cmp made/1.predict <(svm-rank-predict -q files/1 model)
    done
    svm-rank-predict -q --batch --by-query q.tsv --output-dir made model files/{1,2}
    cp q.tsv rows.tsv
    printf 'a\0b\n' >>made/1.queries
    echo changed >made/1.predict
    svm-rank-predict -q --batch --skip-existing --by-query q.tsv --output-dir made model files/{1,2}
    cmp q.tsv rows.tsv
    cmp made/1.predict <(svm-rank-predict -q files/1 model)
    truncate -s -1 made/1.measures
    svm-rank-predict -q --batch --skip-existing --metrics --output-dir made model files/{1,2} | cmp - table
    # the file name in the table is that of this run
    svm-rank-predict -q --batch --skip-existing --metrics --output-dir made model ./files/{1,2} |
        cmp - <(sed 's|^files|./files|' table)
    # a predicted file may be missing
    rm files/1
    svm-rank-predict -q --batch --skip-existing --metrics --output-dir made model files/{1,2} | cmp - table
}

@test "batch: outputs must not be inputs or other outputs" {
    cp files/1 1 && cp files/1 1.predict && cp model 2.predict && cp files/2 2 && mkdir made
    sha256sum 1 2 1.predict 2.predict >sums
    run -2 svm-rank-predict --batch 2 2.predict
    assert_output "svm-rank-predict: '2.predict' is read and written: try --help"
    run -2 svm-rank-predict --batch model 1 1.predict
    assert_output "svm-rank-predict: '1.predict' is read and written: try --help"
    run -2 svm-rank-predict --batch --output-dir "$PWD" 1 1.predict model
    assert_output "svm-rank-predict: '$PWD/1.predict' is read and written: try --help"
    run -2 svm-rank-predict --batch --by-query 2.predict 2 model
    assert_output "svm-rank-predict: two outputs to one file: '2.predict': try --help"
    run -2 svm-rank-predict --batch --by-query 1 1 model
    assert_output "svm-rank-predict: '1' is read and written: try --help"
    for kept in predict measures queries; do
        run -2 svm-rank-predict --batch --metrics --skip-existing --output-dir made \
            --by-query ./made/1.$kept 1 model
        assert_output "svm-rank-predict: two outputs to one file: './made/1.$kept': try --help"
    done
    holds made
    sha256sum --quiet -c sums
    # other folders do not conflict, nor do tables that are not stored
    svm-rank-predict -q --batch --output-dir made --by-query made/1.queries 1 1.predict model
    holds made 1.predict 1.predict.predict 1.queries
}

@test "batch: the error without a model names both operands that could be one" {
    cp files/1 1 && cp files/2 2
    refused svm-rank-predict --batch 1 2 nope.m
    assert_equal "$(<err)" "svm-rank-predict: --batch: neither the first file, '1', nor the last, \
'nope.m', is a model: No such file or directory"
    refused svm-rank-predict --batch 1 2
    assert_equal "$(<err)" "svm-rank-predict: --batch: neither the first file, '1', nor the last, \
'2', is a model"
    refused svm-rank-predict --batch nope.m 1 2
    assert_equal "$(<err)" 'svm-rank-predict: nope.m: No such file or directory'
}

@test "batch: tabs, line ends and escapes in names are escaped" {
    cp files/1 $'files/a\tb\nc\\d\e[31m\x7f'
    svm-rank-predict -q --batch --metrics --output-dir made --by-query q.tsv model files/a* >table
    assert_equal "$(sed -n 2p table | cut -f1)" 'files/a\tb\nc\\d\x1b[31m\x7f'
    assert_equal "$(wc -l <table)" 2
    assert_equal "$(sed -n 2p q.tsv | cut -f1)" 'files/a\tb\nc\\d\x1b[31m\x7f'
}

# bats test_tags=long,slow
@test "batch: systems of report_desc, killed half-way" {
    real rank/report_desc.test.svm.gz
    mkdir parts
    zcat "$real" | awk '{ split($2, q, ":"); print >("parts/" q[2] ".svm") }'
    svm-rank-train -q -l squared-hinge -c .01 --max-iter 1 "$real" desc 2>/dev/null >&2
    svm-rank-predict -q --batch --metrics --output-dir whole desc parts/* >whole.tsv
    [ "$(wc -l <whole.tsv)" -gt 80 ]
    svm-rank-predict -q --batch --metrics --skip-existing --output-dir made desc parts/* >out.tsv &
    local pid=$!
    until [ "$(find made -name '*.predict' 2>/dev/null | wc -l)" -ge 40 ]; do :; done
    kill -9 $pid
    wait $pid || true
    svm-rank-predict -q --batch --metrics --skip-existing --output-dir made desc parts/* >out.tsv
    cmp out.tsv whole.tsv
    for file in whole/*; do cmp "$file" "made/${file##*/}"; done
}
