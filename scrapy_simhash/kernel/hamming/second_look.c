#include "second_look.h"

#include <string.h>

#include "scan.h"

enum { VALUE = 8, MINHASH = 112, WORDS = 8, SKETCH = MINHASH + 2 * WORDS, HEAD = 3, MARKS = 3 };
enum { PART = HEAD + VALUE + MINHASH, FAR = 65 };
/* The first byte of an own part: its kind, and whether there is an identity at the end. */
enum { KIND = 3, WITH_IDENTITY = 4, IDENTITY = 9, KIND_AND_HOST = 3 };
static const double NOTHING = -1;

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | *at++;
    return value;
}

bool print_read(Print *self, const uint8_t *data, size_t length, int part)
{
    self->sketch = length > VALUE ? data + VALUE : NULL;
    self->own = length > VALUE + SKETCH ? data + VALUE + SKETCH : NULL;
    self->is_part = self->own != NULL && (self->own[0] & KIND) == part;
    bool has_identity = self->own != NULL && self->own[0] & WITH_IDENTITY;
    size_t sketch = self->sketch != NULL ? SKETCH : 0, own = self->is_part ? PART : self->own != NULL ? HEAD : 0;
    if (length != VALUE + sketch + own + (has_identity ? IDENTITY : 0))
        return false;
    self->value = number(data, VALUE);
    self->identity = has_identity ? data + length - IDENTITY : NULL;
    return true;
}

/* What is read of a minhash at a time: a vector, where the compiler knows vectors. */
#ifdef __GNUC__
typedef uint64_t chunk __attribute__((vector_size(16)));
#else
typedef uint64_t chunk;
#endif
/* How many yes or no fit into the two bits of a bin when they are added up. */
enum { CHUNKS = MINHASH / sizeof(chunk), FIT = 3 };

/* Adds the bins of `bins`, up to three in each, to the sums in the bytes of `sums`. */
#define ADD_UP(sums, bins)                                                                                           \
    do {                                                                                                             \
        chunk by_four = ((bins) & 0x3333333333333333u) + ((bins) >> 2 & 0x3333333333333333u);                        \
        (sums) += (by_four & 0x0f0f0f0f0f0f0f0fu) + (by_four >> 4 & 0x0f0f0f0f0f0f0f0fu);                            \
    } while (0)

static int total(chunk sums)
{
    uint64_t parts[sizeof sums / 8], all = 0;
    memcpy(parts, &sums, sizeof sums);
    for (size_t i = 0; i < sizeof sums / 8; i++)
        all += parts[i] * 0x0101010101010101u >> 56;
    return (int)all;
}

/* similarity() of sketch.py. A bin is two bits, 0 for an empty one, and says yes or no to each of three questions. */
static double similarity(const uint8_t *a, const uint8_t *b)
{
    const uint64_t low = 0x5555555555555555u;
    chunk both = {0}, either = {0}, unlike = {0};
    for (size_t first = 0; first < CHUNKS; first += FIT) {
        chunk in_both = {0}, in_either = {0}, differ = {0};
        for (size_t i = first; i < first + FIT && i < CHUNKS; i++) {
            chunk x, y;
            memcpy(&x, a + i * sizeof x, sizeof x);
            memcpy(&y, b + i * sizeof y, sizeof y);
            chunk of_a = (x | x >> 1) & low, of_b = (y | y >> 1) & low, bits = x ^ y;
            in_both += of_a & of_b;
            in_either += of_a | of_b;
            differ += of_a & of_b & (bits | bits >> 1);
        }
        ADD_UP(both, in_both);
        ADD_UP(either, in_either);
        ADD_UP(unlike, differ);
    }
    /* In whole numbers up to the division, as there. */
    int filled = total(both), alike = filled - total(unlike), all = total(either);
    int more = MARKS * alike - filled;
    return all == 0 || more < 0 ? 0.0 : (double)more / ((MARKS - 1) * all);
}

/* How many words of a subject there are, and how many of them the other has too. The words of one are different. */
#ifdef __GNUC__
typedef uint16_t words __attribute__((vector_size(2 * WORDS)));

