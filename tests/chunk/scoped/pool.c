#include <stdio.h>
#include "pool.h" /* ours */
#define MAX 8 /* rows */
#define OTHER 9

static int used = 0;

int take(void)
{
    return used < MAX;
}
