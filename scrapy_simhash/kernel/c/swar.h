/* Eight bytes at a time, on any machine: which bytes of a word are of a kind. */
#ifndef SIMHASH_SWAR_H
#define SIMHASH_SWAR_H

#include "base.h"

#if defined(_MSC_VER)
#include <intrin.h>
static inline unsigned lowest_bit(uint64_t bits)
{
    unsigned long place;
    _BitScanForward64(&place, bits);
    return (unsigned)place;
}
#else
static inline unsigned lowest_bit(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
#endif

#define EACH_BYTE(byte) (0x0101010101010101u * (uint64_t)(byte))

/* The highest bit of the lowest byte that is 0, and perhaps of some above it. */
static inline uint64_t zero_bytes(uint64_t word) { return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80); }

/* The highest bit of each byte that equals `byte`, for ASCII. */
static inline uint64_t equal_bytes(uint64_t word, char byte)
{
    uint64_t other = word ^ EACH_BYTE(byte);
    return ~(((other & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | other) & EACH_BYTE(0x80);
}

/* The highest bit of the lowest byte that is a control character or no ASCII, and perhaps of some above it. */
static inline uint64_t uncommon_bytes(uint64_t word) { return ((word - EACH_BYTE(0x20)) | word) & EACH_BYTE(0x80); }

#endif
