/* Makes weighted features from the main text, which are folded at once, and their sketch: the C version of
 * page/features/, page/fingerprint/ and fingerprinter.py. */
#include "page.h"

/* --- The votes of all features on all bits. */

/* Most features of a page have one of a few weights: those of shingles and words that occur one to three times, in
 * the body or in headings, which have the same weight. A vertical counter counts these features, eight at a time:
 * plane k has bit k of the count of each of the 64 bits (Harley and Seal). Other weights below 2^16 are added in
 * lanes of 16 bits, which are emptied before one overflows. */
enum { USUAL = 3, MAX_WEIGHED = 0xffff, AT_ONCE = 8, PLANES = 32 };

typedef struct {
    int64_t weight;
    uint32_t n;
    uint64_t waiting[AT_ONCE];
    uint64_t planes[PLANES];
} usual_weight;

typedef struct {
    int64_t total;
    int64_t votes[64]; /* sum of the weights with the bit */
    usual_weight usual[2][USUAL]; /* [is a word][count - 1] */
    bool has_usual_headings; /* whether headings have the same weight as the body */
    int64_t weighed; /* sum of the weights in lanes */
    uint64_t lanes[16];
} tally;

#define B(b, bit, lane) ((uint64_t)((b) >> (bit) & 1) << (lane) * (bit))
#define H1(b) (B(b, 0, 16) | B(b, 1, 16) | B(b, 2, 16) | B(b, 3, 16))
#define H4(b) H1(b), H1((b) + 1), H1((b) + 2), H1((b) + 3)
static const uint64_t SPREAD_HALF[16] = {H4(0), H4(4), H4(8), H4(12)};

#define S1(b)                                                                                                         \
    (B(b, 0, 8) | B(b, 1, 8) | B(b, 2, 8) | B(b, 3, 8) | B(b, 4, 8) | B(b, 5, 8) | B(b, 6, 8) | B(b, 7, 8))
#define S4(b) S1(b), S1((b) + 1), S1((b) + 2), S1((b) + 3)
#define S16(b) S4(b), S4((b) + 4), S4((b) + 8), S4((b) + 12)
#define S64(b) S16(b), S16((b) + 16), S16((b) + 32), S16((b) + 48)
/* The bits of a byte, each in a separate byte. */
static const uint64_t SPREAD_BYTE[256] = {S64(0), S64(64), S64(128), S64(192)};

static void tally_begin(tally *votes, const rules *r)
{
    memset(votes, 0, sizeof *votes);
    votes->has_usual_headings = true;
    for (int is_word = 0; is_word < 2; is_word++)
        for (int i = 0; i < USUAL; i++) {
            votes->usual[is_word][i].weight = r->weights[ZONE_BODY][is_word][1 + i];
            votes->has_usual_headings &=
                r->weights[ZONE_HEADING][is_word][1 + i] == r->weights[ZONE_BODY][is_word][1 + i];
        }
}

/* Adds three bits: returns the carry and leaves the sum in `a`. */
static inline uint64_t add_bits(uint64_t *a, uint64_t b, uint64_t c)
{
    uint64_t either = *a ^ b, carry = (*a & b) | (either & c);
    *a = either ^ c;
    return carry;
}

static void tally_waiting(usual_weight *of)
{
    const uint64_t *w = of->waiting;
    uint64_t *planes = of->planes;
    uint64_t twos = add_bits(&planes[0], w[0], w[1]);
    uint64_t fours = add_bits(&planes[1], twos, add_bits(&planes[0], w[2], w[3]));
    twos = add_bits(&planes[0], w[4], w[5]);
    uint64_t more = add_bits(&planes[1], twos, add_bits(&planes[0], w[6], w[7]));
    uint64_t carry = add_bits(&planes[2], fours, more);
    for (int k = 3; carry != 0; k++) {
        uint64_t next = planes[k] & carry;
        planes[k] ^= carry;
        carry = next;
    }
}

static inline void tally_count(usual_weight *of, uint64_t hash)
{
    of->waiting[of->n % AT_ONCE] = hash;
    if (++of->n % AT_ONCE == 0)
        tally_waiting(of);
}

