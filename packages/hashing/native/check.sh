#!/bin/sh
# Runs the C self-test for this machine under AddressSanitizer and UndefinedBehaviorSanitizer, then under ThreadSanitizer,
# and on x86-64 also for arm64 in an emulator (correctness only). CC, CROSS_CC and EMULATOR select other programs. Stops at the first error.
set -eu
cd "$(dirname "$0")"

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# selftest PROCESSOR OUTPUT COMPILER FLAGS...: compiles the sources that sources.txt lists for that processor.
selftest() {
    processor=$1 output=$2
    shift 2
    objects=
    { grep -v '^#' sources.txt; echo 'selftest.c any'; } >"$directory/list"
    while read -r file for flags; do
        [ "$for" = any ] || [ "$for" = "$processor" ] || continue
        object=$output-$(basename "$file").o
        # $flags is unquoted because it is a list of words.
        "$@" -std=c11 -pthread -Wall -Wextra -Werror $flags -c "$file" -o "$object"
        objects="$objects $object"
    done <"$directory/list"
    "$@" -pthread $objects -o "$output"
}

case $(uname -m) in
x86_64 | amd64) here=x64 ;;
aarch64 | arm64) here=arm64 ;;
*) echo "check: there is no native kernel for $(uname -m)" >&2 && exit 1 ;;
esac

echo "self-test, $here, with AddressSanitizer and UndefinedBehaviorSanitizer"
selftest "$here" "$directory/sanitized" ${CC:-cc} -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=all
"$directory/sanitized"

echo "self-test, $here, with ThreadSanitizer"
selftest "$here" "$directory/threads" ${CC:-cc} -O1 -g -fsanitize=thread
TSAN_OPTIONS=halt_on_error=1 "$directory/threads"

if [ "$here" = x64 ]; then
    echo "self-test, arm64, in an emulator"
    selftest arm64 "$directory/emulated" "${CROSS_CC:-aarch64-linux-gnu-gcc}" -O3 -static
    "${EMULATOR:-qemu-aarch64}" "$directory/emulated"
fi
