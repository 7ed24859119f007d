# Candidate structures: molecules --candidates, its tables and presets, and candidates-plot.

load helper

setup() { with_tools; }

# chemistry: writes hits.csv and train.svm; skips the test without RDKit.
chemistry() {
    cat >train.csv <<'END'
name,SMILES,RT,System
caffeine,Cn1cnc2c1c(=O)n(C)c(=O)n2C,3.2,Eawag
ethanol,CCO,0.8,Eawag
phenol,Oc1ccccc1,4,Eawag
END
    cat >hits.csv <<'END'
feature,structure,score,rt,run
F1,CCO,0.5,1.5,Eawag
F1,COC,-2e-1,1.5,Eawag
F 2,Oc1ccccc1,,2.25,Eawag
F 2,C1CCCCC1=O,7,2.25,Eawag
F3,CCCC,1,,Eawag
END
    molecules --names name train.csv train.svm 2>said && return
    grep -q 'RDKit is missing' said || fail "$(cat said)"
    skip 'no RDKit (python3-rdkit)'
}

# bare FILE: its rows without INDEX:VALUE, and without the first line.
bare() {
    sed '1d; s/ [0-9]*:[0-9]*//g' "$1"
}

# values NAME FILE: the features of the row of that name.
values() {
    grep "# $1\$" "$2" | grep -o ' [0-9]*:[0-9]*' | tr -d '\n'
}

@test "molecules --candidates: a row for each candidate, and a time for each feature" {
    chemistry
    molecules --candidates --like train.svm --times times.tsv hits.csv rows 2>said
    assert_equal "$(head -n 1 rows)" "$(head -n 1 train.svm)"
    bare rows | diff - <(printf '%s\n' '0.5 qid:F1 # CCO' '-2e-1 qid:F1 # COC' 'nan qid:F_2 # Oc1ccccc1' \
        '7 qid:F_2 # C1CCCCC1=O' '1 qid:F3 # CCCC')
    printf 'feature\tminutes\trun\nF1\t1.5\tEawag\nF_2\t2.25\tEawag\n' | diff - times.tsv
    assert_equal "$(<said)" 'molecules: 1 of 3 features have no time'
    # the columns of the training rows
    assert_equal "$(values CCO rows)" "$(values ethanol train.svm)"
    assert_equal "$(values Oc1ccccc1 rows)" "$(values phenol train.svm)"
    # without --times nothing is said of times; columns in any order, by options
    molecules --candidates --like train.svm hits.csv - 2>said | cmp - rows
    [ ! -s said ]
    awk -F, -v OFS=, '{ print $4, $3, "x", $2, $1 }' hits.csv | sed '1s/.*/t,ms,x,smi,f/' >other.csv
    molecules --candidates --like train.svm --feature f --score ms --smiles smi --time t --times other.tsv \
        other.csv - 2>said | cmp - rows
    cut -f 1,2 times.tsv | diff - other.tsv
    # names of candidates
    awk -F, -v OFS=, '{ print $0, NR == 1 ? "id" : "no " NR }' hits.csv >named.csv
    molecules --candidates --like train.svm --names id named.csv - | sed 's/.*# //; 1d' |
        diff - <(printf 'no %d\n' 2 3 4 5 6)
    # the fingerprints of other programs' rows
    molecules --candidates --fingerprint maccs hits.csv - | head -n 1 |
        diff - <(echo '# molecules --fingerprint maccs')
}

# bats test_tags=long,slow
@test "molecules --candidates: seconds, decimal commas, semicolons, byte order marks, CRLF and gzip" {
    chemistry
    # same ARGUMENTS: they give the same rows and times
    same() {
        molecules --candidates --like train.svm --times other.tsv "$@" - 2>said | cmp - rows
        cmp times.tsv other.tsv
    }
    molecules --candidates --like train.svm --times times.tsv hits.csv rows 2>said
    sed 's/,/;/g; s/\([0-9]\)\.\([0-9]\)/\1,\2/g' hits.csv >comma.csv
    grep -q '^F1;CCO;0,5;1,5;' comma.csv
    same --decimal-comma comma.csv
    { printf '\xef\xbb\xbf' && sed 's/$/\r/' hits.csv; } | gzip >dos.csv.gz
    same dos.csv.gz
    tr , '\t' <hits.csv >hits.tsv
    same hits.tsv
    same - <hits.csv
    sed 's/,1\.5,/,90,/; s/,2\.25,/,135,/' hits.csv >seconds.csv
    same --time-unit s seconds.csv
    sed -i 1s/rt/retentionTimeInSeconds/ seconds.csv
    same seconds.csv
    same --time retentionTimeInSeconds seconds.csv
}

