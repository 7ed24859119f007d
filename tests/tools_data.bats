# Tools for data sets: subset, check and molecules.

load helper

setup() { with_tools; }

# ---- subset ----

@test "subset: parts have the exact size, depend on the seed, keep the order, and the rest has all other rows" {
    awk 'BEGIN { print "# matrix 1 2"; for (i = 1; i <= 100; i++)
        printf "%s 1:%d\n", i % 10 ? (i % 10 < 4 ? "+1" : "1.0") : "rare", i }' >rows
    subset --rows 30 --rest rest rows part
    assert_equal "$(grep -c : part) $(grep -c : rest)" '30 70'
    [ "$(head -n 1 part)" = '# matrix 1 2' ]
    [ "$(head -n 1 rest)" = '# matrix 1 2' ]
    sort -u part rest | diff - <(sort rows)
    grep : part | sort -t : -k 2n | diff - <(grep : part) # in their order
    subset --rows 30 rows again
    cmp part again
    subset --rows 30 --seed 2 rows other
    run -1 cmp -s part other
    gzip -k rows
    subset --rows 30 - part.gz <rows.gz
    zcat part.gz | cmp - part
    subset --share 0.25 rows - | grep -c : | diff - <(echo 25)
    # the share of each label; 1, +1 and 1.0 are one label
    subset --by label --share 0.2 rows part
    assert_equal "$(grep -c rare part) $(grep -vc 'rare\|#' part)" '2 18'
    subset --by label --rows 95 rows part # 85.5 and 9.5
    assert_equal "$(grep -c : part)" 95
}

@test "subset: whole queries, by number or by name" {
    printf '%s\n' '1 qid:1 1:1' '2 qid:b 1:2' '3 qid:1 1:3' '4 qid:7 1:4 # c' >rows
    for seed in 1 2 3 4 5; do
        subset --by query --rows 2 --seed $seed --rest rest rows part
        cut -d' ' -f 2 part | sort -u >in
        cut -d' ' -f 2 rest | sort -u >out
        assert_equal "$(wc -l <in) $(wc -l <out)" '2 1'
        run -1 grep -qFxf in out
    done
    subset --queries 7,1 rows - | diff - <(grep -v qid:b rows)
    printf '%s\n' '1 qid:1 1:1' '2 qid:2 1:2' '3 qid:1.0 1:3' '4 qid:+2 1:4' >spelled # 1, +1 and 1.0 are one query
    subset --queries 1 spelled - | diff - <(grep -E 'qid:1' spelled)
    subset --by query --rows 1 --rest rest spelled part
    assert_equal "$(wc -l <part) $(wc -l <rest)" '2 2'
    refused subset --queries 9 rows part2
    [[ "$(<err)" == 'subset: rows: there is no query 9' ]]
    refused subset --rows 5 rows part2
    refused subset --by query --rows 4 rows part2
    printf '1 1:1\n2 2:1 1:1\n' >bad
    refused subset --rows 1 bad part2
    [[ "$(<err)" == 'subset: bad:2: '* ]]
    : >empty
    refused subset --rows 1 empty part2
    misused subset --share 1 rows part2
    misused subset rows part2
    [ ! -e part2 ]
}

@test "subset: rows with the same key are on one side" {
    seq 12 | sed 's/.*/& 1:&/' >rows
    printf '%s\n' a b c a b c d d d e e e >keys
    for seed in 1 2 3; do
        subset --keys keys --share 0.4 --seed $seed --rest rest rows part
        for side in part rest; do
            while read -r row _; do sed "${row}q;d" keys; done <$side | sort -u >$side.keys
        done
        assert_equal "$(wc -l <part.keys) $(wc -l <rest.keys)" '2 3'
        run -1 grep -qxFf part.keys rest.keys
    done
    subset --keys keys --rows 5 rows - | cmp - rows
    refused subset --keys keys --rows 6 rows part2
    [[ "$(<err)" == 'subset: rows: has 5 keys, and 6 are wanted' ]]
    head -n 11 keys >short
    refused subset --keys short --rows 1 rows part2
    [[ "$(<err)" == 'subset: short: 11 lines, and 12 rows' ]]
    sed '2s/.*/b b/' keys >two
    refused subset --keys two --rows 1 rows part2
    [[ "$(<err)" == "subset: two:2: one word is expected: 'b b'" ]]
    misused subset --keys keys --by label --rows 1 rows part2
    misused subset --keys keys --queries 1 rows part2
    [ ! -e part2 ]
}

# ---- check ----

