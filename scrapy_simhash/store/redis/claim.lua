-- claim: look a page up and remember it, in one step. Everything is read before anything is written, so that an
-- error leaves nothing half done.
--
-- The caller has looked the page up in its replica of the log, as far as it knew it, and says which contents the
-- page repeats. If another near one came meanwhile, nothing is stored, and the caller begins again with the news.
local id, known, mark, numbers, run, token, expiry, reach, is_look, is_short, delivered, found_by =
  struct.unpack('>c8I8c4I8I4c8I4BBBBc25', ARGV[1])
local key, flags, stamp, scope, sketch, own_part, url, kin, others =
  ARGV[2], ARGV[3]:byte(), ARGV[3]:sub(2), ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
-- Whether this claim was sent before and its reply was lost. If it was executed, it gets the same answer once more.
local is_again = ARGV[10] and is_look == 0
-- Contents whose page is damaged: nobody repeats them.
local spoiled = {}
-- A page is searched for by all of its values. If it is new it is found by those that `found_by` begins with.
local value = stamp:sub(1, VALUE_END)
-- A former visit: there was one; another run has delivered an item of the page with this text.
local VISITED, DELIVERED = 1, 2
-- Who is further behind is told so, and catches up in steps.
local MOST = 1000
-- Pages that joined a cluster first are told to those that are not near its content.
local FIRST_COPIES = 2

local band, shift = bit.band, bit.rshift

-- Return how many bits of a 32-bit number are set: counted in twos, fours, eights, then the four bytes added up.
local function bits(number)
  number = number - band(shift(number, 1), 0x55555555)
  number = band(number, 0x33333333) + band(shift(number, 2), 0x33333333)
  return band(number + shift(number, 4), 0x0F0F0F0F) % 255
end