# bats test_tags=long,slow
@test "molecules --candidates: mistakes in tables are refused with their line" {
    chemistry
    # refuses EDIT ERROR: hits.csv after sed
    refuses() {
        sed "$1" hits.csv >bad.csv
        refused molecules --candidates --like train.svm --times times.tsv bad.csv rows
        [[ "$(<err)" == "molecules: bad.csv$2" ]] || fail "not $2: $(<err)"
    }
    refuses 1s/feature/x/ ':1: which column is the feature? --feature COLUMN, or --feature-from file (columns: x, structure, score, rt, run)'
    refuses 1s/structure/x/ ':1: which column is the structure? --smiles or --inchi COLUMN (columns: feature, x, score, rt, run)'
    refuses 1s/score/x/ ':1: which column is the score? --score COLUMN (columns: feature, structure, x, rt, run)'
    refuses 1s/rt/x/ ':1: which column is the time? --time COLUMN (columns: feature, structure, score, x, run)'
    refuses 1s/rt/score/ ":1: two columns are named 'score'"
    refuses 2s/0.5/high/ ":2: score is not a number: 'high'"
    refuses 2s/0.5/inf/ ":2: score is not a number: 'inf'"
    refuses 2s/0.5/-1e999/ ":2: score is too large: '-1e999'"
    refuses '2s/0.5/"0,5"/' ":2: score is not a number: '0,5'"
    refuses 2s/1.5/early/ ":2: time is not a number: 'early'"
    refuses 3s/1.5/1.6/ ":3: feature 'F1' has 1.6 minutes, but 1.5 in bad.csv:2"
    refuses 3s/Eawag/UFZ/ ":3: feature 'F1' is of run 'UFZ', but of 'Eawag' in bad.csv:2: features of different runs need different names"
    refuses 3s/Eawag// ':3: run is empty'
    refuses '3s/COC/C(C/' ":3: SMILES cannot be read: 'C(C' (see --skip-invalid)"
    refuses 3s/COC// ':3: SMILES is missing (see --skip-invalid)'
    refuses 3s/F1// ':3: feature is empty'
    refuses 3s/F1/F_2/ ":4: 'F_2' and 'F 2' would both be written as feature 'F_2'"
    refuses '3s/,Eawag//' ':3: 4 fields for 5 columns'
    refuses '2,$d' ': has no candidates'
    refuses '1,$d' ': is empty'
    gzip -c hits.csv | head -c 60 >bad.csv
    refused molecules --candidates --like train.svm bad.csv rows
    assert_equal "$(<err)" 'molecules: bad.csv: gzip data ends early'
    sed 's/,[12][.25]*,Eawag/,,Eawag/' hits.csv >bad.csv
    refused molecules --candidates --like train.svm --times times.tsv bad.csv rows
    assert_equal "$(<err)" 'molecules: no feature has a time'
    holds . bad.csv err hits.csv out said train.csv train.svm
    # a structure that cannot be read is left out on demand
    sed '3s/COC/C(C/' hits.csv >bad.csv
    molecules --candidates --like train.svm --skip-invalid bad.csv - 2>said | grep -vc '^#' | diff - <(echo 4)
    grep -qxF "molecules: bad.csv:3: SMILES cannot be read: 'C(C': skipped" said
    grep -qxF 'molecules: 1 row skipped' said
}

@test "molecules --candidates: options that do not apply, and other fingerprints, are refused" {
    chemistry
    refused molecules --candidates --like train.svm --bits 1024 hits.csv rows
    assert_equal "$(<err)" \
        'molecules: train.svm:1: its rows have --fingerprint morgan --radius 2 --bits 2048, not --bits 1024'
    misused molecules --candidates hits.csv rows
    [[ "$(<err)" == *'--candidates needs --like TRAINING_FILE, or --fingerprint'* ]]
    misused molecules --candidates --like train.svm --folds folds hits.csv rows
    [[ "$(<err)" == *'--folds: not with --candidates'* ]]
    misused molecules --candidates --like train.svm --no-query hits.csv rows
    misused molecules --candidates --like train.svm --label score hits.csv rows
    misused molecules --score score train.csv rows
    [[ "$(<err)" == *'--score: only with --candidates'* ]]
    misused molecules --times times.tsv train.csv rows
    misused molecules --candidates --like train.svm --time rt hits.csv rows
    misused molecules --candidates --like train.svm --time-unit h --times times.tsv hits.csv rows
    misused molecules --candidates --like train.svm --feature f --feature-from file hits.csv rows
    misused molecules --preset mzmine --like train.svm hits.csv rows
    misused molecules train.csv train.csv rows
    misused molecules --candidates --like train.svm --times rows hits.csv rows
    [ ! -e rows ]
}

