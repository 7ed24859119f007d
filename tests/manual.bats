# The documentation is true: options are written once, examples run, named files exist.

load helper

families=$(cd "$root" && printf '%s\n' svm-*-train.c | sed 's/^svm-//; s/-train.*//')

setup() {
    cd "$tmp" || exit 1
}

# programs: the names of the twelve programs.
programs() {
    echo svm-check
    echo svm-rank-candidates
    for family in $families; do
        echo "svm-$family-train svm-$family-predict"
    done
}

# bats test_tags=long
@test "manual: the lists of the reference and of the manual pages equal --help" {
    command -v python3 >/dev/null || skip 'no python3'
    cp -r "$root/doc" "$tmp"
    DUALSVM_BIN=$bin "$root/tools/manual" "$tmp"
    for file in doc/reference.md $(programs | sed 's|[^ ]*|doc/&.1|g') doc/svm-generate.1 doc/dualsvm.7 \
        $(cd "$root" && echo doc/dualsvm-*.1); do
        diff "$root/$file" "$tmp/$file" || fail "$file is old: run make manual"
    done
}

# bats test_tags=long
@test "manual: a changed option in the reference or in a page is found and corrected" {
    command -v python3 >/dev/null || skip 'no python3'
    cp -r "$root/doc" "$tmp"
    sed -i 's/--max-time S /--most-time S/' "$tmp/doc/reference.md"
    sed -i '/^\.It Fl -tau/d; s/^\.Os .*/.Os dualsvm 0/' "$tmp/doc/svm-top-train.1"
    rm "$tmp/doc/dualsvm-convert.1"
    sed -i '/^\.It Xr dualsvm-roc/d' "$tmp/doc/dualsvm.7"
    run -1 cmp -s "$root/doc/reference.md" "$tmp/doc/reference.md"
    run -1 cmp -s "$root/doc/svm-top-train.1" "$tmp/doc/svm-top-train.1"
    DUALSVM_BIN=$bin "$root/tools/manual" "$tmp"
    cmp "$root/doc/reference.md" "$tmp/doc/reference.md"
    for page in svm-top-train.1 dualsvm-convert.1 dualsvm.7; do
        cmp "$root/doc/$page" "$tmp/doc/$page"
    done
}

@test "manual: the lines of --help fit a terminal, and each choice has a meaning" {
    local choices=0
    for program in $(programs); do
        "$program" --help >help
        awk 'length > 80 { print; wide = 1 } END { exit wide }' help
        # a number, a name and its meaning
        grep -E '^ {28}[0-9]+ [^ ]' help >named || continue
        awk 'NF < 3 { print; bare = 1 } END { exit bare }' named
        choices=$((choices + $(wc -l <named)))
    done
    [ $choices -gt 100 ] || fail "only $choices choices were found"
}

# entries PROGRAM: each option with its text on one line.
entries() {
    "$1" --help | awk '/^  -|^      --/ { printf "\n" } /^ / { sub(/^ +/, " "); printf "%s", $0 }
                       /^Several|^Measures/ { exit } END { printf "\n" }'
}

# refused PROGRAM OPTION VALUE: a usage error about the range of the value.
refused() {
    run -2 "$1" "$2" "$3" file file
    assert_output --regexp "option $2: must be (greater than|at least) .*: '$3'"
}

# bats test_tags=long
@test "manual: the programs check the ranges that --help states" {
    local n=0
    for program in $(programs); do
        # --option LOWEST excluded? HIGHEST, of (above 0 to 1, ...), (1 or more) and the like
        entries "$program" | sed -nE \
            -e 's/^ (-., )?(--[a-z0-9-]+) .* \(([0-9]+)( or more| to ([0-9]+))[,)].*/\2 \3 included \5/p' \
            -e 's/^ (-., )?(--[a-z0-9-]+) .* \(above ([0-9]+)( to ([0-9]+))?[,)].*/\2 \3 excluded \5/p' \
            >ranges
        while read -r option low excluded high; do
            [ "$excluded" = excluded ] || low=$((low - 1))
            [ "$option" != --rank-gap ] || low=$low:9
            refused "$program" "$option" "$low"
            [ -z "$high" ] || refused "$program" "$option" $((high + 1))
            n=$((n + 1))
        done <ranges
    done
    [ $n -gt 60 ] || fail "only $n ranges were read"
}

