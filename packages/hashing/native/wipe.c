/* In a separate file, so that the call is not inlined and its frame overlaps the frames of previous calls. */
#include "wipe.h"

void wipe_stack(void)
{
    unsigned char below[16384];
    wipe(below, sizeof below);
}