@test "molecules --candidates: a candidate that its feature has again is written once, with its largest score" {
    chemistry
    cat >hits.csv <<'END'
feature,name,smiles,score
F1,A,CCO,1
F1,B,COC,
F1,A,CCO,3
F1,A,CCO,2
F1,B,COC,-4
F2,A,CCO,5
END
    molecules --candidates --like train.svm --names name hits.csv rows 2>said
    bare rows | diff - <(printf '%s\n' '3 qid:F1 # A' '-4 qid:F1 # B' '5 qid:F2 # A')
    assert_equal "$(<said)" \
        'molecules: 3 rows left out: candidates that their feature has again, with a score at least as large'
    # one name, two structures
    sed 's/A,CCO,3/A,CO,3/' hits.csv >bad.csv
    refused molecules --candidates --like train.svm --names name bad.csv rows2
    assert_equal "$(<err)" \
        "molecules: bad.csv:4: feature 'F1' has two structures named 'A', the other in bad.csv:2 (see --names)"
    # a table of best hits has nothing to choose from
    printf 'feature,smiles,score\na,C,1\nb,CC,2\n' >best.csv
    molecules --candidates --like train.svm best.csv rows 2>said
    assert_equal "$(<said)" 'molecules: each feature has one candidate: is this a table of best hits only?'
}

@test "molecules --candidates: InChI beside SMILES" {
    chemistry
    sed 's|,CCO,|,"InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",|' hits.csv >inchi.csv
    molecules --candidates --like train.svm inchi.csv rows 2>said || {
        grep -q 'cannot read InChI' said || fail "$(cat said)"
        skip 'neither an RDKit with InChI nor openbabel'
    }
    molecules --candidates --like train.svm hits.csv - | sed 's/ #.*//' | diff - <(sed 's/ #.*//' rows)
    sed -i '1s/structure/InChI/; 3,$d' inchi.csv
    molecules --candidates --like train.svm inchi.csv - | diff - <(sed 2q rows)
    sed -i 's/h3H/h9H/; s/C2H6O/x/' inchi.csv
    refused molecules --candidates --like train.svm inchi.csv rows2
    [[ "$(<err)" == "molecules: inchi.csv:2: InChI cannot be read: 'InChI=1S/x/"* ]] || fail "$(<err)"
}

# sirius: the columns of SIRIUS 6 with rows of its format (three decimals, empty cells for what is missing, whole
# seconds), and structure_candidates.tsv as the documentation of SIRIUS prints it.
sirius() {
    tr ';' '\t' >structure_identifications_all.tsv <<'END'
structurePerIdRank;formulaRank;ConfidenceScoreExact;ConfidenceScoreApproximate;CSI:FingerIDScore;ZodiacScore;SiriusScore;molecularFormula;adduct;precursorFormula;InChIkey2D;InChI;name;smiles;xlogp;pubchemids;links;dbflags;ionMass;retentionTimeInSeconds;retentionTimeInMinutes;formulaId;alignedFeatureId;mappingFeatureId;overallFeatureQuality
1;1;0.871;0.912;-3.263;;24.654;C2H6O;[M + H]+;C2H7O+;LFQSCWFLJHTTHZ;InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3;"Ethanol" (grain);CCO;-0.100;702;PubChem:(702);2;47.049;90;1.495;57717808;57717339;17;GOOD
2;1;-Infinity;-Infinity;-86.965;;24.654;C2H6O;[M + H]+;C2H7O+;LCGLNKUTAGEVQW;InChI=1S/C2H6O/c1-3-2/h1-2H3;null;COC;0.100;8254;PubChem:(8254);2;47.049;90;1.495;57717808;57717339;17;GOOD
1;1;0.100;0.200;-12.000;;3.000;C6H6O;[M + H]+;C6H7O+;ISWSIDIOOBJBQZ;InChI=1S/C6H6O/c7-6-4-2-1-3-5-6/h1-5,7H;Phenol;C1=CC=C(C=C1)O;1.500;996;PubChem:(996);2;95.049;;;57717809;57717340;18;DECENT
END
    mkdir -p 0_laudanosine_FEATURE1 1_other_FEATURE2
    tr ';' '\t' >0_laudanosine_FEATURE1/structure_candidates.tsv <<'END'
rank;formulaRank;ConfidenceScore;CSI:FingerIDScore;molecularFormula;adduct;InChIkey2D;InChI;name;smiles
1;1;0.8708826550014862;-3.262869483152835;C2H6O;[M + H]+;LFQSCWFLJHTTHZ;InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3;Ethanol;CCO
2;1;N/A;-86.96508835580653;C2H6O;[M + H]+;LCGLNKUTAGEVQW;InChI=1S/C2H6O/c1-3-2/h1-2H3;null;COC
END
    sed 3d 0_laudanosine_FEATURE1/structure_candidates.tsv >1_other_FEATURE2/structure_candidates.tsv
}

