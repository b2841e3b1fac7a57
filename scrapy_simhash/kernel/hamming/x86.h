/* What scan.c and pairs.c share where a compiler can make code for other x86 processors than the one it builds for:
 * which functions need which instructions, and the ones of 64 bits. Elsewhere X86 is not defined. */
#ifndef SIMHASH_X86_H
#define SIMHASH_X86_H

#if defined __GNUC__ && defined __x86_64__
#define X86 1

#include <immintrin.h>
#include <stdint.h>

/* Before a function: it may be called from the level of scan.h on that is named like it. */
#define POPCNT __attribute__((target("popcnt")))
#define AVX2 __attribute__((target("avx2,popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt,bmi")))

POPCNT static inline unsigned popcnt(uint64_t x)
{
    return (unsigned)__builtin_popcountll(x);
}

/* The ones of each byte, looked up by halves. */
AVX2 static inline __m256i ones_in_bytes(__m256i x)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i of_half = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return _mm256_add_epi8(_mm256_shuffle_epi8(of_half, _mm256_and_si256(x, low)),
                           _mm256_shuffle_epi8(of_half, _mm256_and_si256(_mm256_srli_epi16(x, 4), low)));
}

#endif

#endif