# agrees FAMILY: check refuses `rows` if and only if the trainer of the family does.
agrees() {
    local status=0
    "svm-$1-train" --force -q rows model >report 2>told || status=$?
    run -$status check "$1" rows
    [ $status = 0 ] || [[ "${lines[*]}" == *"check: rows"* ]] || fail "check says nothing: $output"
}

# bats test_tags=long,slow
@test "check: refuses the same files as the trainers, at the same lines" {
    local number=0
    while IFS= read -r text; do
        # shellcheck disable=SC2059
        printf -- "$text" >rows
        # labels and queries depend on the family, everything else on the reader
        number=$((number + 1))
        [ $number -le 10 ] && set -- rank top mc ml smm || set -- rank ml
        for family in "$@"; do
            agrees "$family"
            where=$(sed -n 's/^[^:]*: rows:\([0-9]*\):.*/\1/p' told)
            [ -z "$where" ] || [[ "$output" == *"check: rows:$where: "* ]] ||
                fail "$family says line $where of $text: $output"
        done
    done <<'END'
1 1:1\n-1 1:2\n
+1 qid:1 1:1\n-1 qid:1 1:2\n
1 qid:1 1:1\n-1 qid:2 1:2\n
1 qid:1 1:1\n-1 1:2\n
1 1:1\n1.0 1:2\n
yes 1:1\nno 1:2\n
1,2 1:1\n2 1:2\n 1:3\n
1:1\n1:2\n
# matrix 1 2\n1 1:1\n-1 3:1\n
# matrix 1 2 row-major\n1 1:1\n-1 2:1\n
1 1:1\n2 2:1 1:1\n3 1:nan\n
1 1:1\n2 0:1\n
1 0:1 1:1\n-1 0:2 1:1\n
1 1:1\n2 1:1e39\n
1 1:1\n2 1:1 # comment\n\n# comment\n3
1 1:1\n2,2 1:1\n
1 1:1\n, 1:1\n
1 1:1\n1e999 1:1\n
1 1:1\nnan 1:1\n
1\n-1\n
\n\n
# only\n
1 1:1\r\n2 1:2\r\n
1 1:1\r2 1:2\n
1 1:1\n2 1:\0\n
END
}

@test "check: rows that count from 0 and duplicate rows are told what to do" {
    printf '1 0:1 1:2\n-1 0:.5 1:1\n' >zero
    run -1 check mc zero
    assert_line 'check: zero:1: index is 0 (indices count from 1: tools/convert --zero-based; of a precomputed kernel: --precomputed)'
    assert_line 'check: zero:2: index is 0 (indices count from 1); see convert --zero-based'
    printf '1 1:1\n-1 1:2\n1 1:1\n' >twice
    check --keys keys mc twice | grep -q 'check --keys KEYS, and -v 5 --fold-file KEYS of the trainer, keep them in one fold;'
    diff keys <(printf '1\n2\n1\n')
    printf '# ours\n1 qid:1 1:1 3:2 # a\n\n2 qid:2 1:1.0 2:0 3:2\n3 qid:1\n4 qid:2\n' >twice
    check --keys keys rank twice >/dev/null
    diff keys <(printf '2\n2\n5\n5\n')
    rm keys
    run -1 check --keys keys mc zero
    [ ! -e keys ]
    # values that are the same in single precision, as the programs store them
    printf '%s\n' '1 1:0.1' '2 1:0.10000000149' '3 1:0.2' '4 1:.2 5:1e-60' >single
    check --keys keys rank single >/dev/null
    assert_equal "$(paste -sd' ' keys)" '1 1 3 3'
    run -2 check --keys keys --no-equal mc twice
}

@test "check: labels and names are shown without control characters" {
    printf '%s 1:%d\n' $'\e]0;x\a\e[31m' 1 b 2 $'c\xff\xc2\x9b' 3 é 4 >rows
    run -0 check mc rows
    assert_line '4 labels: \x1b]0;x\x07\x1b[31m (1), b (1), c\xff\xc2\x9b (1), é (1)'
    printf '%s 1:x\n' a >$'rows\e[31m'
    run -1 check mc $'rows\e[31m'
    assert_output --partial 'check: rows\x1b[31m:1: '
    run -2 check mc rows $'\e[31m'
    assert_output 'check: unrecognized arguments: \x1b[31m (see --help)'
}