@test "molecules --preset sirius: structure_identifications_all.tsv of SIRIUS 6" {
    chemistry
    sirius
    local file=structure_identifications_all.tsv
    molecules --preset sirius --like train.svm --times times.tsv $file rows 2>said
    bare rows | diff - <(printf '%s\n' '-3.263 qid:17 # LFQSCWFLJHTTHZ' '-86.965 qid:17 # LCGLNKUTAGEVQW' \
        '-12.000 qid:18 # ISWSIDIOOBJBQZ')
    # minutes, not the rounded seconds
    printf 'feature\tminutes\n17\t1.495\n' | diff - times.tsv
    assert_equal "$(<said)" 'molecules: 1 of 2 features have no time'
    molecules --preset sirius --like train.svm --time retentionTimeInSeconds --times times.tsv $file rows 2>said
    printf 'feature\tminutes\n17\t1.5\n' | diff - times.tsv
    molecules --preset sirius --like train.svm --feature alignedFeatureId --names name $file - >named
    bare named | diff - <(printf '%s\n' '-3.263 qid:57717339 # "Ethanol" (grain)' '-86.965 qid:57717339 # null' \
        '-12.000 qid:57717340 # Phenol')
    # with words in quotes
    sed 's/"//g' $file | sed 's/[^\t]*[A-Za-z][^\t]*/"&"/g; s/"\(-Infinity\)"/\1/g' >quoted.tsv
    molecules --preset sirius --like train.svm quoted.tsv - | cmp - rows
    # a table of another kind
    refused molecules --preset sirius --like train.svm hits.csv rows2
    assert_equal "$(<err)" 'molecules: hits.csv:1: not a table of sirius: which column is the score? --score COLUMN (columns: feature, structure, score, rt, run)'
}

@test "molecules --preset sirius: structure_candidates.tsv of SIRIUS 4 and 5, in a folder for each feature" {
    chemistry
    sirius
    molecules --preset sirius --like train.svm ./*_FEATURE*/structure_candidates.tsv rows
    bare rows | diff - <(printf '%s\n' '-3.262869483152835 qid:0_laudanosine_FEATURE1 # LFQSCWFLJHTTHZ' \
        '-86.96508835580653 qid:0_laudanosine_FEATURE1 # LCGLNKUTAGEVQW' \
        '-3.262869483152835 qid:1_other_FEATURE2 # LFQSCWFLJHTTHZ')
    mkdir more
    cp -r 1_other_FEATURE2 more
    refused molecules --preset sirius --like train.svm {.,more}/1_other_FEATURE2/structure_candidates.tsv rows2
    assert_equal "$(<err)" "molecules: more/1_other_FEATURE2/structure_candidates.tsv: its folder has the name of another input's, ./1_other_FEATURE2/structure_candidates.tsv: '1_other_FEATURE2' (see --feature, --feature-from)"
    local table=0_laudanosine_FEATURE1/structure_candidates.tsv
    run -1 molecules --preset sirius --like train.svm - rows2 <$table
    assert_output 'molecules: <stdin>: standard input has no name for its feature: --feature COLUMN'
    # the name of the file instead
    cp $table F9.tsv
    molecules --preset sirius --feature-from file --like train.svm F9.tsv - | grep -c ' qid:F9 ' | diff - <(echo 2)
}

