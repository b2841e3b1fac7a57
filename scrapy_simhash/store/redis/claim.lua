-- claim: look a page up and remember it, in one step. Everything is read before anything is written, so that an
-- error leaves nothing half done.
--
-- The caller has looked the page up in its replica of the log, as far as it knew it, and says which contents the
-- page repeats. If another near one came meanwhile, nothing is stored, and the caller begins again with the news.
local id, known, mark, run, token, expiry, reach, is_look, is_short, delivered, live, found_by =
  struct.unpack('>c8I8c4I4c8I4BBBBI4c25', ARGV[1])
local key, flags, stamp, scope, sketch, own_part, url, kin =
  ARGV[2], ARGV[3]:byte(), ARGV[3]:sub(2), ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
-- Contents whose page is damaged: nobody repeats them.
local spoiled = {}
-- A page is searched for by all of its values. If it is new it is found by those that `found_by` begins with.
local value = stamp:sub(1, VALUE_END)
-- What is known of a former visit: that there was one; that its text was delivered in a run that has ended in order,
-- or in another run that is live. It is if its last heartbeat is at most `live` seconds old, 0 for nobody asks, and
-- came after this run began: of one that was killed before, and is perhaps begun anew by this one, nothing is dropped.
local VISITED, SETTLED, LIVE = 1, 2, 3
-- Who is further behind is told so, and catches up in steps.
local MOST = 1000

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

-- Return who had a content first, its flags and its record.
local function content_of(number)
  local record = redis.call('HGET', CONTENTS, field(number))
  -- A damaged one is as good as removed.
  if not is_content(record) then return nil, IS_REMOVED end
  local owner, _, its_flags = struct.unpack(CONTENT, record)
  return owner, its_flags, record
end

-- Among the contents in `candidates`, each 8 bytes, best first: that of the page `own`, else of `cluster`, else
-- the first. Return its place, number, owner and record.
local function choose(candidates, own, cluster)
  local chosen, order = {}, 4
  for place = 1, #candidates / 8 do
    local number = struct.unpack('>I8', candidates, 8 * place - 7)
    local owner, its_flags, record = content_of(number)
    local its_order = owner == own and 1 or owner == cluster and 2 or 3
    if its_order < order and not has(its_flags, IS_REMOVED) and not spoiled[number] then
      chosen, order = {place, number, owner, record}, its_order
    end
  end
  return unpack(chosen)
end

-- Return what the run in which a text was delivered says about it, and this run of the record `own_run`.
local function fate_in(number, own_run)
  local its_run = redis.call('HGET', RUNS, field(number))
  if not is_run(its_run) then return VISITED end
  if has_ended(its_run) then return SETTLED end
  local _, _, ended = struct.unpack(RUN, its_run)
  if live == 0 or not own_run or number == run or ended == NEVER then return VISITED end
  local _, began = struct.unpack(RUN, own_run)
  -- A clock that was put back makes nobody live for longer.
  return -ended > began and math.abs(now() + ended) <= live and LIVE or VISITED
end

-- Return the page that had a content first: its key and its record.
local function original_of(record)
  local _, _, _, _, length = struct.unpack(CONTENT, record)
  local its_key = record:sub(CONTENT_HEAD + 1, CONTENT_HEAD + length)
  return its_key, redis.call('HGET', PAGES, its_key)
end

-- Return the URL of a page, and how many have joined its cluster.
local function cluster_of(original)
  local _, _, _, _, its_flags = struct.unpack(PAGE, original)
  local _, its_joined = ranks_of(original, its_flags)
  return original:sub(url_begin(original)), its_joined
end

-- Return the record of a page whose cluster so many have joined.
local function joined_by(original, its_joined)
  local its_number, its_content, its_own, its_run, its_flags, its_stamp = struct.unpack(PAGE, original)
  local its_rank, _, rest = ranks_of(original, its_flags)
  if not has(its_flags, HAS_RANKS) then its_flags = its_flags + HAS_RANKS end
  return struct.pack(PAGE, its_number, its_content, its_own, its_run, its_flags, its_stamp)
    .. struct.pack(RANKS, its_rank, its_joined) .. original:sub(rest)