@test "manual: the table of contents of the reference lists its headings" {
    awk '/^====/ { print last } { last = $0 }' "$root/doc/reference.md" |
        sed '1d; /^Table of contents$/d' >headings
    awk '/^- / { print substr($0, 3) } /^Building$/ { exit }' "$root/doc/reference.md" | diff headings -
}

# has PROGRAM: whether it is installed; RDKit for the tools' Python or for Debian's.
has() {
    if [ "$1" = rdkit ]; then # asked for once: it takes as long as most examples
        if [ -z "${rdkit-}" ]; then
            rdkit=no
            { python3 -c 'import rdkit' || /usr/bin/python3 -c 'import rdkit'; } 2>/dev/null && rdkit=yes
        fi
        [ $rdkit = yes ]
    else
        command -v "$1" >/dev/null
    fi
}

@test "manual: the examples of README and doc run in a fresh clone, in order" {
    sanitized && skip 'the plain build runs them, and other tests run the same code'
    local missing='' command n=0 retention=doc/retention.md
    mkdir clone
    (cd "$root" && { git ls-files README datasets doc tools 2>/dev/null || find README datasets doc tools -type f; }) |
        while read -r file; do
            mkdir -p "clone/$(dirname "$file")"
            cp -p "$root/$file" "clone/$file"
        done
    # the links that `make` creates
    ln -s "$bin" clone/build
    for program in $(programs) svm-generate; do
        ln -s "build/$program" clone
    done
    cd clone || exit 1
    PATH=${PATH#"$bin":}
    set -o pipefail
    if ! has rdkit; then # all of it uses files of tools/molecules
        missing=' rdkit'
        retention=
    fi
    while read -r command; do
        case $command in
        make) continue ;;
        svm-predict*) needed=svm-predict ;;
        svm-rank-candidates*) needed=svm-rank-candidates ;;
        tools/candidates-plot*ranked.tsv*) needed=svm-rank-candidates,gnuplot ;;
        tools/roc* | tools/pr* | tools/*-plot* | tools/smm-heatmap* | tools/compare*picture*) needed=gnuplot ;;
        tools/molecules*) needed=rdkit ;;
        tools/*) needed=python3 ;;
        *) needed='sh' ;;
        esac
        for needed in ${needed//,/ }; do
            has "$needed" || break
        done
        if ! has "$needed"; then
            missing="$missing $needed"
            continue
        fi
        eval "$command" >../out 2>../err || fail "$command: $(cat ../err)"
        n=$((n + 1))
    done < <(sed -n 's/^    \$ //p' README doc/reference.md $retention)
    [ $n -gt 20 ] || fail "only $n commands were found"
    # the report in README has the lines of the program
    assert_equal "$(sed -n '/train -t minmax datasets/,/^.primal. is/s/ = .*//p' README | tr -d ' ' | tr '\n' ' ')" \
        "$(./svm-rank-train -q -t minmax datasets/rank.train ../report.model | head -7 | sed 's/ = .*//' | tr '\n' ' ')"
    DUALSVM_BIN=build tools/demo >../out
    grep -Eq '^system-5  0\.[89]' ../out
    [ -z "$missing" ] || skip "all ran but those that need$missing"
}

