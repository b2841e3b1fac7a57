/* Verification of candidates: measures two fingerprints; second_look.py decides.
 *
 * A fingerprint as bytes, numbers big endian; page/fingerprint/ describes the fields:
 *
 *     8 bytes    value
 *     129 to 256 sketch, or nothing: 112 bytes of minhash, 16 of title key, then facts, which begin with their length
 *     11 or 131  unique text, or nothing: kind, tokens, all tokens, words, text; for a PART also value and minhash
 */
#ifndef SIMHASH_SECOND_LOOK_H
#define SIMHASH_SECOND_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of Measured in judge/measured.py. */
typedef struct {
    double min_similarity;
    int reach;
    bool is_generic, has_sketches, has_unique_texts, has_same_words, has_same_text;
    int keys;
    int distance, unique_distance;
    double estimate, unique_estimate;
    int kind, other_kind, tokens, other_tokens, whole, other_whole;
    double similarity, by_text, least;
    int basis, contradiction;
    const uint8_t *facts, *other_facts;
} measured;

/* One fingerprint; a missing field is NULL. */
typedef struct {
    uint64_t value;
    const uint8_t *sketch, *own;
    size_t sketch_bytes;
    bool is_part;
} Print;

/* Reads a fingerprint without copying `data`; returns false if it is invalid. `part` is the kind of a PART. */
bool print_read(Print *self, const uint8_t *data, size_t length, int part);
/* The value of the unique text; 0 if it is not a PART or has no value. */
uint64_t print_unique_value(const Print *self);
/* The title key, 16 bytes; NULL without a title key. */
const uint8_t *print_title_key(const Print *self);
/* Whether a page may be on the same host as another, whose fingerprint is `data`. */
bool print_is_of_host(const Print *self, const uint8_t *data, size_t length);
/* The smallest distance between values of two fingerprints, of text or unique text: see store/candidates.py. */
int print_distance(const Print *one, const Print *other);
/* Sets the measured fields of a pair, which are all except `min_similarity`, `reach`, `is_generic` and the results.
 * Takes 20 ns. */
void pair_measure(measured *self, const Print *one, const Print *other);

#endif
