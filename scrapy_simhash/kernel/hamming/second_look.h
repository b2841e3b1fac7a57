/* The second look: what is measured of two fingerprints with sketches, for second_look.py to decide on.
 *
 * A fingerprint as bytes, numbers big endian; see page/fingerprint/ for what each of it is:
 *
 *     8 bytes    value
 *     129 to 256 sketch, or nothing: 112 of minhash, 16 of the title key, and facts, which begin with their length
 *     11 or 131  own part, or nothing: kind, tokens, all tokens, words, text; value and minhash where it is a PART
 */
#ifndef SIMHASH_SECOND_LOOK_H
#define SIMHASH_SECOND_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fields as those of rule.Measured. */
typedef struct {
    double min_similarity;
    int reach;
    bool is_generic, has_sketches, has_own_parts, has_same_words, has_same_text;
    int keys;
    int distance, own_distance;
    double estimate, own_estimate;
    int kind, its_kind, tokens, its_tokens, whole, its_whole;
    double similarity, by_text, least;
    int basis, contradiction;
    const uint8_t *facts, *its_facts;
} measured;

/* One fingerprint; NULL for what it has not. */
typedef struct {
    uint64_t value;
    const uint8_t *sketch, *own;
    size_t sketch_bytes;
    bool is_part;
} Print;

/* Reads a fingerprint that stays where it is; false if no fingerprint is so long. `part` is the kind of a PART. */
bool print_read(Print *self, const uint8_t *data, size_t length, int part);
/* The value of its own part, 0 if that is no PART or has none. */
uint64_t print_own(const Print *self);
/* The title key, which is 16 bytes long; NULL if it has none. */
const uint8_t *print_subject(const Print *self);
/* Whether a page may be on the host of another, whose fingerprint is `data`. */
bool print_is_of_host(const Print *self, const uint8_t *data, size_t length);
/* The bits by which the nearest values of two fingerprints differ, of text or own part: see store/candidates.py. */
int print_distance(const Print *one, const Print *other);
/* Sets what is measured of a pair, all but `min_similarity`, `reach`, `is_generic` and the answer. 20 nanoseconds or so. */
void pair_measure(measured *self, const Print *one, const Print *other);

#endif