end

-- Return whether the text of a content is that of this page, to the letter.
local function has_its_text(record)
  local _, _, its_flags, its_stamp = struct.unpack(CONTENT, record)
  return has(flags, HAS_TEXT_HASH) and has(its_flags, HAS_TEXT_HASH)
    and its_stamp:sub(TEXT_HASH_BEGIN) == stamp:sub(TEXT_HASH_BEGIN)
end

-- Return whether a content says all of this page's fingerprint that must be kept. The own part of a page changes
-- whenever more is known about its site; with its own content stays the first.
local function is_as(record, is_own)
  local _, _, its_flags, its_stamp, its_key_length, its_scope_length = struct.unpack(CONTENT, record)
  local rest = record:sub(CONTENT_HEAD + its_key_length + its_scope_length + 1)
  local its_sketch = has(its_flags, HAS_SKETCH) and rest:sub(1, SKETCH) or ''
  if its_sketch ~= sketch then return false end
  return rest:sub(#its_sketch + 1) == own_part or is_own and its_stamp:sub(1, VALUE_END) == value
end

-- --- Read.

local events, last = news(id, known, mark, MOST + 1)
if not events then return 'L' end
local own_run = redis.call('HGET', RUNS, field(run))
if not is_run(own_run) or own_run:sub(1, #token) ~= token then own_run = nil end
-- Who only looks has none.
if not own_run and is_look == 0 then return 'L' end
if #events > MOST then return 'B' end
if is_short == 0 then
  for _, event in ipairs(events) do
    if is_near(event) then return 'R' .. packed(events) end
  end
end

local counts = redis.call('HMGET', HEADER, 'pages', 'contents')
local next_page, next_content = tonumber(counts[1] or 0), tonumber(counts[2] or 0)
-- Counters that are damaged would have this page take the place of others.
if not next_page or not next_content then return 'H' end
local number, own, former_run = next_page, 0, 0
local former, former_content, former_flags, former_stamp = 0, 0, 0, string.rep('\0', 24)
local former_kind, former_rank, joined = 0, 0, 0
local cluster
local page = redis.call('HGET', PAGES, key)
if page then
  if not url_begin(page) then return 'D' end
  number, former_content, own, former_run, former_flags, former_stamp = struct.unpack(PAGE, page)
  former_rank, joined = ranks_of(page, former_flags)
  former = fate_in(former_run, own_run)
  local content_flags
  cluster, content_flags = content_of(former_content)
  if has(content_flags, IS_SHORT) then former_kind = IS_SHORT end
end
if is_short == 1 then
  local content = tonumber(redis.call('HGET', SHORT, value .. scope) or '')
  kin = ''
  if content and content >= 0 and content < MOST_NUMBER then
    local _, _, its_record = content_of(content)
    if its_record and select(4, struct.unpack(CONTENT, its_record)):sub(1, VALUE_END) == value then
      kin = struct.pack('>I8', content)
    end
  end
end
local place, content, owner, record = choose(kin, number, cluster)
local url_of_original, key_of_original, rank, is_same_text = '', '', 0, false
local joins, original
-- Once for each of the kin at most.
while place and owner ~= number do
  key_of_original, original = original_of(record)
  -- No page repeats itself: its number is not that of its contents.
  if key_of_original == key then return 'D' end
  if not original or url_begin(original) and struct.unpack('>I8', original) == owner then break end
  spoiled[content] = key_of_original
  key_of_original, original = '', nil
  place, content, owner, record = choose(kin, number, cluster)
end
if place and owner ~= number then
  local its_joined = 0
  joins = key_of_original
  if original then url_of_original, its_joined = cluster_of(original) end
  rank = its_joined + 1
  -- It keeps its rank for as long as it stays.
  if owner == cluster then joins, rank = nil, former_rank end
  is_same_text = is_short == 1 or has_its_text(record)
end
if not place then
  place, content, owner = 0, next_content, number
  if redis.call('HGET', CONTENTS, field(content)) then return 'H' end
end

-- --- Write.

if is_look == 0 then
  if not page then redis.call('HINCRBY', HEADER, 'pages', 1) end
  local sketch_flags = (#sketch > 0 and HAS_SKETCH or 0) + (#own_part > 0 and HAS_OWN_PART or 0)
  local is_first_of_kind = false
  if place == 0 then
    redis.call('HINCRBY', HEADER, 'contents', 1)
    local content_flags = flags + sketch_flags + (is_short == 1 and IS_SHORT or 0)
    redis.call('HSET', CONTENTS, field(content),
      struct.pack(CONTENT, number, own, content_flags, stamp, #key, #scope)
      .. key .. scope .. sketch .. own_part)
    if is_short == 1 then
      redis.call('HSET', SHORT, value .. scope, field(content))
      is_first_of_kind = redis.call('HLEN', SHORT) == 1
    elseif found_by:byte() > 0 then
      log(events, last, '+', content, found_by, scope, key .. sketch .. own_part)
      is_first_of_kind = known + #events == 1
    end
    own = content + 1
  end
  local page_flags, its_own = flags, ''
  if place > 0 and not is_as(record, owner == number) then
    page_flags, its_own = flags + DIFFERS + sketch_flags, sketch .. own_part
  end
  -- The text was delivered in another run already, which has ended, or is live: that stays noted. If this page is
  -- dropped for its sake, and that run never ends in order, the page is not settled.
  local is_kept = (former == SETTLED or former == LIVE and delivered == 1)
    and has(former_flags, HAS_TEXT_HASH) == has(flags, HAS_TEXT_HASH)
    and former_stamp:sub(1, VALUE_END) == value
    and former_stamp:sub(TEXT_HASH_BEGIN) == stamp:sub(TEXT_HASH_BEGIN)
  local its_run = is_kept and former_run or delivered == 1 and run or 0
  local ranks = ''
  if rank + joined > 0 then
    page_flags, ranks = page_flags + HAS_RANKS, struct.pack(RANKS, rank, joined)
  end
  redis.call('HSET', PAGES, key,
    struct.pack(PAGE, number, content, own, its_run, page_flags, stamp) .. ranks .. its_own .. url)
  if joins and original then redis.call('HSET', PAGES, joins, joined_by(original, rank)) end
  if live > 0 then
    local _, _, heartbeat = struct.unpack(RUN, own_run)
    -- Once a second: who begins is soon to know who is at work.
    if -heartbeat ~= now() then redis.call('HSET', RUNS, field(run), with_heartbeat(own_run)) end
  end
  if expiry > 0 then
    -- Now and then, and when a key has come that has no end yet.
    local left = redis.call('TTL', HEADER)
    if is_first_of_kind or redis.call('HLEN', PAGES) == 1 or left < expiry - math.min(60, expiry / 10) then
      expire(expiry)
    end
  end
end

local keys_of_spoiled = {}
for _, its_key in pairs(spoiled) do
  keys_of_spoiled[#keys_of_spoiled + 1] = struct.pack('>I4', #its_key) .. its_key
end
keys_of_spoiled = table.concat(keys_of_spoiled)

return struct.pack('>c1I8I8I8I8I4I4BBBI8c24I2I4I4', 'S', redis.call('HLEN', PAGES), number, content, owner, place, rank,
  is_same_text and 1 or 0, former, former_flags + former_kind, former_content, former_stamp,
  #key_of_original, #url_of_original, #keys_of_spoiled)
  .. key_of_original .. url_of_original .. keys_of_spoiled .. packed(events)
