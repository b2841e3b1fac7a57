#include "second_look.h"

#include <string.h>

#include "scan.h"

enum { VALUE = 8, MINHASH = 112, WORDS = 8, FACTS_AT = MINHASH + 2 * WORDS, HEAD = 11, MARKS = 3 };
enum { PART = HEAD + VALUE + MINHASH, FAR = 65, MAX_KIND = 3 };
enum { BESIDE = 2, MAX_FACTS = 127, WORD = 3, ROW = 4 };
static const double NOTHING = -1;

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    while (bytes--)
        value = value << 8 | *at++;
    return value;
}

/* is_facts() of page/fingerprint/facts.py; the first byte is the length. */
static bool are_facts(const uint8_t *facts)
{
    int rest = facts[0] - BESIDE;
    if (facts[0] == 0)
        return true;
    if (facts[0] > MAX_FACTS || rest < 0)
        return false;
    rest -= WORD * facts[1];
    return rest >= 0 && rest % ROW == 0;
}

bool print_read(Print *self, const uint8_t *data, size_t length, int part)
{
    self->sketch = self->own = NULL;
    self->is_part = false;
    self->sketch_bytes = 0;
    if (length < VALUE)
        return false;
    self->value = number(data, VALUE);
    if (length == VALUE)
        return true;
    if (length <= VALUE + FACTS_AT)
        return false;
    self->sketch = data + VALUE;
    self->sketch_bytes = FACTS_AT + 1 + self->sketch[FACTS_AT];
    if (length < VALUE + self->sketch_bytes || !are_facts(self->sketch + FACTS_AT))
        return false;
    size_t rest = length - VALUE - self->sketch_bytes;
    if (rest == 0)
        return true;
    self->own = self->sketch + self->sketch_bytes;
    self->is_part = self->own[0] == part;
    return self->own[0] <= MAX_KIND && rest == (self->is_part ? PART : HEAD);
}

/* The part of a minhash that is read at a time: a vector if the compiler supports vectors. */
#ifdef __GNUC__
typedef uint64_t chunk __attribute__((vector_size(16)));
#else
typedef uint64_t chunk;
#endif
/* FIT is the greatest sum that fits into the two bits of a bin. */
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

/* similarity() of sketch.py. A bin is two bits, 0 if empty; three flags per bin are summed. */
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
    /* All values before the division are integers, as in sketch.py. */
    int filled = total(both), alike = filled - total(unlike), all = total(either);
    int more = MARKS * alike - filled;
    return all == 0 || more < 0 ? 0.0 : (double)more / ((MARKS - 1) * all);
}

/* compare_keys() of sketch.py, with its results. */
enum { NO_KEY, EQUAL_KEY, WITHIN, OTHER_KEY, KEY_WORDS = 6, KEY_WHOLE = 26 };

typedef struct {
    uint16_t numbers[KEY_WORDS];
    int n, kept;
} title_key;

static void read_key(title_key *key, const uint8_t *at)
{
    key->kept = 0;
    for (int i = 0; i < KEY_WORDS; i++)
        if ((key->numbers[i] = (uint16_t)number(at + 2 * i, 2)) != 0)
            key->kept = i + 1;
    key->n = (int)(number(at + 2 * KEY_WORDS, 4) >> KEY_WHOLE);
}

/* Whether a word of the key is certainly not in the other key. Both are sorted. */
static bool has_another(const title_key *key, const title_key *other)
{
    uint16_t last = other->n > other->kept ? other->numbers[other->kept - 1] : UINT16_MAX;
    for (int i = 0, j = 0; i < key->kept && key->numbers[i] <= last; i++) {
        while (j < other->kept && other->numbers[j] < key->numbers[i])
            j++;
        if (j == other->kept || other->numbers[j] != key->numbers[i])
            return true;
    }
    return false;
}