/* Each lane is 0 or 1. */
static int lanes(words of)
{
    uint64_t halves[2];
    memcpy(halves, &of, sizeof halves);
    return (int)((halves[0] + halves[1]) * 0x0001000100010001u >> 48);
}

static void count_words(const uint8_t *a, const uint8_t *b, int *of_a, int *of_b, int *common)
{
    words x, y, both = {0};
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    for (int i = 0; i < WORDS; i++)
        both |= (words)(y == x[i]);
    words in_y = (words)(y != 0);
    *of_a = lanes((words)(x != 0) & 1);
    *of_b = lanes(in_y & 1);
    *common = lanes(both & in_y & 1);
}
#else
static void count_words(const uint8_t *a, const uint8_t *b, int *of_a, int *of_b, int *common)
{
    uint16_t x[WORDS], y[WORDS];
    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    *of_a = *of_b = *common = 0;
    for (int i = 0; i < WORDS; i++) {
        bool is_there = false;
        for (int j = 0; j < WORDS; j++)
            is_there |= x[j] == y[i];
        *of_a += x[i] != 0;
        *of_b += y[i] != 0;
        *common += is_there && y[i] != 0;
    }
}
#endif

/* Answers the three questions about subjects, as same_subject(), equal_subject(), shares_subject() in sketch.py do. */
static void compare_subjects(measured *self, const uint8_t *a, const uint8_t *b)
{
    int of_a, of_b, common;
    count_words(a, b, &of_a, &of_b, &common);
    bool says_nothing = of_a == 0 || of_b == 0;
    self->is_same_subject = says_nothing || 7 * common >= 6 * (of_a < of_b ? of_a : of_b);
    self->shares_subject = !says_nothing && common == of_a && common == of_b;
    self->is_equal_subject = says_nothing || self->shares_subject;
}

/* What is compared of a page that is not its site's: all of it, where nothing is. */
static uint64_t own_value(const Print *of)
{
    return of->is_part ? number(of->own + HEAD, VALUE) : of->value;
}

static const uint8_t *own_minhash(const Print *of)
{
    return of->is_part ? of->own + HEAD + VALUE : of->sketch;
}

/* are_different() of identity.py, and whether the texts differ at all. */
static bool is_other_thing(const Print *one, const Print *other)
{
    const uint8_t *a = one->identity, *b = other->identity;
    if (a == NULL || b == NULL || memcmp(a, b, KIND_AND_HOST) != 0)
        return false;
    bool differs = false;
    for (int i = KIND_AND_HOST; i < IDENTITY; i += 2) {
        uint64_t of_a = number(a + i, 2), of_b = number(b + i, 2);
        differs |= of_a != 0 && of_b != 0 && of_a != of_b;
    }
    return differs && (one->value != other->value || memcmp(one->sketch, other->sketch, SKETCH) != 0);
}

void pair_measure(measured *self, const Print *one, const Print *other)
{
    self->distance = (int)ones(one->value ^ other->value);
    self->has_sketches = one->sketch != NULL && other->sketch != NULL;
    if (!self->has_sketches)
        return;
    compare_subjects(self, one->sketch + MINHASH, other->sketch + MINHASH);
    bool is_found = self->distance <= self->reach || self->shares_subject;
    self->estimate = is_found ? similarity(one->sketch, other->sketch) : NOTHING;
    self->has_own_parts = one->own != NULL && other->own != NULL;
    bool has_part = self->has_own_parts && (one->is_part || other->is_part);
    if (!self->has_own_parts)
        return;
    self->is_other_thing = is_other_thing(one, other);
    self->kind = one->own[0] & KIND;
    self->its_kind = other->own[0] & KIND;
    self->tokens = (int)number(one->own + 1, 2);
    self->its_tokens = (int)number(other->own + 1, 2);
    self->own_distance = FAR;
    self->own_estimate = NOTHING;
    if (!has_part)
        return;
    uint64_t value = own_value(one), its_value = own_value(other);
    if (value != 0 && its_value != 0)
        self->own_distance = (int)ones(value ^ its_value);
    self->own_estimate = similarity(own_minhash(one), own_minhash(other));
}