@test "check: reports problems, and the options that help" {
    awk 'BEGIN { for (i = 1; i <= 60; i++) printf "%s 1:%d 2:%g 4:7 5:%g\n",
        i == 60 ? "rare" : i % 2, i * 1000, i / 1e4, i % 7 + .5 }' >rows
    sed -n 1p rows >first
    cat first >>rows
    run -0 check mc rows
    for text in '61 rows, 5 features' '3 labels: ' 'label rare is rare: -w rare:W' \
        '1 of 5 columns are empty, the first is 3' 'constant columns: 4' \
        'features are not scaled' '1 rows have the features of another, first line 61 those of line 1'; do
        [[ "$output" == *"$text"* ]] || fail "no '$text': $output"
    done
    printf '1 1:.001 7:1\n' >test.svm
    run -1 check mc --like rows test.svm
    [[ "$output" == *'features that rows has not: 7'* ]] || fail "$output"
    assert_output --partial 'check: test.svm: all rows have the same label'
    printf '%s\n' '1 qid:1 1:3' '2 qid:1 1:1' '1 qid:2 1:2' '1 qid:2 2:5' '3 qid:1 1:1' >rows
    run -0 check rank rows
    for text in '2 queries of 2 to 3 rows, 3 pairs' 'queries without pairs, which teach nothing: 2' \
        'first in line 5' '-t minmax'; do
        [[ "$output" == *"$text"* ]] || fail "no '$text': $output"
    done
    # of lines with errors ten are named, the others counted
    { echo 1 1:1 && yes 1 1:x | head -n 14; } >rows
    run -1 check mc rows
    assert_equal "$(grep -c 'check: rows:' <<<"$output")" 11 # and that one label is left
    [[ "$output" == *'check: rows: 5 more errors'* ]]
    run -1 check mc missing
    assert_output 'check: missing: No such file or directory'
}

# ---- molecules ----

# chemistry: skips the test without RDKit.
chemistry() {
    cat >molecules.csv <<'END'
name,SMILES,RT,System
caffeine,Cn1cnc2c1c(=O)n(C)c(=O)n2C,3.2,Eawag
ethanol,CCO,0.8,Eawag
L-alanine,C[C@H](N)C(=O)O,1.1,UFZ
D-alanine,C[C@@H](N)C(=O)O,1.2,Eawag
"phenol, pure",Oc1ccccc1,4,UFZ
END
    molecules molecules.csv rows 2>said && return
    grep -q 'RDKit is missing' said || fail "$(cat said)"
    skip 'no RDKit (python3-rdkit)'
}

@test "check: grades of -1 beside 0 are told" {
    printf '%s qid:1 1:1\n' 2 0 -1 -1 >grades
    check rank grades | grep -qx "2 rows have the grade -1: it counts as worse than 0; if it means not judged, leave them out by awk '.1 != -1'"
    grep -v '^0 ' grades | check rank - >said
    run -1 grep 'grade -1' said
}

@test "check: reports the numbers of a precomputed kernel, and whether it is symmetric" {
    printf '1 0:1 1:2 2:1\n# one\n-1 0:2 1:1.5 2:2 3:0\n' >data.svm
    ! check top --precomputed data.svm >said 2>err || fail 'taken'
    assert_equal "$(<err)" 'check: data.svm:3: not symmetric: 1.5 for 1, but line 1 has 1 for 2'
    refused svm-top-train -t 4 data.svm model
    for value in 1 1.0001 0.99995; do
        printf '1 0:1 1:2 2:1\n-1 0:2 1:%s 2:2\n1 0:3\n' $value >data.svm
        check top --precomputed data.svm >said
        svm-top-train -q -t 4 data.svm model >/dev/null
    done
    printf '1 0:1 1:2 2:1\n-1 0:2 1:1.01 2:2\n' >data.svm
    ! check top --precomputed data.svm >said 2>err || fail 'taken'
    refused svm-top-train -t 4 data.svm model
    printf '1 0:1 1:2 2:1\n-1 0:9 1:1 2:2\n' >data.svm
    ! check top --precomputed data.svm >said 2>err || fail 'taken'
    assert_equal "$(<err)" 'check: data.svm:2: serial number 9: must be 1..2'
    refused svm-top-train -t 4 data.svm model
    # test rows do not form a square matrix
    printf '1 0:1 1:2 2:1\n-1 0:2 1:1 2:2\n' >data.svm
    printf '1 0:1 1:5 2:7\n-1 0:2 1:8 2:3\n' >test.svm
    check mc --precomputed --like data.svm test.svm >said
}

