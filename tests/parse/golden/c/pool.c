#include <stdio.h>
#include "pool.h"

#define LIMIT 10
#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

EXPORT_SYMBOL(pool)

typedef struct node { struct node *next; } node_t;
typedef struct { int a; } anon_t;
typedef int (*callback)(int);
struct point { int x; };
enum state { IDLE, BUSY };

static const int SIZE = 3;
int counter, *cursor;
int prototype(int x);

/* Adds.
 * Twice.
 */
static inline int add(int a, int b)
{
    return a + b;
}

int (*pick(int which))(int) { return 0; }

#ifdef WIN
int twin(void) { return 1; }
#else
int twin(void) { return 2; }
#endif

int old_style(a)
    int a;
{
    return a;
}

struct tally { int hits; } total, per_cpu[4];
