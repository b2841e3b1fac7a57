/* Which blocks are the main text: the twin of text/main_text.py and text/offer.py. */
#include "page.h"

/* Running sums of the unlinked characters still kept: sums[stop] - sums[start] is a span's. */
static const int64_t *masses(page *p)
{
    p->sums.n = 0;
    RESERVE(&p->way_out, p->sums, p->blocks.n + 1);
    int64_t *sums = p->sums.at;
    sums[0] = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        sums[i + 1] = sums[i] + (b->reason == KEPT ? (int64_t)b->length - b->link_length : 0);
    }
    return sums;
}

static void find_kept(page *p)
{
    p->kept.n = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        if (p->blocks.at[i].reason == KEPT)
            PUSH(&p->way_out, p->kept, (uint32_t)i);
}

static int64_t length_of(const page *p, const uint32_t *places, size_t n)
{
    int64_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += p->blocks.at[places[i]].length;
    return length;
}

static void leave_out_chrome(page *p)
{
    const int64_t *sums = masses(p);
    int64_t all = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        all += p->blocks.at[i].length;
    double limits[] = {[REGION_HEADER] = p->rules->chrome_limit * (double)sums[p->blocks.n],
                       [REGION_LIKELY_CHROME] = p->rules->chrome_limit * (double)sums[p->blocks.n],
                       [REGION_CHROME] = p->rules->chrome_limit * (double)all};
    int64_t main_stop = -1, chrome_stop = -1;
    for (size_t i = 0; i < p->spans.n; i++) {
        const span s = p->spans.at[i];
        if (s.region == REGION_MAIN) {
            main_stop = (int64_t)s.stop > main_stop ? (int64_t)s.stop : main_stop;
        } else if ((int64_t)s.start >= chrome_stop && s.region >= REGION_HEADER && s.region <= REGION_CHROME &&
                   !(s.region == REGION_HEADER && (int64_t)s.start < main_stop)) {
            if ((double)(sums[s.stop] - sums[s.start]) > limits[s.region])
                continue;
            for (uint32_t k = s.start; k < s.stop; k++)
                p->blocks.at[k].reason = CHROME;
            chrome_stop = s.stop;
        }
    }
}

static void mark_inside(page *p, const span *s) { memset(p->inside.at + s->start, 1, s->stop - s->start); }

/* Leaves out what lies outside the marked main text; tells whether there is one to be believed. */
static bool keep_marked_main(page *p)
{
    const int64_t *sums = masses(p);
    const span *largest = NULL;
    double least = p->rules->main_share * (double)sums[p->blocks.n];
    for (size_t i = 0; i < p->spans.n; i++) {
        const span *s = &p->spans.at[i];
        if (s->region == REGION_MAIN && sums[s->stop] > sums[s->start] &&
            (largest == NULL || sums[s->stop] - sums[s->start] > sums[largest->stop] - sums[largest->start]))
            largest = s;
    }
    if (largest == NULL)
        return false;
    p->inside.n = 0;
    RESERVE(&p->way_out, p->inside, p->blocks.n);
    memset(p->inside.at, 0, p->blocks.n);
    if ((double)(sums[largest->stop] - sums[largest->start]) >= least)
        mark_inside(p, largest);
    else
        for (size_t i = 0; i < p->spans.n; i++)
            if (p->spans.at[i].region == REGION_MAIN && sums[p->spans.at[i].stop] > sums[p->spans.at[i].start])
                mark_inside(p, &p->spans.at[i]);
    int64_t held = 0;
    for (size_t i = 0; i < p->blocks.n; i++)
        held += p->inside.at[i] ? sums[i + 1] - sums[i] : 0;
    if ((double)held < least)
        return false;
    for (size_t i = 0; i < p->blocks.n; i++)
        if (!p->inside.at[i] && p->blocks.at[i].reason == KEPT)
            p->blocks.at[i].reason = OUTSIDE;
    return true;
}

/* What the highest headings are told by: the character after the last "/h" of the path, else its first one. */
static uint32_t rank_of(const page *p, const block *b)
{
    unsigned length;
    bool is_last = true;
    const path_node *node = &p->paths.at[b->path];
    for (; node->depth > 1; node = &p->paths.at[node->parent], is_last = false)
        if (node->name[0] == 'h') {
            if (node->n > 1)
                return utf8_decode(node->name + 1, node->name + node->n, &length);
            return is_last ? 0 : '/';
        }
    return node->depth == 1 ? utf8_decode(node->name, node->name + node->n, &length) : 0;
}

/* Returns the first of the highest headings that are kept and are no link to the home page, -1 for none. */
static int64_t main_heading(const page *p)
{
    int64_t best = -1;
    uint32_t best_rank = 0;
    for (size_t i = 0; i < p->blocks.n; i++) {
        const block *b = &p->blocks.at[i];
        if (b->reason != KEPT || b->zone != ZONE_HEADING || is_link(p, b))
            continue;
        uint32_t rank = rank_of(p, b);
        if (best < 0 || rank < best_rank) {
            best = (int64_t)i;
            best_rank = rank;
        }
    }
    return best;
}