static void tally_empty_counts(tally *votes, usual_weight *of)
{
    votes->total += of->weight * of->n;
    if (of->n % AT_ONCE != 0) {
        memset(of->waiting + of->n % AT_ONCE, 0, (AT_ONCE - of->n % AT_ONCE) * sizeof *of->waiting);
        tally_waiting(of);
    }
    /* Eight planes make one byte per bit. */
    for (int k = 0; k < PLANES && of->n >> k != 0; k += 8) {
        for (int byte = 0; byte < 8; byte++) {
            uint64_t lanes = 0;
            for (int plane = 0; plane < 8; plane++)
                lanes |= SPREAD_BYTE[of->planes[k + plane] >> 8 * byte & 0xff] << plane;
            for (int bit = 0; bit < 8; bit++)
                votes->votes[8 * byte + bit] += of->weight * (int64_t)((lanes >> 8 * bit & 0xff) << k);
        }
    }
}

static void tally_empty_lanes(tally *votes)
{
    for (int bit = 0; bit < 64; bit++)
        votes->votes[bit] += (int64_t)(votes->lanes[bit / 4] >> bit % 4 * 16 & 0xffff);
    votes->weighed = 0;
    memset(votes->lanes, 0, sizeof votes->lanes);
}

static inline void tally_add(tally *votes, uint64_t hash, int64_t weight)
{
    votes->total += weight;
    if (UNLIKELY(weight > MAX_WEIGHED)) {
        for (int bit = 0; bit < 64; bit++)
            votes->votes[bit] += weight & -(int64_t)(hash >> bit & 1);
        return;
    }
    if (votes->weighed + weight > MAX_WEIGHED)
        tally_empty_lanes(votes);
    votes->weighed += weight;
    for (int half = 0; half < 16; half++)
        votes->lanes[half] += SPREAD_HALF[hash >> 4 * half & 0xf] * (uint64_t)weight;
}

/* A bit is set if the features with it outweigh the others; a tie takes the bit of the mask. */
static uint64_t tally_end(tally *votes, uint64_t tie_mask)
{
    uint64_t value = 0;
    for (int i = 0; i < 2 * USUAL; i++)
        tally_empty_counts(votes, &votes->usual[i / USUAL][i % USUAL]);
    tally_empty_lanes(votes);
    for (int bit = 0; bit < 64; bit++) {
        int64_t twice = 2 * votes->votes[bit];
        if (twice > votes->total || (twice == votes->total && tie_mask >> bit & 1))
            value |= (uint64_t)1 << bit;
    }
    return value;
}

/* --- Features. */

/* A token that is alone in its segment has no token before it. */
#define NO_TOKEN 0xffffffffu
/* Max pairs of a page, which take 2 GiB. */
enum { SHINGLE_SIZE = 2, MAX_PAIRS = 1 << 26 };

/* Makes room for the counts of all tokens and pairs of the segments. */
static void clear_counts(page *p)
{
    size_t most = 0, places = 64;
    for (size_t i = 0; i < p->segments.n; i++)
        most += p->segments.at[i].n;
    if (most > MAX_PAIRS)
        escape(&p->way_out, NOT_COVERED);
    while (places < 2 * most)
        places *= 2;
    p->pairs_with_stopword = 0;
    p->pairs.n = p->pair_slots.n = p->word_counts.n = 0;
    RESERVE(&p->way_out, p->pair_slots, places);
    p->pair_slots.n = places;
    memset(p->pair_slots.at, 0, places * sizeof *p->pair_slots.at);
    RESERVE(&p->way_out, p->pairs, most);
    RESERVE(&p->way_out, p->word_counts, ZONES * p->tokens.n);
    memset(p->word_counts.at, 0, ZONES * p->tokens.n * sizeof *p->word_counts.at);
    RESERVE(&p->way_out, p->bytes, 16); /* hash_pair() reads these bytes after a short token */
}