@test "check: reports a byte order mark, and other compression formats" {
    printf '\xef\xbb\xbf1 1:1\n2 1:2\n' >data.svm
    check mc data.svm >said
    grep -qx 'a byte order mark (UTF-8) begins the file: it is skipped' said
    grep -qx '2 labels: 1 (1), 2 (1)' said
    gzip -c data.svm >data.gz
    check mc data.gz | cmp - said
    printf '1 1:1\n2 1:2\n' | check mc - | diff - <(grep -v mark said)
    printf '\3757zXZ\0\0' >data.svm.xz
    refused check mc data.svm.xz
    assert_equal "$(<err)" \
        'check: data.svm.xz: compressed by xz: read it by xz -dc data.svm.xz | check ... -'
    for name in '[Content_Types].xml' xl/workbook.xml mimetypeapplication/vnd.oasis.opendocument.spreadsheet; do
        printf 'PK\3\4%26s%s' '' "$name" >lab.xlsx
        refused check mc lab.xlsx
        assert_equal "$(<err)" 'check: lab.xlsx: is a workbook: save its sheet as CSV'
    done
    printf 'PK\3\4%26s%s' '' data.svm >data.zip
    refused check mc data.zip
    assert_equal "$(<err)" 'check: data.zip: compressed by zip: read it by unzip -p data.zip | check ... -'
    printf ']\0\0\0' >data.lzma
    refused check mc data.lzma
    assert_equal "$(<err)" \
        'check: data.lzma: compressed by lzma: read it by xz -dc data.lzma | check ... -'
    printf '\xef\xbb\xbf# ours\n\xef\xbb\xbf2 1:2\n' >data.svm
    refused check mc data.svm
    grep -q 'data.svm:2: byte order mark within the text' err
    printf '# Column indices are zero-based\n1 1:1 0:2\n' >data.svm
    refused check mc data.svm
    grep -q 'data.svm:2: index is 0 (indices count from 1) (a comment says zero-based: convert' err
}

@test "molecules: counted substructures by radius and bits, names in comments" {
    chemistry
    molecules --names name --radius 0 --bits 0 molecules.csv - >rows
    # ethanol has three atoms of three kinds; of phenol's seven, five are equal
    assert_equal "$(head -n 1 rows)" '# molecules --fingerprint morgan --radius 0 --bits 0'
    sed -n 3p rows | grep -Eqx '0.8 qid:Eawag [0-9]+:1 [0-9]+:1 [0-9]+:1 # ethanol' || fail "$(cat rows)"
    assert_equal "$(sed -n 6p rows | grep -o ':[0-9]* ' | sort | tr -d '\n')" ':1 :1 :5 '
    sed -n 6p rows | grep -q 'qid:UFZ .*# phenol, pure$'
    # folded: the same counts by index modulo 2^k
    molecules --names name --radius 0 --bits 2^6 molecules.csv - >folded
    fold() {
        awk '!/^#/ { delete n; for (i = 3; $i != "#"; i++) { split($i, a, ":"); n[(a[1] - 1) % 64] += a[2] }
            for (k = 0; k < 64; k++) if (k in n) printf "%d:%d ", k + 1, n[k]; print "" }' "$1"
    }
    fold rows | diff - <(fold folded)
    molecules --binary --radius 0 --bits 64 molecules.csv - | sed 's/#.*//' | grep -o '[0-9][0-9]*:[0-9]*' >pairs
    run -1 grep -v ':1$' pairs
    # MACCS: caffeine and its keys are between 1 and 166
    molecules --fingerprint maccs molecules.csv - | sed '1d; s/ #.*//; s/^[^ ]* [^ ]* //' | tr ' ' '\n' |
        awk -F: '$1 < 1 || $1 > 166 || $2 != 1 { exit 1 }'
    sed 's/qid:Eawag/qid:1/; s/qid:UFZ/qid:2/' rows >numbered.svm
    svm-rank-train -q -t minmax numbered.svm model >report
    svm-rank-predict --metrics numbered.svm model --min-group 1 | grep -q '^pairwise-accuracy [01]'
}