static void keep_dominant(page *p)
{
    const int64_t *sums = masses(p);
    double least = p->rules->dominant_share * (double)sums[p->blocks.n];
    if (!(least > 0))
        return;
    int64_t heading = main_heading(p);
    /* Two spans that each hold more than half are nested: the last to open is the smallest. */
    const span *dominant = NULL, *with_heading = NULL;
    for (size_t i = 0; i < p->spans.n; i++) {
        const span *s = &p->spans.at[i];
        if ((double)(sums[s->stop] - sums[s->start]) < least)
            continue;
        dominant = s;
        if ((int64_t)s->start <= heading && heading < (int64_t)s->stop)
            with_heading = s;
    }
    const span *chosen = with_heading != NULL ? with_heading : dominant;
    if (chosen == NULL)
        return;
    for (size_t i = 0; i < p->blocks.n; i++)
        if (p->blocks.at[i].reason == KEPT && !(chosen->start <= i && i < chosen->stop))
            p->blocks.at[i].reason = OUTSIDE;
}

static void leave_out_link_rows(page *p)
{
    find_kept(p);
    p->rows.n = 0;
    bool at_edge = true;
    for (size_t i = 0; i < p->kept.n;) {
        size_t start = i;
        bool linked = is_link(p, &p->blocks.at[p->kept.at[i]]);
        while (i < p->kept.n && is_link(p, &p->blocks.at[p->kept.at[i]]) == linked)
            i++;
        at_edge = at_edge || i == p->kept.n;
        if (linked && (at_edge || (int64_t)(i - start) >= p->rules->link_row))
            for (size_t k = start; k < i; k++)
                PUSH(&p->way_out, p->rows, p->kept.at[k]);
        at_edge = false;
    }
    /* A page that says less than its links do is about its links: a table of contents, a list of stories. */
    if (2 * length_of(p, p->rows.at, p->rows.n) <= length_of(p, p->kept.at, p->kept.n))
        for (size_t i = 0; i < p->rows.n; i++)
            p->blocks.at[p->rows.at[i]].reason = LINKS;
}

/* A digit and something that may be a currency: only then is Python asked for the pattern of a price. */
static bool may_be_price(page *p, const block *b)
{
    const char *at = p->text.at + b->text, *end = at + b->n;
    bool has_digit = false, has_currency = false;
    while (at < end) {
        unsigned length;
        uint32_t character = utf8_decode(at, end, &length);
        at += length;
        has_digit = has_digit || (character >= '0' && character <= '9') ||
                    (character >= 0x80 && char_classes(&p->way_out, &p->rules->chars, character) & CHAR_DECIMAL);
        /* The codes are capitals in threes, the other words Latin kr, lei, Ft, or not ASCII. */
        has_currency = has_currency || character == '$' || character >= 0x80 ||
                       (character >= 'A' && character <= 'Z' && end - at >= 2 && at[0] >= 'A' && at[0] <= 'Z' &&
                        at[1] >= 'A' && at[1] <= 'Z') ||
                       (end > at && ((character == 'k' && at[0] == 'r') || (character == 'F' && at[0] == 't') ||
                                     (character == 'l' && at[0] == 'e')));
        if (has_digit && has_currency)
            return true;
    }
    return false;
}

static bool is_price(page *p, const block *b)
{
    if (b->is_prose || b->length > p->rules->offer_length || !may_be_price(p, b))
        return false;
    int answer = p->rules->has_price(p->rules->python, p->text.at + b->text, b->n);
    if (answer < 0)
        escape(&p->way_out, CALLBACK_FAILED);
    return answer != 0;
}

/* Which of the kept blocks are the offer of the page: the first heading and every price. */
static void find_offer(page *p)
{
    int64_t prose = 0, heading = -1;
    p->offer.n = 0;
    for (size_t i = 0; i < p->kept.n; i++) {
        const block *b = &p->blocks.at[p->kept.at[i]];
        prose += b->is_prose ? b->length : 0;
        if (heading < 0 && b->zone == ZONE_HEADING)
            heading = p->kept.at[i];
    }
    if (prose > p->rules->longest_description)
        return;
    for (size_t i = 0; i < p->kept.n; i++)
        if (is_price(p, &p->blocks.at[p->kept.at[i]]))
            PUSH(&p->way_out, p->offer, p->kept.at[i]);
    if (p->offer.n > 0 && heading >= 0)
        PUSH(&p->way_out, p->offer, (uint32_t)heading);
}

void classify(page *p)
{
    leave_out_chrome(p);
    if (!keep_marked_main(p))
        keep_dominant(p);
    leave_out_link_rows(p);
    find_kept(p);
    find_offer(p);
    if (p->offer.n == 0)
        leave_out_furniture(p);
    for (int64_t i = 0; i < p->rules->fallbacks; i++) {
        find_kept(p);
        if (length_of(p, p->kept.at, p->kept.n) < p->rules->fallback_least[i])
            for (size_t k = 0; k < p->blocks.n; k++)
                if (p->blocks.at[k].reason == p->rules->fallback_reason[i])
                    p->blocks.at[k].reason = KEPT;
    }
    for (size_t i = 0; i < p->offer.n; i++)
        p->blocks.at[p->offer.at[i]].zone = ZONE_OFFER;
}
