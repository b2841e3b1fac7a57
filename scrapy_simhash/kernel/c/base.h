/* The code that all files of the kernel share: growing arrays, and escape(), which stops reading a page.
 *
 * A page is read in a workspace (page.h) whose arrays grow with the page and are reused for the next page. An array
 * has at most 2^31 - 1 elements, so that offsets fit into 32 bits. If a page does not fit, or contains something that
 * this code does not support, escape() is called, and the caller reads the page in pure Python, the reference
 * implementation.
 */
#ifndef SIMHASH_BASE_H
#define SIMHASH_BASE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    DONE = 0,
    NOT_COVERED = 1,     /* not an error: pure Python reads the page */
    NO_MEMORY = 2,
    CALLBACK_FAILED = 3, /* a Python exception is set */
} outcome;

/* The place where escape() continues. There may be only C frames between the two. */
typedef struct {
    jmp_buf exit;
} hatch;

#if defined(_MSC_VER)
#define NORETURN __declspec(noreturn)
#define UNLIKELY(condition) (condition)
#else
#define NORETURN __attribute__((noreturn))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#endif

static inline NORETURN void escape(hatch *way_out, outcome why) { longjmp(way_out->exit, (int)why); }

#define MAX_ELEMENTS 0x7fffffffu

/* An array that grows. After VEC(block) blocks, the elements are blocks.at[i] for i < blocks.n. */
#define VEC(type)                                                                                                     \
    struct {                                                                                                          \
        type *at;                                                                                                     \
        size_t n, room;                                                                                               \
    }

void *grown(hatch *way_out, void *at, size_t *room, size_t need, size_t element);

/* Makes room for `extra` additional elements plus one, so that an array is not NULL if a pointer into it is taken. */
#define RESERVE(way_out, vec, extra)                                                                                  \
    do {                                                                                                              \
        if (UNLIKELY((vec).n + (extra) >= (vec).room))                                                                \
            (vec).at = grown((way_out), (vec).at, &(vec).room, (vec).n + (extra) + 1, sizeof *(vec).at);              \
    } while (0)

#define PUSH(way_out, vec, ...)                                                                                       \
    do {                                                                                                              \
        RESERVE(way_out, vec, 1);                                                                                     \
        (vec).at[(vec).n++] = __VA_ARGS__;                                                                            \
    } while (0)

/* Frees the memory that an unusually large page needed. */
#define RELEASE(vec, max_bytes)                                                                                      \
    do {                                                                                                              \
        (vec).n = 0;                                                                                                  \
        if ((vec).room * sizeof *(vec).at > (max_bytes)) {                                                           \
            free((vec).at);                                                                                           \
            (vec).at = NULL;                                                                                          \
            (vec).room = 0;                                                                                           \
        }                                                                                                             \
    } while (0)

/* Reads little endian on every machine. */
static inline uint64_t load8(const void *from)
{
    uint64_t word;
    memcpy(&word, from, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void store8(void *to, uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, 8);
}

/* Access to a pointer or to 32 bits that one thread writes and other threads read without a lock. */
#if defined(_MSC_VER)
#define LOAD_POINTER(place) (*(void *volatile *)(place))
#define STORE_POINTER(place, value) (*(void *volatile *)(place) = (value))
#define LOAD_WORD(place) (*(volatile uint32_t *)(place))
#define STORE_WORD(place, value) (*(volatile uint32_t *)(place) = (value))
#else
#define LOAD_POINTER(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define STORE_POINTER(place, value) __atomic_store_n((place), (value), __ATOMIC_RELEASE)
#define LOAD_WORD LOAD_POINTER
#define STORE_WORD STORE_POINTER
#endif

/* --- Tests of eight bytes at a time, for any byte order. */

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

/* Sets the highest bit of the lowest byte that is 0, and possibly of some bytes above it. */
static inline uint64_t zero_bytes(uint64_t word) { return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80); }

/* Sets the highest bit of each byte that equals `byte`, an ASCII character. */
static inline uint64_t equal_bytes(uint64_t word, char byte)
{
    uint64_t other = word ^ EACH_BYTE(byte);
    return ~(((other & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f)) | other) & EACH_BYTE(0x80);
}

/* Sets the highest bit of each byte that is an ASCII digit. */
static inline uint64_t digit_bytes(uint64_t word)
{
    uint64_t other = word ^ EACH_BYTE('0');
    return ~(((other & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | other) & EACH_BYTE(0x80);
}

/* Sets the highest bit of the lowest byte that is a control character or not ASCII, and maybe of bytes above it. */
static inline uint64_t uncommon_bytes(uint64_t word) { return ((word - EACH_BYTE(0x20)) | word) & EACH_BYTE(0x80); }

#endif
