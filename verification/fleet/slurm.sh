#!/bin/sh
# Everything in shards, as a job array of Slurm. It needs the binary and a folder that all nodes share; no Python, no Dask.
#
#     sbatch --array=1-64 slurm.sh /shared/verify /shared/results
#     sh slurm.sh merge /shared/verify /shared/results            when all are done
#
# A shard that is done is not done again: after a failure submit the same array once more.
#SBATCH --job-name=verify
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --requeue
set -eu

if [ "$1" = merge ]; then
    shift
    binary=$1 results=$2
    set --
    for shard in "$results"/shard-*.json; do
        set -- "$@" --from "$shard"
    done
    exec "$binary" report "$@" --json "$results/record.json" --junit "$results/junit.xml" --html "$results/html"
fi

binary=$1 results=$2
# The array must begin at 1: `--array=1-64`.
index=$SLURM_ARRAY_TASK_ID of=$SLURM_ARRAY_TASK_COUNT
shard="$results/shard-$index-of-$of.json"
[ -e "$shard" ] && exit 0
mkdir -p "$results"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
status=0
"$binary" report --no-steps --shard "$index/$of" --jobs "${SLURM_CPUS_PER_TASK:-1}" --json shard.json || status=$?
# 1: something does not hold. That is a result, and stands in the record.
[ "$status" -le 1 ] || exit "$status"
mv shard.json "$shard.new"
mv "$shard.new" "$shard"