# bats test_tags=long,slow
@test "molecules: --like takes the fingerprints of a file, and refuses others by name" {
    chemistry
    molecules --radius 3 --bits 2^12 --binary molecules.csv rows
    assert_equal "$(head -n 1 rows)" '# molecules --fingerprint morgan --radius 3 --bits 4096 --binary'
    molecules --like rows molecules.csv - | cmp rows -
    molecules --like rows --radius 3 molecules.csv - | cmp rows -
    gzip -c rows >rows.gz
    molecules --like rows.gz molecules.csv - | cmp rows -
    local has='rows have --fingerprint morgan --radius 3 --bits 4096 --binary, not'
    refused molecules --like rows --radius 2 molecules.csv rows2
    assert_equal "$(<err)" "molecules: rows:1: its $has --radius 2"
    refused molecules --like rows --fingerprint maccs molecules.csv rows2
    assert_equal "$(<err)" "molecules: rows:1: its $has --fingerprint maccs"
    refused molecules --like rows --chirality molecules.csv rows2
    assert_equal "$(<err)" "molecules: rows:1: its $has --chirality"
    molecules --fingerprint maccs molecules.csv keys.svm
    molecules --like keys.svm molecules.csv - | cmp keys.svm -
    refused molecules --like keys.svm --bits 1024 molecules.csv rows2
    assert_equal "$(<err)" 'molecules: keys.svm:1: its rows have --fingerprint maccs, not --bits 1024'
    # the line stays in parts of the file
    subset --rows 2 rows part
    molecules --like part molecules.csv - | cmp rows -
    # files without the line, or with one that is not understood
    sed 1d rows >bare
    refused molecules --like bare molecules.csv rows2
    [[ "$(<err)" == "molecules: bare: does not begin with '# molecules ...'"*'--fingerprint'* ]] || fail "$(<err)"
    local text
    for text in '--fingerprint' '--fingerprint ecfp' '--radius -1' '--radius x' '--bits 100' '--new 1' "'" 'morgan'; do
        { echo "# molecules $text" && cat bare; } >odd
        refused molecules --like odd molecules.csv rows2
        [[ "$(<err)" == "molecules: odd:1: settings of fingerprints cannot be read: '# molecules "* ]] || fail "$(<err)"
    done
    refused molecules --like missing molecules.csv rows2
    [ ! -e rows2 ]
}

@test "molecules: folds hold stereoisomers together, and are balanced" {
    chemistry
    molecules --folds folds --keys keys --n-folds 2 molecules.csv rows
    assert_equal "$(sed -n 3p folds)" "$(sed -n 4p folds)"
    assert_equal "$(sed -n 3p keys)" "$(sed -n 4p keys)"
    assert_equal "$(sort -u keys | wc -l)" 4
    assert_equal "$(sort folds | uniq -c | awk '{ print $1 }' | sort | tr '\n' ' ')" '2 3 '
    molecules --folds again --n-folds 2 molecules.csv rows
    cmp folds again
    # a column of InChIKeys is used unchanged
    awk -F, 'NR == 1 { print $0 ",InChIKey" } NR > 1 { print $0 ",AAAAAAAAAAAAAA-" NR }' molecules.csv >keyed.csv
    molecules --keys keys keyed.csv rows
    assert_equal "$(sort -u keys)" AAAAAAAAAAAAAA
    refused molecules --folds folds2 keyed.csv rows2
    [[ "$(<err)" == 'molecules: 1 molecules cannot make 5 folds' ]]
    [ ! -e rows2 ]
    [ ! -e folds2 ]
}

@test "molecules: InChI, read by RDKit or Open Babel, give the molecules of their SMILES" {
    chemistry
    cat >inchi.csv <<'END'
name,InChI,RT,System
caffeine,"InChI=1S/C8H10N4O2/c1-10-4-9-6-5(10)7(13)12(3)8(14)11(6)2/h4H,1-3H3",3.2,Eawag
ethanol,"InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",0.8,Eawag
L-alanine,"InChI=1S/C3H7NO2/c1-2(4)3(5)6/h2H,4H2,1H3,(H,5,6)/t2-/m0/s1",1.1,UFZ
D-alanine,"InChI=1S/C3H7NO2/c1-2(4)3(5)6/h2H,4H2,1H3,(H,5,6)/t2-/m1/s1",1.2,Eawag
"phenol, pure","InChI=1S/C6H6O/c7-6-4-2-1-3-5-6/h1-5,7H",4,UFZ
END
    molecules --names name inchi.csv rows 2>said || {
        grep -q 'cannot read InChI' said || fail "$(cat said)"
        skip 'neither an RDKit with InChI nor openbabel'
    }
    molecules --names name molecules.csv - | diff - rows
    sed 's/C2H6O.c1/C2H6O\/c9/' inchi.csv >bad.csv
    refused molecules bad.csv rows2
    [[ "$(<err)" == *"bad.csv:3: InChI cannot be read: 'InChI=1S/C2H6O/c9-2-3"* ]] || fail "$(<err)"
    molecules --names name --skip-invalid bad.csv - 2>said | diff - <(sed 3d rows)
}

