#!/bin/sh
# Runs the C self-test twice: for this machine under AddressSanitizer and UndefinedBehaviorSanitizer, and on x86-64 also
# for arm64 under an emulator (correctness only). CC, CROSS_CC and EMULATOR name other programs. Fails at the first fault.
set -eu
cd "$(dirname "$0")"

aside=$(mktemp -d)
trap 'rm -rf "$aside"' EXIT

# selftest PROCESSOR OUTPUT COMPILER FLAGS...: compiles what sources.txt lists for that processor.
selftest() {
    processor=$1 output=$2
    shift 2
    objects=
    { grep -v '^#' sources.txt; echo 'selftest.c any'; } >"$aside/list"
    while read -r file for flags; do
        [ "$for" = any ] || [ "$for" = "$processor" ] || continue
        # $flags is a list of words.
        "$@" -std=c11 -pthread -Wall -Wextra -Werror $flags -c "$file" -o "$output-$file.o"
        objects="$objects $output-$file.o"
    done <"$aside/list"
    "$@" -pthread $objects -o "$output"
}

case $(uname -m) in
x86_64 | amd64) here=x64 ;;
aarch64 | arm64) here=arm64 ;;
*) echo "check: no native kernel for $(uname -m)" >&2 && exit 1 ;;
esac

echo "selftest, $here, under AddressSanitizer and UndefinedBehaviorSanitizer"
selftest "$here" "$aside/sanitized" ${CC:-cc} -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
    -fno-sanitize-recover=all
"$aside/sanitized"

if [ "$here" = x64 ]; then
    echo "selftest, arm64, emulated"
    selftest arm64 "$aside/emulated" "${CROSS_CC:-aarch64-linux-gnu-gcc}" -O3 -static
    "${EMULATOR:-qemu-aarch64}" "$aside/emulated"
fi