# bats test_tags=long
@test "manual: the examples of the manual pages run, for each family the trainer first" {
    local family page command n missing=''
    set -o pipefail
    for family in $families; do
        mkdir "$family"
        cd "$family" || exit 1
        cp -r "$root"/datasets/rank.* "$root/tools" .
        small='--rows 150'
        [ "$family" != rank ] || small='--molecules 60'
        {
            "$bin/datasets/generate" "$family" $small --output train.svm
            "$bin/datasets/generate" "$family" $small --seed 2 --output test.svm
        }
        gzip -k test.svm
        for page in train predict; do
            n=0
            while read -r command; do
                n=$((n + 1))
                if [[ $command == tools/smm-heatmap* ]] && ! command -v gnuplot >/dev/null; then
                    missing=' gnuplot'
                    continue
                fi
                PATH=$PATH:$bin/datasets
                eval "$command" >out 2>err || fail "$family, $page: $command: $(cat err)"
            done < <(sed -n '/^\.Bd/,/^\.Ed/p' "$root/doc/svm-$family-$page.1" | grep -v '^\.')
            [ $n -gt 0 ] || fail "svm-$family-$page.1 has no examples"
        done
        cd ..
    done
    [ -z "$missing" ] || skip "all ran but those that need$missing"
}

@test "manual: the programs, the pages and CHANGELOG have the same version" {
    version=$(svm-rank-train --version | awk '{ print $NF }')
    for program in $(programs); do
        assert_equal "$("$program" --version)" "$program (dualsvm) $version"
        grep -Fqx ".Os dualsvm $version" "$root/doc/$program.1"
    done
    assert_equal "$(sed -n 's/^## \[\(.*\)\].*/\1/p' "$root/CHANGELOG" | head -1)" "$version"
}

# absent FILES...: paths below a folder of the sources, and bare names NAME.c, .h, .inc, .bats and .bash in
# texts, that do not exist, as `FILE: NAME`. A path may leave out its end .h or .md, or be built. FAMILY is
# any family; NAME, X and %d stand for a choice.
absent() {
    local folders='common|driver|families|fit|methods|check|library|include|datasets|tests|tools|doc'
    local file name
    local -A known=()
    folders="$folders|examples|packaging|python|completions"
    while read -r name; do
        known[$name]=1
    done < <(find . -path ./build\* -prune -o -type f -print | sed 's|.*/||' | sort -u)
    {
        grep -PHo "(?<![\w/.-])($folders)/[\w./-]*\w" "$@"
        printf '%s\n' "$@" | grep -v '\.[ch]$' |
            xargs -r grep -PHo '(?<![\w/.*<%-])[A-Za-z]\w*\.(c|h|inc|bats|bash)(?![\w.])'
    } | grep -Ev ':([^:]*[/_])?(NAME|X)\b|NAME_' | sort -u >"$tmp/names"
    while IFS=: read -r file name; do
        case $name in
        *FAMILY*) name=${name//FAMILY/rank} ;;
        */*) ;;
        *) [ -n "${known[$name]-}" ] || echo "$file: $name" && continue ;;
        esac
        [ -e "$name" ] || [ -e "$name.h" ] || [ -e "$name.md" ] || [ -e "$bin/$name" ] || echo "$file: $name"
    done <"$tmp/names"
}

# bats test_tags=long
@test "manual: files that README, CONTRIBUTING, doc, tests/README and comments name exist" {
    cd "$root" || exit 1
    local files
    mapfile -t files < <(
        printf '%s\n' README CONTRIBUTING CHANGELOG ./*/README doc/*.md | sed 's|^\./||'
        find common driver families fit methods check library include datasets tests -name '*.[ch]'
    )
    absent "${files[@]}" >"$tmp/absent"
    [ "$(wc -l <"$tmp/names")" -gt 300 ] || fail 'only few names were found'
    [ ! -s "$tmp/absent" ] || fail "$(cat "$tmp/absent")"
}

@test "manual: a file that does not exist is found, with its folder and without" {
    mkdir doc
    echo 'see doc/one, doc/two.md, families/FAMILY/three.c, four.c and five.bats; NAME.c is any' >doc/one.md
    absent doc/one.md >"$tmp/absent"
    assert_equal "$(sort "$tmp/absent" | tr '\n' ' ')" 'doc/one.md: doc/two.md doc/one.md: families/rank/three.c doc/one.md: five.bats doc/one.md: four.c '
}