# metfrag: two CSV with the columns of MetFrag in its order, NA for what is missing, commas within quotes.
metfrag() {
    cat >first.csv <<'END'
Score,MonoisotopicMass,SMILES,InChIKey,NoExplPeaks,NumberPeaksUsed,InChI,MaximumTreeDepth,Identifier,ExplPeaks,InChIKey2,InChIKey1,IUPACName,FragmenterScore,MolecularFormula,FragmenterScore_Values,FormulasOfExplPeaks,XlogP3
1.0,46.042,CCO,LFQSCWFLJHTTHZ-UHFFFAOYSA-N,1,2,"InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",2,702,45.034_210.2,UHFFFAOYSA,LFQSCWFLJHTTHZ,NA,48.37,C2H6O,627.0,45.034:[C2H5O]+,-0.1
0.0,46.042,COC,LCGLNKUTAGEVQW-UHFFFAOYSA-N,0,2,InChI=1S/C2H6O/c1-3-2/h1-2H3,2,8254,NA,UHFFFAOYSA,LCGLNKUTAGEVQW,NA,0.0,C2H6O,NA,NA,0.1
END
    sed '2d; s/^0.0,/NA,/' first.csv >second.csv
}

@test "molecules --preset metfrag: a CSV for each feature, which has its name" {
    chemistry
    metfrag
    molecules --preset metfrag --like train.svm first.csv second.csv rows
    bare rows | diff - <(printf '%s\n' '1.0 qid:first # 702' '0.0 qid:first # 8254' 'nan qid:second # 8254')
    refused molecules --preset metfrag --like train.svm --times times.tsv first.csv rows2
    [[ "$(<err)" == 'molecules: first.csv:1: which column is the time? --time COLUMN'* ]] || fail "$(<err)"
    molecules --preset metfrag --like train.svm --inchi InChI --names InChIKey first.csv inchi 2>said || {
        grep -q 'cannot read InChI' said || fail "$(cat said)"
        skip 'neither an RDKit with InChI nor openbabel'
    }
    sed 's/#.*//' inchi | diff - <(sed 's/#.*//' rows | sed 3q)
    grep -q '# LCGLNKUTAGEVQW-UHFFFAOYSA-N$' inchi
}

# ---- candidates-plot ----

# drawing: writes ranked.tsv and times.tsv, of five features; skips the test without gnuplot.
drawing() {
    command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
    tr ' ' '\t' >ranked.tsv <<'END'
feature candidate ms-score order-score score rank
A a1 5 2 -1 2
C c1 1 2 0 1.5
B b1 nan 1 0 1
D d1 -inf 9 -2 2
A a2 4 0 0 1
C c2 1 5 0 1.5
D d2 0 1 -0 1
E e1 1 1 0 1
END
    printf '%s\t%s\t%s\n' feature minutes run F 4 one D 3 one C 3.0 one A 1 one B 2 one >times.tsv
}

# points SHAPE COLOUR FILE: the number of points of a kind, without that of the legend.
points() {
    echo $(($(grep -c "#gpPt$1'.*color='rgb($2)'" "$3") - 1))
}

@test "candidates-plot: the choices by MS/MS alone and by score, and the pairs of each in order" {
    drawing
    candidates-plot picture.svg ranked.tsv times.tsv 2>said
    assert_equal "$(<said)" 'candidates-plot: 1 of 5 features have no time and are not shown'
    # A is exchanged, the equal candidates of C are not, and B has no choice by MS/MS
    for text in 'not exchanged (3 of 4 features)' 'before, by MS/MS alone: 25.0% of pairs in order' \
        'after, by score: 90.0% of pairs in order' 'Retention time (minutes)' 'Order score' A; do
        grep -qF ">$text<" picture.svg || fail "no $text in $(grep -o '<text>[^<]*' picture.svg)"
    done
    run -1 grep -F '>B<' picture.svg
    assert_equal "$(points 6 '119, 119, 119' picture.svg) $(points 5 '213,  94,   0' picture.svg)" '3 1'
    assert_equal "$(points 6 '  0, 114, 178' picture.svg)" 1
    candidates-plot --names candidate picture.svg ranked.tsv times.tsv 2>said
    grep -qF '>a2<' picture.svg
    candidates-plot --names none picture.svg ranked.tsv times.tsv 2>said
    run -1 grep -F '>A<' picture.svg
    # nothing is exchanged
    grep -v a2 ranked.tsv >kept.tsv
    gzip -k kept.tsv
    candidates-plot picture.svg kept.tsv.gz times.tsv 2>said
    grep -qF '>not exchanged (4 of 4 features): 40.0% of pairs in order<' picture.svg
    sed 2,4d ranked.tsv | sed 2d >one.tsv
    printf 'A\t1\n' >one.times
    candidates-plot picture.svg one.tsv one.times 2>said
    grep -qF '>not exchanged (1 of 1 features)<' picture.svg
    for end in png pdf; do
        candidates-plot picture.$end ranked.tsv times.tsv 2>said
    done
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
    [ "$(head -c 4 picture.pdf)" = %PDF ]
}