-- The halves of the values that are searched for.
local wanted = {{struct.unpack('>I4I4', value)}}
for _, further in ipairs({own_value(own_part), subject_value(sketch)}) do
  if further ~= NO_VALUE then wanted[#wanted + 1] = {struct.unpack('>I4I4', further)} end
end

local function is_within_reach(high, low)
  for _, halves in ipairs(wanted) do
    -- Most are too far by one half alone.
    local left = reach - bits(bit.bxor(high, halves[1]))
    if left >= 0 and bits(bit.bxor(low, halves[2])) <= left then return true end
  end
  return false
end

local function is_near(event)
  if #event < EVENT_HEAD + MARK then return false end
  if event:sub(1, 1) ~= '+' or event:sub(EVENT_HEAD + 1, -MARK - 1) ~= scope then return false end
  local ways, at = event:byte(EVENT_HEAD - VALUES + 1), EVENT_HEAD - VALUES + 2
  for _, way in ipairs({BY_TEXT, BY_OWN_PART, BY_SUBJECT}) do
    if has(ways, way) and is_within_reach(struct.unpack('>I4I4', event, at)) then return true end
    at = at + VALUE_END
  end
  return false
end

-- Return the content with a number, nil if there is none; a damaged one is as good as that.
local function content_of(number)
  return read_content(redis.call('HGET', CONTENTS, field(number)))
end

-- Among the contents in `candidates`, each 8 bytes, best first: that of the page `own`, else of `cluster`, else
-- the first. Return it with its place and number. Where the highest bit is set, the page contradicts the content: that
-- it is only if it is its own.
local function choose(candidates, own, cluster)
  local chosen, order = {}, 4
  for place = 1, #candidates / 8 do
    local first = candidates:byte(8 * place - 7)
    local number = struct.unpack('>I8', string.char(first % 128) .. candidates:sub(8 * place - 6, 8 * place))
    local content = not spoiled[number] and content_of(number)
    local is_there = content and not has(content.flags, IS_REMOVED) and (first < 128 or content.page == own)
    local its_order = is_there and (content.page == own and 1 or content.page == cluster and 2 or 3) or 4
    if its_order < order then chosen, order = {content, place, number}, its_order end
  end
  return unpack(chosen)
end

-- Return whether another page has the text of this one now, character for character.
local function has_its_text(other)
  return has(flags, HAS_TEXT_HASH) and has(other.flags, HAS_TEXT_HASH)
    and other.stamp:sub(TEXT_HASH_BEGIN) == stamp:sub(TEXT_HASH_BEGIN)
end

-- Return whether a content says all of this page's fingerprint that must be kept: an original keeps its first one.
local function is_as(content, is_own)
  return is_own or content.sketch == sketch and content.own_part == own_part
end

-- Return the place of a content in `kin`, 0 if it is not in there.
local function place_in_kin(number)
  local wanted = struct.pack('>I8', number)
  for place = 1, #kin / 8 do
    if kin:sub(8 * place - 7, 8 * place) == wanted then return place end
  end
  return 0
end

-- Return what is compared of the first copies of `clusters`, 8 bytes each, after the cluster and its length. None of
-- the page's `own` cluster.
local function copies_of(clusters, own)
  local numbers, asked, parts = {}, {}, {}
  for at = 1, #clusters, 8 do
    local number = struct.unpack('>I8', clusters, at)
    for rank = 1, number == own and 0 or FIRST_COPIES do
      numbers[#numbers + 1], asked[#asked + 1] = number, field(number) .. ':' .. rank
    end
  end
  if #asked == 0 then return '' end
  for place, its_key in ipairs(redis.call('HMGET', COPIES, unpack(asked))) do
    local copy = its_key and its_key ~= key and read_page(redis.call('HGET', PAGES, its_key) or '')
    -- It may have left the cluster, or have come back later.
    local is_first = copy and copy.rank > 0 and copy.rank <= FIRST_COPIES
    local its_content = is_first and content_of(copy.content)
    if its_content and its_content.page == numbers[place] and not has(its_content.flags, IS_REMOVED) then
      local is_own = has(copy.flags, DIFFERS)
      -- An own part without a sketch is not compared.
      local has_sketch = has(is_own and copy.flags or its_content.flags, HAS_SKETCH)
      local its_sketch = is_own and copy.sketch or its_content.sketch .. its_content.own_part
      if not has_sketch then its_sketch = '' end
      parts[#parts + 1] = struct.pack('>I8I2', numbers[place], VALUE_END + #its_sketch)
        .. copy.stamp:sub(1, VALUE_END) .. its_sketch
    end
  end
  return table.concat(parts)
end

-- --- Read.

local events, last = news(id, known, mark, MOST + 1)
if not events then return 'L' end
-- A look has no run.
if is_look == 0 and not run_of(field(run), token) then return 'L' end
if #events > MOST then return 'B' end
local record = redis.call('HGET', PAGES, key)
local page = record and read_page(record)
if record and not page then return 'D' end
-- A claim that found the page in the store is answered and stored anew: what it found is not there any more.
local is_stored = is_again and page and not has(page.flags, WAS_KNOWN) and page.stamp == stamp
  and page.run == run
if is_short == 0 and not is_stored then
  for _, event in ipairs(events) do
    if is_near(event) then return 'R' .. packed(events) end
  end
end

local counts = redis.call('HMGET', HEADER, 'pages', 'contents')
local next_page, next_content = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
-- Counters that are damaged would have this page take the place of others.
if not next_page or not next_content then return 'H' end
-- The caller has seen more numbers of pages: copies and short pages were lost, which have no events.
if next_page < numbers then return 'L' end
page = page or {number = next_page, own = 0, delivered = 0, rank = 0, joined = 0}
local former, former_content, former_flags, former_stamp = 0, 0, 0, string.rep('\0', 24)
local cluster, text_before
if record then
  former_content, former_flags, former_stamp = page.content, page.flags, page.stamp
  former = is_stored and 0 or page.delivered > 0 and page.delivered ~= run and DELIVERED or VISITED
  local its_content = content_of(former_content)
  cluster = its_content and its_content.page
  local was_short = its_content and has(its_content.flags, IS_SHORT)
  text_before = its_content and text_of(former_flags, former_stamp, its_content.scope, was_short)
  if was_short then former_flags = former_flags + IS_SHORT end
  -- The value of an original is that of its content.
  if its_content and its_content.page == page.number then
    former_stamp = its_content.stamp:sub(1, VALUE_END) .. former_stamp:sub(VALUE_END + 1)
  end
end
if is_short == 1 then
  local its_number = tonumber(redis.call('HGET', SHORT, value .. scope) or '')
  local is_there = its_number and its_number >= 0 and its_number < MOST_NUMBER
  local its_content = is_there and content_of(its_number)
  kin = its_content and its_content.stamp:sub(1, VALUE_END) == value and struct.pack('>I8', its_number) or ''
end
-- The content of the pages that have the same text now, before any that is like it.
local text = text_of(flags, stamp, scope, is_short == 1)
local with_text, pages_with_text = read_text(text)
local by_text = with_text and with_text < MOST_NUMBER and content_of(with_text)
by_text = by_text and by_text.scope == scope and not has(by_text.flags, IS_SHORT)
local content, place, number = choose(by_text and struct.pack('>I8', with_text) or kin, page.number, cluster)
if is_stored then
  content, place, number = content_of(page.content), place_in_kin(page.content), page.content
  if not content then return 'D' end
  -- It was found by its text if another page had that before.
  by_text = content.page ~= page.number and with_text == number and pages_with_text > 1
  if content.page == page.number then place = 0 end
elseif not content then
  by_text = false
  content, place, number = choose(kin, page.number, cluster)
end
local url_of_original, key_of_original, rank, is_same_text = '', '', 0, false
local joins, original
-- Once for each of the kin at most.
while content and content.page ~= page.number do
  -- No page repeats itself: its number is not that of its contents.
  if content.key == key then return 'D' end
  local its_record = redis.call('HGET', PAGES, content.key)
  original = its_record and read_page(its_record)
  if not its_record or original and original.number == content.page then break end
  spoiled[number], by_text = content.key, false
  content, place, number = choose(kin, page.number, cluster)
end
if content and content.page ~= page.number then
  key_of_original, rank = content.key, 1
  if original then url_of_original, rank = original.url, original.joined + 1 end
  -- It keeps its rank for as long as it stays.
  if content.page == cluster then rank = page.rank else joins = original end
  is_same_text = is_short == 1 or original and has_its_text(original) or false
end
local copies = by_text and '' or copies_of(others, page.number)
local is_new = not content
-- A page whose own text is replaced takes the next number: copies of its former text are new from now on.
local is_replaced = record and page.own > 0 and (is_new or content.page ~= page.number)
local before = {number = page.number, own = page.own}
if is_replaced then page.number, page.own, page.joined = next_page, 0, 0 end
if is_new then
  place, number = 0, next_content
  if redis.call('HGET', CONTENTS, field(number)) then return 'H' end
  content = {page = page.number, before = 0, flags = flags, stamp = stamp, key = key, scope = scope,
    sketch = sketch, own_part = own_part}
end

-- --- Write.

if is_look == 0 and not is_stored then
  if not record or is_replaced then redis.call('HINCRBY', HEADER, 'pages', 1) end
  local sketch_flags = (#sketch > 0 and HAS_SKETCH or 0) + (#own_part > 0 and HAS_OWN_PART or 0)
  local is_first_of_kind = false
  if is_replaced then remove_contents(before, events, last) end
  if is_new then
    redis.call('HINCRBY', HEADER, 'contents', 1)
    content.flags = flags + sketch_flags + (is_short == 1 and IS_SHORT or 0)
    write_content(number, content)
    if is_short == 1 then
      redis.call('HSET', SHORT, value .. scope, field(number))
      is_first_of_kind = redis.call('HLEN', SHORT) == 1
    elseif found_by:byte() > 0 then
      log(events, last, '+', number, found_by, scope, key .. sketch .. own_part)
      is_first_of_kind = known + #events == 1
    end
    page.own = number + 1
  end
  local is_unchanged = has(former_flags, HAS_TEXT_HASH) == has(flags, HAS_TEXT_HASH)
    and (has(flags, HAS_TEXT_HASH) or former_stamp:sub(1, VALUE_END) == value)
    and former_stamp:sub(TEXT_HASH_BEGIN) == stamp:sub(TEXT_HASH_BEGIN)
  page.run = run
  -- Another text has not been delivered yet.
  if delivered == 1 then page.delivered = run elseif not is_unchanged then page.delivered = 0 end
  page.content, page.stamp, page.rank, page.url = number, stamp, rank, url
  page.flags, page.sketch = flags + (record and WAS_KNOWN or 0), ''
  if not is_as(content, content.page == page.number) then
    page.flags, page.sketch = page.flags + DIFFERS + sketch_flags, sketch .. own_part
  end
  write_page(key, page)
  if joins then
    joins.joined = rank
    write_page(key_of_original, joins)
    if rank <= FIRST_COPIES then redis.call('HSET', COPIES, field(content.page) .. ':' .. rank, key) end
  end
  if text ~= text_before or former_content ~= number then
    if text then take_text(text, number) end
    if text_before then leave_text(text_before, former_content) end
  end
  if expiry > 0 then
    is_first_of_kind = is_first_of_kind or text and redis.call('HLEN', TEXTS) == 1
      or joins and redis.call('HLEN', COPIES) == 1
    -- Now and then, and when a key has come that has no end yet.
    local left = redis.call('TTL', HEADER)
    if is_first_of_kind or redis.call('HLEN', PAGES) == 1 or left < expiry - math.min(60, expiry / 10) then
      expire(expiry)
    end
  end
end

local keys = {}
for _, its_key in pairs(spoiled) do keys[#keys + 1] = its_key end
local keys_of_spoiled = packed(keys)

return struct.pack('>c1I8I8I8I8I4I4BBBI8c24I2I4I4I4', 'S', redis.call('HLEN', PAGES), page.number, number, content.page,
  place, rank, (is_same_text and 1 or 0) + (by_text and 2 or 0), former, former_flags, cluster or page.number, former_stamp,
  #key_of_original, #url_of_original, #keys_of_spoiled, #copies)
  .. key_of_original .. url_of_original .. keys_of_spoiled .. copies .. packed(events)