# bats test_tags=long,slow
@test "molecules: a molecule that cannot be read is refused with its line, or left out and named" {
    chemistry
    sed 's/CCO/C(C/' molecules.csv >bad.csv
    refused molecules bad.csv rows2
    [[ "$(<err)" == "molecules: bad.csv:3: SMILES cannot be read: 'C(C' (see --skip-invalid)" ]]
    [ ! -e rows2 ]
    molecules --skip-invalid --folds folds --n-folds 2 bad.csv rows 2>said
    assert_equal "$(grep -vc '^#' rows) $(wc -l <folds)" '4 4'
    grep -qF "bad.csv:3: SMILES cannot be read: 'C(C': skipped" said
    sed 's/,0.8,/,,/' molecules.csv >bad.csv
    refused molecules bad.csv rows2
    assert_equal "$(<err)" "molecules: bad.csv:3: column 'RT': label is missing (see --missing-label)"
    refused molecules --smiles nothing molecules.csv rows2
    [[ "$(<err)" == *"there is no column 'nothing'"* ]]
    printf 'a,b\n1,2\n' >bad.csv
    refused molecules bad.csv rows2
    [[ "$(<err)" == *'where are the molecules?'*'columns: a, b'* ]]
    misused molecules --bits 100 molecules.csv rows2
    misused molecules --fingerprint maccs --radius 3 molecules.csv rows2
}

# own: a table as a spreadsheet saves it, with semicolons, decimal commas, salts, and molecules twice.
own() {
    chemistry
    cat >own.csv <<'END'
Name;SMILES;RT;System
ethanol;CCO;0,8;Eawag
acetate;CC(=O)[O-].[Na+];1,4;Eawag
ethanol again;OCC;1,1;Eawag
acid;CC(=O)O;2;Eawag
acid;CC(=O)O;3;UFZ
propane;CCC;n.d.;Eawag
butane;CCCC;;Eawag
END
}

@test "molecules: a column of times for each system" {
    chemistry
    cat >wide.csv <<'END'
name,smiles,HSS T3 (min),BEH [s],Amide
ethanol,CCO,1.5,90,
butane,CCCC,2.5,NA,7
END
    molecules --names name --systems 'HSS*,BEH*' --systems Amide wide.csv rows 2>said
    sed '1d; s/\(qid:[^ ]*\).*#/\1/' rows | diff - <(printf '%s\n' '1.5 qid:HSS_T3 ethanol' \
        '1.5 qid:BEH ethanol' '2.5 qid:HSS_T3 butane' '7 qid:Amide butane')
    assert_equal "$(<said)" 'molecules: 2 rows without a retention time left out'
    misused molecules --systems "HSS*" --query name wide.csv rows2
    misused molecules --systems "HSS*" --label Amide wide.csv rows2
    refused molecules --systems TSK wide.csv rows2
    sed '1s/BEH \[s\]/\xc4\xb0X[s]/' wide.csv >dotted.csv # a letter that is two in lower case
    molecules --systems $'\xc4\xb0*' dotted.csv rows 2>said
    assert_equal "$(grep -o 'qid:[^ ]*' rows)" $'qid:\xc4\xb0X'
    # two columns of one system
    sed '1s/Amide/BEH/' wide.csv >twice.csv
    refused molecules --systems 'BEH*' twice.csv rows2
    assert_equal "$(<err)" "molecules: twice.csv:1: --systems: two columns of the system 'BEH'"
}

# bats test_tags=long,slow
@test "molecules: decimal commas, and missing retention times, as in convert" {
    own
    refused molecules own.csv rows2
    assert_equal "$(<err)" "molecules: own.csv:7: retention time is not a number: 'n.d.' (see --missing-words)"
    refused molecules --missing-words n.d. own.csv rows2
    assert_equal "$(<err)" "molecules: own.csv:7: column 'RT': label is missing (see --missing-label)"
    molecules --missing-words n.d. --missing-label skip --names name own.csv rows 2>said
    sed '1d; s/ qid.*#//' rows | diff - <(printf '%s\n' '0.8 ethanol' '1.4 acetate' '1.1 ethanol again' '2 acid' '3 acid')
    cat >expected <<'END'
molecules: 1 row with several fragments, such as salts: all are in the fingerprint (see --largest-fragment)
molecules: own.csv:2: '0,8' is read as 0.8
molecules: 2 rows without a retention time left out
molecules: 1 row of a molecule that its system has before, with times up to 0.3 apart (see --duplicates)
END
    diff said expected
    molecules --missing-words n.d. --missing-label none --decimal-comma own.csv all 2>said
    run -1 grep 'is read as' said
    assert_equal "$(tail -n 2 all | cut -c1-9)" "$(printf 'qid:Eawag\nqid:Eawag')"
    # with commas as delimiters only if it is said, and in quotes
    sed 's/;/,/g; s/\([0-9]\),\([0-9]\)/"\1,\2"/; /propane/d; /butane/d' own.csv >comma.csv
    refused molecules comma.csv rows2
    assert_equal "$(<err)" "molecules: comma.csv:2: retention time is not a number: '0,8' (see --decimal-comma)"
    molecules --decimal-comma --names name comma.csv - 2>said | cmp - rows
    # 1,234 may be a thousand
    sed '/propane/d; /butane/d; s/;3;/;3.5;/' own.csv >mixed.csv
    refused molecules mixed.csv rows2
    assert_equal "$(<err)" \
        "molecules: mixed.csv:2: are decimals '0,8' or, as in line 6, '3.5'? (see --decimal-comma)"
    molecules --decimal-comma mixed.csv - 2>said | grep -c '^3.5 ' | diff - <(echo 1)
    [ ! -e rows2 ]
}