@test "candidates-plot: runs are not mixed" {
    drawing
    sed '1d; s/^\([AF].*\)one/\1two/' times.tsv >two.tsv
    candidates-plot picture.svg ranked.tsv two.tsv 2>said
    grep -qxF "candidates-plot: run 'one' of 2 is shown (--run)" said
    grep -qF '>not exchanged (3 of 3 features): 75.0% of pairs in order<' picture.svg
    candidates-plot --run two picture.svg ranked.tsv two.tsv 2>said
    grep -qF '>before, by MS/MS alone<' picture.svg
    refused candidates-plot --run three other.svg ranked.tsv two.tsv
    assert_equal "$(<err)" "candidates-plot: two.tsv: there is no run 'three' (runs: two, one)"
    [ ! -e other.svg ]
}

@test "candidates-plot: files of another kind, and mistakes, are refused with their line" {
    drawing
    # refuses FILE EDIT ERROR: the file after sed
    refuses() {
        sed "$2" "$1" >bad.tsv
        [ "$1" = times.tsv ] && set -- ranked.tsv bad.tsv "$3" || set -- bad.tsv times.tsv "$3"
        refused candidates-plot picture.svg "$1" "$2"
        [[ "$(<err)" == "candidates-plot: $3" ]] || fail "not $3: $(<err)"
    }
    refuses ranked.tsv 1d 'bad.tsv:1: not the output of svm-rank-candidates (feature candidate ms-score order-score score rank)'
    refuses ranked.tsv '1s/rank/place/' 'bad.tsv:1: not the output of svm-rank-candidates (feature candidate ms-score order-score score rank)'
    refuses ranked.tsv '1,$d' 'bad.tsv: is empty'
    refuses ranked.tsv '2,$d' 'bad.tsv: has no candidates'
    refuses ranked.tsv '3s/2/x/' "bad.tsv:3: order-score: not a number: 'x'"
    refuses ranked.tsv '2s/5/x/' "bad.tsv:2: ms-score: not a number: 'x'"
    refuses ranked.tsv '4s/0\t/inf\t/' "bad.tsv:4: score: not a number: 'inf'"
    refuses ranked.tsv '4s/\t1$//' 'bad.tsv:4: 5 fields for 6 columns'
    refuses times.tsv '3s/3/late/' "bad.tsv:3: minutes: not a number: 'late'"
    refuses times.tsv '1d; 3s/3/late/' "bad.tsv:2: minutes: not a number: 'late'"
    refuses times.tsv '3s/D/F/' "bad.tsv:3: feature 'F' is given twice"
    refuses times.tsv '3s/D.*/D/' 'bad.tsv:3: 1 fields: feature, minutes and run are expected, separated by tabs'
    refuses times.tsv '3,$d' 'bad.tsv: no feature of ranked.tsv has a time'
    refused candidates-plot picture.svg times.tsv ranked.tsv
    refused candidates-plot picture.svg ranked.tsv missing
    refused candidates-plot picture.jpg ranked.tsv times.tsv
    misused candidates-plot picture.svg ranked.tsv
    misused candidates-plot --names letters picture.svg ranked.tsv times.tsv
    [ ! -e picture.svg ]
}

@test "candidates-plot: from a CSV through svm-rank-candidates to a picture" {
    chemistry
    command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
    [ -x "$bin/svm-rank-candidates" ] || skip 'svm-rank-candidates is not built'
    molecules --candidates --like train.svm --times times.tsv hits.csv rows 2>said
    svm-rank-train -q -t minmax train.svm model >report
    svm-rank-candidates -q rows model times.tsv ranked.tsv 2>said
    assert_equal "$(wc -l <ranked.tsv)" 6
    candidates-plot picture.svg ranked.tsv times.tsv 2>said
    grep -qF ' of 2 features)' picture.svg || grep -qF '>after, by score' picture.svg
}
