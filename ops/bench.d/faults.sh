# nothing lost, nothing run twice, no device shared under kills, stops, breaks and full disks
# Sourced by ops/bench; appends rows to $rows and counts what cannot be measured in $problems.

bench_faults() {
    local seconds=60 options=()
    while [ $# -gt 0 ]; do
        case "$1" in
        --quick) seconds=15 ;;
        --long) seconds=1800 ;;
        --show | --postgres) options+=("$1") ;;
        --seconds | --seed | --hosts | --slots | --keep | --only | --runs)
            [ $# -ge 2 ] || status=64 fail "$1 needs a value"
            if [ "$1" = --seconds ]; then seconds=$2; else options+=("$1" "$2"); fi
            shift
            ;;
        *)
            status=64 fail "faults has no option $1; there are --quick, --long, --only FORM, --seconds N, --seed N, --hosts N," \
                "--slots N, --runs N, --show, --postgres, --keep FOLDER and --json FILE"
            ;;
        esac
        shift
    done
    build_release berth-faults stand-in-device berth-agent berth-coordinator berth
    local ended=0
    BERTH_SOURCES=$PWD TMPDIR=$folder "$programs/berth-faults" --seconds "$seconds" "${options[@]}" >>"$rows" || ended=$?
    # The program has said what is wrong with the command line.
    [ "$ended" != 64 ] || exit 64
    # 1: something was violated, which the rows say.
    [ "$ended" -le 1 ] || problems=$((problems + 1))
}
