#include "fold.h"

#define B(b, bit, lane) ((uint64_t)((b) >> (bit) & 1) << (lane) * (bit))
#define H1(b) (B(b, 0, 16) | B(b, 1, 16) | B(b, 2, 16) | B(b, 3, 16))
#define H4(b) H1(b), H1((b) + 1), H1((b) + 2), H1((b) + 3)
const uint64_t SPREAD_HALF[16] = {H4(0), H4(4), H4(8), H4(12)};

#define S1(b)                                                                                                         \
    (B(b, 0, 8) | B(b, 1, 8) | B(b, 2, 8) | B(b, 3, 8) | B(b, 4, 8) | B(b, 5, 8) | B(b, 6, 8) | B(b, 7, 8))
#define S4(b) S1(b), S1((b) + 1), S1((b) + 2), S1((b) + 3)
#define S16(b) S4(b), S4((b) + 4), S4((b) + 8), S4((b) + 12)
#define S64(b) S16(b), S16((b) + 16), S16((b) + 32), S16((b) + 48)
const uint64_t SPREAD_BYTE[256] = {S64(0), S64(64), S64(128), S64(192)};

/* What most features of a page weigh: shingles and words that occur once or twice in the body. */
void tally_begin(tally *votes, const rules *r)
{
    memset(votes, 0, sizeof *votes);
    for (int i = 0; i < USUAL; i++)
        votes->usual[i].weight = r->weights[ZONE_BODY][i % 2][1 + i / 2];
}

void tally_empty_counts(tally *votes, usual_weight *of)
{
    for (int bit = 0; bit < 64; bit++)
        votes->votes[bit] += of->weight * (int64_t)(of->lanes[bit / 8] >> bit % 8 * 8 & 0xff);
    of->n = 0;
    memset(of->lanes, 0, sizeof of->lanes);
}

void tally_empty_lanes(tally *votes)
{
    for (int bit = 0; bit < 64; bit++)
        votes->votes[bit] += (int64_t)(votes->lanes[bit / 4] >> bit % 4 * 16 & 0xffff);
    votes->weighed = 0;
    memset(votes->lanes, 0, sizeof votes->lanes);
}

/* A bit is set when the weight that has it outweighs the rest; a tie takes the bit of the mask. */
uint64_t tally_end(tally *votes, uint64_t tie_mask)
{
    uint64_t value = 0;
    for (int i = 0; i < USUAL; i++)
        tally_empty_counts(votes, &votes->usual[i]);
    tally_empty_lanes(votes);
    for (int bit = 0; bit < 64; bit++) {
        int64_t twice = 2 * votes->votes[bit];
        if (twice > votes->total || (twice == votes->total && tie_mask >> bit & 1))
            value |= (uint64_t)1 << bit;
    }
    return value;
}

static void sketch_shingle(uint64_t least[SKETCH_BINS], uint64_t hash)
{
    uint64_t *bin = &least[(hash >> 32) * SKETCH_BINS >> 32];
    uint64_t rank = hash & 0xffffffffu;
    *bin = rank < *bin ? rank : *bin;
}

/* A title key as sketch.py makes it: the least distinct numbers of its words in order, and 32 bits for the whole. */
enum { KEY_WORDS = 6, KEY_WHOLE = 26, KEY_MOST = (1 << (32 - KEY_WHOLE)) - 1 };
typedef struct {
    uint16_t numbers[KEY_WORDS + 1];
    size_t n, count;
    uint64_t whole;
} title_key;

static void take_key_word(const page *p, title_key *key, uint64_t hash)
{
    key->whole = (key->whole ^ hash) * p->rules->occurrence_scatter;
    key->whole ^= key->whole >> 32;
    key->count++;
    uint16_t number = (uint16_t)(hash >> 48);
    number = number == 0 ? 1 : number;
    size_t at = key->n;
    while (at > 0 && key->numbers[at - 1] > number)
        at--;
    if (at > 0 && key->numbers[at - 1] == number)
        return;
    memmove(key->numbers + at + 1, key->numbers + at, (key->n - at) * sizeof *key->numbers);
    key->numbers[at] = number;
    key->n += key->n < KEY_WORDS;
}

static void sketch_key(page *p, uint8_t *to)
{
    title_key key = {.n = 0};
    for (uint32_t i = 0; i < p->subject.n; i++)
        take_key_word(p, &key, p->tokens.at[p->run.at[p->subject.run + i]].hash);
    for (size_t i = 0; p->makes_offer && i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (b->zone == ZONE_OFFER)
            take_key_word(p, &key, b->tokens == 0 ? xxh3("", 0) : hash_joined(p, p->run.at + b->run, b->tokens));
    }
    memset(to, 0, 2 * SKETCH_SUBJECT);
    if (key.count == 0)
        return;
    for (size_t i = 0; i < key.n; i++) {
        to[2 * i] = (uint8_t)(key.numbers[i] >> 8);
        to[2 * i + 1] = (uint8_t)key.numbers[i];
    }
    uint32_t count = key.count < KEY_MOST ? (uint32_t)key.count : KEY_MOST;
    uint32_t last = count << KEY_WHOLE | (uint32_t)(key.whole >> (64 - KEY_WHOLE));
    for (int i = 0; i < 4; i++)
        to[2 * KEY_WORDS + i] = (uint8_t)(last >> (24 - 8 * i));
}

void sketch(page *p, uint8_t to[SKETCH_BYTES])
{
    uint64_t least[SKETCH_BINS];
    for (size_t i = 0; i < SKETCH_BINS; i++)
        least[i] = (uint64_t)1 << 32;
    for (size_t i = 0; i < p->sequences.n; i++) {
        const sequence *s = &p->sequences.at[i];
        if (!s->is_shingle)
            continue;
        sketch_shingle(least, s->hash);
        uint64_t count = (uint64_t)s->counts[0] + s->counts[1] + s->counts[2];
        /* The same shingle once more is another one. */
        for (uint64_t occurrence = 1; occurrence < count; occurrence++)
            sketch_shingle(least, (s->hash + occurrence) * p->rules->occurrence_scatter);
    }
    memset(to, 0, SKETCH_MINHASH);
    for (size_t i = 0; i < SKETCH_BINS; i++)
        if (least[i] < (uint64_t)1 << 32) {
            uint64_t mark = 1 + ((uint64_t)((uint32_t)least[i] * p->rules->mark_scatter) * 3 >> 32);
            to[i / 4] |= (uint8_t)(mark << (6 - 2 * (i % 4)));
        }
    sketch_key(p, to + SKETCH_MINHASH);
}