static uint64_t hash_long_pair(page *p, const token *a, const token *b)
{
    p->joined.n = 0;
    RESERVE(&p->way_out, p->joined, (size_t)a->n + 1 + b->n);
    memcpy(p->joined.at, token_text(p, a), a->n);
    p->joined.at[a->n] = ' ';
    memcpy(p->joined.at + a->n + 1, token_text(p, b), b->n);
    return xxh3(p->joined.at, (size_t)a->n + 1 + b->n);
}

/* Returns the hash of two tokens with a space between them. */
static inline uint64_t hash_pair(page *p, const token *a, const token *b)
{
    enum { SHORT = 16 };
    char both[4 * SHORT];
    if (UNLIKELY(a->n > SHORT || b->n > SHORT))
        return hash_long_pair(p, a, b);
    memcpy(both, token_text(p, a), SHORT);
    both[a->n] = ' ';
    memcpy(both + a->n + 1, token_text(p, b), SHORT);
    return xxh3(both, (size_t)a->n + 1 + b->n);
}

/* Counts the tokens of a segment, and its pairs of neighbours, which are the shingles. A token that is alone is also
 * a shingle. */
static void count_segment(page *p, const segment *part)
{
    const uint64_t lists = p->language >= 0 ? (uint64_t)1 << p->language : 0;
    const uint64_t seeds[2] = {p->rules->seeds[0], p->rules->seeds[1]};
    const token_facts *const facts = p->facts.at;
    const token *const tokens = p->tokens.at;
    const uint32_t *const run = p->run.at + part->run;
    pair *const pairs = p->pairs.at;
    uint32_t *const slots = p->pair_slots.at, *const words = p->word_counts.at + part->zone;
    const size_t mask = p->pair_slots.n - 1;
    uint32_t i = part->n > 1, former = i ? run[0] : NO_TOKEN;
    if (i)
        words[ZONES * former]++;
    for (; i < part->n; i++) {
        const uint32_t number = run[i];
        const uint64_t key = (uint64_t)former << 32 | number;
        size_t place = (size_t)xxh3_mul_fold(key ^ seeds[0], seeds[1]) & mask;
        uint32_t slot;
        words[ZONES * number]++;
        while ((slot = slots[place]) != 0 && pairs[slot - 1].key != key)
            place = (place + 1) & mask;
        if (slot == 0) {
            const bool is_alone = former == NO_TOKEN;
            slots[place] = slot = (uint32_t)++p->pairs.n;
            pair *made = &pairs[slot - 1];
            *made = (pair){.key = key};
            made->has_stopword = ((facts[number].lists | (is_alone ? 0 : facts[former].lists)) & lists) != 0;
            made->hash = is_alone ? tokens[number].hash : hash_pair(p, &tokens[former], &tokens[number]);
            p->pairs_with_stopword += made->has_stopword;
        }
        pairs[slot - 1].counts[part->zone]++;
        former = number;
    }
}

static inline int64_t weight(page *p, int zone, bool is_word, uint32_t count)
{
    if (count < WEIGHTS_KNOWN)
        return p->rules->weights[zone][is_word][count];
    int64_t answer = p->rules->weight(p->rules->python, zone, is_word, count);
    if (answer < 0)
        escape(&p->way_out, CALLBACK_FAILED);
    return answer;
}

static inline int64_t weight_of(page *p, const uint32_t counts[ZONES], bool is_word)
{
    int64_t sum = 0;
    if ((counts[ZONE_HEADING] | counts[ZONE_OFFER]) == 0) /* most features occur only in the body */
        return weight(p, ZONE_BODY, is_word, counts[ZONE_BODY]);
    for (int zone = 0; zone < ZONES; zone++)
        sum += counts[zone] == 0 ? 0 : weight(p, zone, is_word, counts[zone]);
    return sum;
}

static inline void tally_feature(page *p, tally *votes, uint64_t hash, const uint32_t counts[ZONES], bool is_word)
{
    const uint32_t body = counts[ZONE_BODY], heading = counts[ZONE_HEADING];
    const bool is_in_one = heading == 0 || (body == 0 && votes->has_usual_headings);
    if (is_in_one && counts[ZONE_OFFER] == 0 && body + heading <= USUAL)
        tally_count(&votes->usual[is_word][body + heading - 1], hash);
    else
        tally_add(votes, hash, weight_of(p, counts, is_word));
}