static int compare_keys(const uint8_t *a, const uint8_t *b)
{
    if ((a[0] | a[1]) == 0 || (b[0] | b[1]) == 0)
        return NO_KEY;
    if (memcmp(a, b, 2 * WORDS) == 0)
        return EQUAL_KEY;
    title_key one, other;
    read_key(&one, a);
    read_key(&other, b);
    return one.n == other.n || (has_another(&one, &other) && has_another(&other, &one)) ? OTHER_KEY : WITHIN;
}

uint64_t print_unique_value(const Print *self) { return self->is_part ? number(self->own + HEAD, VALUE) : 0; }

const uint8_t *print_title_key(const Print *self)
{
    static const uint8_t none[2 * WORDS];
    const uint8_t *key = self->sketch == NULL ? none : self->sketch + MINHASH;
    return memcmp(key, none, sizeof none) == 0 ? NULL : key;
}

/* The host in facts, 0 if unknown. */
static int host_of(const uint8_t *facts) { return facts[0] == 0 ? 0 : facts[facts[0]]; }

bool print_is_of_host(const Print *self, const uint8_t *data, size_t length)
{
    const uint8_t *facts = data + VALUE + FACTS_AT;
    if (self->sketch == NULL || length <= VALUE + FACTS_AT || length < VALUE + FACTS_AT + 1 + (size_t)facts[0])
        return true;
    const int host = host_of(self->sketch + FACTS_AT), other_host = host_of(facts);
    return host == other_host || host == 0 || other_host == 0;
}

int print_distance(const Print *one, const Print *other)
{
    uint64_t values[] = {one->value, print_unique_value(one)}, others[] = {other->value, print_unique_value(other)};
    unsigned least = FAR;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if ((i == 0 || values[1] != 0) && (j == 0 || others[1] != 0) && ones(values[i] ^ others[j]) < least)
                least = ones(values[i] ^ others[j]);
    return (int)least;
}

/* The value of the unique text if it is a PART, else of all text. */
static uint64_t unique_value(const Print *of)
{
    return of->is_part ? number(of->own + HEAD, VALUE) : of->value;
}

static const uint8_t *unique_minhash(const Print *of)
{
    return of->is_part ? of->own + HEAD + VALUE : of->sketch;
}

static int lengthened(uint8_t byte) { return byte < 16 ? byte : (16 | (byte & 15)) << (byte / 16 - 1); }

void pair_measure(measured *self, const Print *one, const Print *other)
{
    self->distance = (int)ones(one->value ^ other->value);
    self->has_sketches = one->sketch != NULL && other->sketch != NULL;
    if (!self->has_sketches)
        return;
    self->keys = compare_keys(one->sketch + MINHASH, other->sketch + MINHASH);
    bool is_found = self->distance <= self->reach || self->keys == EQUAL_KEY;
    self->estimate = is_found ? similarity(one->sketch, other->sketch) : NOTHING;
    self->facts = one->sketch + FACTS_AT;
    self->other_facts = other->sketch + FACTS_AT;
    self->has_same_text = self->distance == 0 && one->sketch_bytes == other->sketch_bytes &&
                          memcmp(one->sketch, other->sketch, one->sketch_bytes - 1) == 0;
    self->has_unique_texts = one->own != NULL && other->own != NULL;
    bool has_part = self->has_unique_texts && (one->is_part || other->is_part);
    if (!self->has_unique_texts)
        return;
    self->kind = one->own[0];
    self->other_kind = other->own[0];
    self->tokens = (int)number(one->own + 1, 2);
    self->other_tokens = (int)number(other->own + 1, 2);
    self->whole = lengthened(one->own[3]);
    self->other_whole = lengthened(other->own[3]);
    self->has_same_words = memcmp(one->own + 4, other->own + 4, 2) == 0;
    self->has_same_text = self->has_same_text && memcmp(one->own + 6, other->own + 6, 5) == 0;
    self->unique_distance = FAR;
    self->unique_estimate = NOTHING;
    if (!has_part)
        return;
    uint64_t value = unique_value(one), other_value = unique_value(other);
    if (value != 0 && other_value != 0)
        self->unique_distance = (int)ones(value ^ other_value);
    self->unique_estimate = similarity(unique_minhash(one), unique_minhash(other));
}