@test "molecules: times in seconds, by the column or --time-unit; odd times and systems without a name" {
    chemistry
    printf 'SMILES,RT [s],System\nCCO,90,A\nC,60,\nCCCC,-180,A\nO,6e4,A\n' >own.csv
    molecules --skip-invalid --names smiles own.csv rows 2>said
    sed '1d; s/ [0-9]*:[0-9]*//g' rows | diff - <(printf '%s qid:A # %s\n' 1.5 CCO -3 CCCC 1000 O)
    diff said - <<'END'
molecules: own.csv:3: system is empty: skipped
molecules: 1 row skipped
molecules: 2 rows with a time below 0 or above 300 minutes, the first -3 in line 4: are they in seconds (--time-unit s), or is a time missing (--missing-words)?
END
    sed '1s/ \[s\]//' own.csv >bare.csv
    molecules --skip-invalid --names smiles --time-unit s bare.csv - 2>said | cmp - rows
    sed '1s,RT .s.,Retention time (min),' own.csv | molecules --skip-invalid - - 2>said | sed -n 2p | grep -q '^90 '
    printf 'feature,SMILES,score,RT (sec)\nF1,CCO,1,90\n' >hits.csv
    molecules --candidates --fingerprint maccs --times times hits.csv rows
    tail -n 1 times | diff - <(printf 'F1\t1.5\n')
}

# bats test_tags=long,slow
@test "molecules: salts become their largest fragment, without charges; repeated molecules one row" {
    own
    sed -i '/propane/d; /butane/d' own.csv
    molecules --largest-fragment --neutralise --duplicates mean --keys keys own.csv rows 2>said
    assert_equal "$(head -n 1 rows)" \
        '# molecules --fingerprint morgan --radius 2 --bits 2048 --largest-fragment --neutralise'
    sed '1d; s/ .*# / /' rows | diff - <(printf '%s\n' '0.95 CCO' '1.7 CC(=O)[O-].[Na+]' '3 CC(=O)O')
    assert_equal "$(sed -n 3p rows | cut -d' ' -f3- | sed 's/ #.*//')" "$(sed -n 4p rows | cut -d' ' -f3- | sed 's/ #.*//')"
    assert_equal "$(sed -n 2p keys)" "$(sed -n 3p keys)"
    tail -n 1 said |
        diff - <(echo 'molecules: 2 rows of a molecule that its system has before, with times up to 0.6 apart (--duplicates mean)')
    # --like has them too, and an option that the file does not have is refused
    molecules --like rows --duplicates first own.csv - 2>said | sed '1d; s/ .*//' | tr '\n' ' ' | diff - <(echo -n '0.8 1.4 3 ')
    molecules own.csv plain 2>said
    refused molecules --like plain --neutralise own.csv rows2
    [[ "$(<err)" == *'not --neutralise' ]] || fail "$(<err)"
    molecules --fingerprint maccs --largest-fragment own.csv - 2>said | head -n 1 |
        diff - <(echo '# molecules --fingerprint maccs --largest-fragment')
    # the median of three, and times that are not known
    printf 'SMILES,RT\nC,1\nC,9\nC,2\nCC,\nCC,4\n' >three.csv
    molecules --no-query --missing-label none --duplicates median three.csv - 2>said | cut -d' ' -f1 | sed 1d |
        diff - <(printf '2\n4\n')
    # keys of salts are not those of their fragments
    printf 'SMILES,RT,InChIKey\nCC(=O)[O-].[Na+],1,VMHLLURERBWHNL-A\nCC(=O)O,2,QTBSBXVTEAMEQO-B\n' >keyed.csv
    molecules --no-query --keys keys keyed.csv rows 2>said
    assert_equal "$(sort -u keys | wc -l)" 2
    molecules --no-query --largest-fragment --neutralise --keys keys keyed.csv rows 2>said
    assert_equal "$(sort -u keys | wc -l)" 1
    misused molecules --candidates --fingerprint maccs --duplicates mean own.csv rows2
}