static bool has_offer(const page *p)
{
    for (size_t i = 0; p->makes_offer && i < p->segments.n; i++)
        if (p->segments.at[i].zone == ZONE_OFFER)
            return true;
    return false;
}

/* Fills p->rows with the pairs that are features, without branches, which could not be predicted. */
static void find_features(page *p, bool selects)
{
    p->rows.n = 0;
    RESERVE(&p->way_out, p->rows, p->pairs.n);
    uint32_t *rows = p->rows.at;
    for (size_t i = 0; i < p->pairs.n; i++) {
        *rows = (uint32_t)i;
        rows += p->pairs.at[i].has_stopword | !selects;
    }
    p->rows.n = (size_t)(rows - p->rows.at);
}

/* --- The sketch. */

static void sketch_shingle(uint64_t least[SKETCH_BINS], uint64_t hash)
{
    uint64_t *bin = &least[(hash >> 32) * SKETCH_BINS >> 32];
    uint64_t rank = hash & 0xffffffffu;
    *bin = rank < *bin ? rank : *bin;
}

/* A title key as in sketch.py: the smallest distinct numbers of its words, sorted, and 32 bits for the whole key. */
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
    for (uint32_t i = 0; i < p->title_key.n; i++)
        take_key_word(p, &key, p->tokens.at[p->run.at[p->title_key.run + i]].hash);
    memset(to, 0, 2 * SKETCH_TITLE_KEY);
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

void sketch(page *p, uint8_t to[SKETCH_FACTS])
{
    uint64_t least[SKETCH_BINS];
    for (size_t i = 0; i < SKETCH_BINS; i++)
        least[i] = (uint64_t)1 << 32;
    for (size_t i = 0; i < p->pairs.n; i++) {
        const pair *s = &p->pairs.at[i];
        sketch_shingle(least, s->hash);
        uint64_t count = (uint64_t)s->counts[0] + s->counts[1] + s->counts[2];
        /* Each additional occurrence counts as a different shingle. */
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

/* --- From the main text. */

void take_main_text(page *p)
{
    p->segments.n = 0;
    RESERVE(&p->way_out, p->segments, p->blocks.n);
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (is_main(b) && b->tokens > 0)
            p->segments.at[p->segments.n++] = (segment){.run = b->run, .n = b->tokens, .zone = b->zone};
    }
}

bool fold_features(page *p, const fold_settings *settings, reading *result)
{
    clear_counts(p);
    for (size_t i = 0; i < p->segments.n; i++)
        count_segment(p, &p->segments.at[i]);
    /* selects_prose() of page/features/shingles.py. */
    bool selects = p->language >= 0 && !has_offer(p) && (int64_t)p->pairs_with_stopword >= p->rules->min_prose;
    size_t n = selects ? p->pairs_with_stopword : p->pairs.n;
    if (n == 0 || (int64_t)n < settings->min_shingles)
        return false;
    tally votes;
    tally_begin(&votes, p->rules);
    find_features(p, selects);
    for (size_t i = 0; i < p->rows.n; i++) {
        const pair *s = &p->pairs.at[p->rows.at[i]];
        if (s->key >> 32 == NO_TOKEN) {
            /* A shingle of one token is also a word. */
            uint32_t *counts = p->word_counts.at + ZONES * (s->key & 0xffffffffu);
            tally_add(&votes, s->hash, weight_of(p, s->counts, false) + weight_of(p, counts, true));
            memset(counts, 0, ZONES * sizeof *counts);
        } else {
            tally_feature(p, &votes, s->hash, s->counts, false);
        }
    }
    for (size_t i = 0; i < p->tokens.n; i++) {
        const uint32_t *counts = p->word_counts.at + ZONES * i;
        if ((counts[0] | counts[1] | counts[2]) == 0)
            continue;
        tally_feature(p, &votes, p->tokens.at[i].hash, counts, true);
        n++;
    }
    result->value = tally_end(&votes, p->rules->tie_mask);
    result->features = (uint32_t)n;
    if (settings->with_sketch)
        sketch(p, result->sketch);
    return true;
}
