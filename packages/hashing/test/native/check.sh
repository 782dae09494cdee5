#!/bin/sh
# Runs the C self-test for this machine under AddressSanitizer and UndefinedBehaviorSanitizer, then under ThreadSanitizer,
# and on x86-64 also in an emulator (correctness only): for a processor with fewer instructions, and for arm64. CC, CROSS_CC
# and EMULATOR select other programs. Stops at the first error.
set -eu
cd "$(dirname "$0")/../../native"

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
export TSAN_OPTIONS=halt_on_error=1

# selftest TITLE PROCESSOR EMULATOR COMPILER FLAGS...: compiles the sources that sources.txt lists for that processor and
# runs the program. EMULATOR can be empty.
selftest() {
    echo "self-test, $1"
    processor=$2 emulator=$3 objects=
    shift 3
    { grep -v '^#' sources.txt; echo '../test/native/selftest.c any'; } >"$directory/list"
    while read -r file for flags; do
        [ "$for" = any ] || [ "$for" = "$processor" ] || continue
        object=$directory/$(basename "$file").o
        # $flags is unquoted because it is a list of words.
        "$@" -std=c11 -pthread -Wall -Wextra -Werror -I. $flags -c "$file" -o "$object"
        objects="$objects $object"
    done <"$directory/list"
    "$@" -pthread $objects -o "$directory/selftest"
    $emulator "$directory/selftest"
}

case $(uname -m) in
x86_64 | amd64) here=x64 ;;
aarch64 | arm64) here=arm64 ;;
*) echo "check: there is no native kernel for $(uname -m)" >&2 && exit 1 ;;
esac

selftest "$here, with AddressSanitizer and UndefinedBehaviorSanitizer" "$here" "" \
    ${CC:-cc} -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
selftest "$here, with ThreadSanitizer" "$here" "" ${CC:-cc} -O1 -g -fsanitize=thread
if [ "$here" = x64 ]; then
    selftest "x64 without SHA instructions and AVX-512, in an emulator" x64 "qemu-x86_64 -cpu qemu64,+xsave,+avx,+avx2" \
        ${CC:-cc} -O3 -static
    selftest "arm64, in an emulator" arm64 "${EMULATOR:-qemu-aarch64}" "${CROSS_CC:-aarch64-linux-gnu-gcc}" -O3 -static
fi