@test "molecules and convert: other encodings, and names of columns in another case" {
    chemistry
    printf 'Name,SMILES,RT,S\344ule\nJ\374rgen,CCO,1,\304\n' >latin.csv
    refused molecules --query Säule latin.csv rows2
    assert_equal "$(<err)" \
        "molecules: latin.csv:1: --query: there is no column 'Säule' (columns: Name, SMILES, RT, S\\xe4ule; not UTF-8: see --encoding)"
    molecules --encoding cp1252 --query SÄULE --names name --radius 0 --bits 2 latin.csv rows
    tail -n 1 rows | diff - <(printf '1 qid:\303\204 1:1 2:2 # J\303\274rgen\n')
    iconv -f cp1252 -t UTF-16 latin.csv | gzip >wide.csv.gz
    molecules --encoding utf-16 --query Säule --names NAME --radius 0 --bits 2 wide.csv.gz - | cmp - rows
    convert --encoding latin1 --label RT --drop smiles --names name,säule latin.csv - |
        diff - <(printf '1 # J\303\274rgen \303\204\n')
    refused convert --encoding ascii --label RT latin.csv rows2
    [[ "$(<err)" == 'convert: latin.csv: is not in the given encoding: '* ]] || fail "$(<err)"
    refused molecules --encoding utf-16 latin.csv rows2
    [[ "$(<err)" == 'molecules: latin.csv: is not in the given encoding: '* ]] || fail "$(<err)"
    misused molecules --encoding nosuch latin.csv rows2
    # two columns that differ in case only
    printf 'Name,NAME,SMILES,RT,System\na,b,C,1,x\n' >two.csv
    refused molecules --names name two.csv rows2
    [[ "$(<err)" == *"there is no column 'name' (columns: Name, NAME, SMILES, RT, System)" ]] || fail "$(<err)"
    molecules --names NAME two.csv - | grep -c '# b$' | diff - <(echo 1)
}

@test "molecules: without RDKit there is one line that names its package" {
    mkdir empty
    cp -r "$root/tools/molecules" "$root/tools/lib" empty
    sed -i 's|^DEBIAN_PYTHON = .*|DEBIAN_PYTHON = "/nowhere"|' empty/lib/fingerprints.py
    printf 'SMILES,RT,System\nC,1,a\n' >m.csv
    run python3 -S empty/molecules m.csv rows # without the packages of the site
    assert_failure 1
    assert_output 'molecules: RDKit is missing (Debian: apt-get install python3-rdkit)'
}

@test "convert, subset, molecules: the ending of a format that they do not write is refused" {
    printf '1 1:2\n' >rows.svm
    printf 'smiles,rt,system\nCCO,1,1\n' >table.csv
    local end
    for end in json parquet xlsx svm.bz2 JSON.gz; do
        misused convert rows.svm made.$end
        [[ "$(<err)" == "convert: made.$end: ."*' is not written: --to names a format (see --help)' ]] || fail "$(<err)"
    done
    for end in json csv npy; do
        misused subset --rows 1 rows.svm made.$end
        [[ "$(<err)" == *"svmlight text is written, not .$end: 'made.$end'"* ]] || fail "$(<err)"
        misused molecules table.csv made.$end
    done
    assert_equal "$(echo made*)" 'made*'
    convert --to svmlight rows.svm made.json # as asked
    cmp rows.svm made.json
}

@test "convert: a terminal shows how much is read, and keeps no line of it" {
    printf '1 1:2\n' >rows.svm
    cat >try.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import lib.files, lib.tool
seconds = iter(range(0, 1000, 2))
lib.files.time.monotonic = lambda: next(seconds)
if sys.argv[2] == "terminal":
    sys.stderr.isatty = lambda: True
print(list(lib.files.Source("rows.svm").lines()))
END
    python3 try.py "$root/tools" terminal >out 2>err
    [[ "$(tr '\r\033' '<E' <err)" == '<E[Ktry.py: rows.svm: 100% read'*'100% read<E[K' ]] || fail "$(<err)"
    assert_equal "$(<out)" "[(1, '1 1:2')]"
    python3 try.py "$root/tools" file 2>err
    [ ! -s err ]
}
