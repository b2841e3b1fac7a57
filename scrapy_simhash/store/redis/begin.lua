-- What every script of the store begins with: put before its own text, see line.py.
-- notes/redis-layout.rst has the keys and the bytes of the records.
local HEADER, PAGES, CONTENTS, EVENTS, SHORT, TEXTS, RUNS, NOTES, LATEST, ANSWERS, COPIES = unpack(KEYS)

-- A page: number, content, latest content of its own + 1, run, run of the last delivery or 0, flags, stamp; then its ranks, its sketch and its own
-- part, if it has any, and its URL.
local PAGE, PAGE_HEAD = '>I8I8I8I4I4Bc24', 57
-- Ranks: that of the page in the cluster of another one, 0 in its own; how many have joined its own.
local RANKS = '>I4I4'
-- A content: page it came from, the content which that page had of its own before + 1, flags, stamp, lengths of
-- key and scope; then the page's key, the scope, its sketch and its own part if it has them.
local CONTENT, CONTENT_HEAD = '>I8I8Bc24I2I2', 45
-- An event: kind, content, by which values that is found, and a place for each of them; then the scope, and a mark
-- that ties it to all events before it.
local EVENT, EVENT_HEAD, VALUES, MARK = '>c1I8c25', 34, 25, 4
local BY_TEXT, BY_OWN_PART, BY_SUBJECT = 1, 2, 4
-- What is kept of a text: the content of the pages that have it now, and how many these are.
local TEXT, TEXT_LENGTH = '>I8I4', 12
-- A run: the token of its crawler, when it began, when it ended, or NEVER; then why it ended.
local RUN, RUN_HEAD = '>c8i8i8', 24
-- A stamp is 24 bytes: value, time, hash of the text. Nothing in here looks into it but for these parts.
local VALUE_END, TEXT_HASH_BEGIN = 8, 17

local HAS_TEXT_HASH, HAS_SKETCH, IS_SHORT, IS_REMOVED, DIFFERS, HAS_RANKS = 1, 2, 4, 8, 16, 32
-- The latest claim of the page found it in the store.
local WAS_KNOWN = 64
local HAS_OWN_PART = 128
local FACTS_AT, MINHASH = 128, 112
-- A note is kept after its version.
local VERSION_END = 8
-- Own parts of the kind that has a value are longer than others: kind, tokens, value, minhash.
local PART, PART_LENGTH, OTHER_LENGTH, PART_VALUE_BEGIN, PART_VALUE_END = 2, 131, 11, 12, 19
local NO_VALUE = ('\0'):rep(8)
local NEVER = -1
-- Numbers are smaller: Lua cannot count further.
local MOST_NUMBER = 2 ^ 53

-- Lua prints great numbers as 1e+15.
local function field(number)
  return string.format('%.0f', number)
end

local function has(flags, flag)
  return flags % (2 * flag) >= flag
end

-- Return the length of the sketch that begins at byte `start` of a record: its last part says how long that is.
local function sketch_length(record, start)
  return FACTS_AT + 1 + (record:byte(start + FACTS_AT) or 0)
end

-- Return the byte after the sketch and the own part that begin at byte `start` of a record.
local function after_sketch(record, flags, start)
  if has(flags, HAS_SKETCH) then start = start + sketch_length(record, start) end
  if has(flags, HAS_OWN_PART) then
    -- Of a damaged record it may be missing.
    start = start + (record:byte(start) == PART and PART_LENGTH or OTHER_LENGTH)
  end
  return start
end

-- Return the page of a record, nil if that is damaged: what it says does not fit into it.
local function read_page(record)
  if #record < PAGE_HEAD then return nil end
  local number, content, own, run, delivered, flags, stamp = struct.unpack(PAGE, record)
  local rank, joined, rest = 0, 0, PAGE_HEAD + 1
  if has(flags, HAS_RANKS) then
    if #record < PAGE_HEAD + 8 then return nil end
    rank, joined, rest = struct.unpack(RANKS, record, rest)
    flags = flags - HAS_RANKS
  end
  local url_begin = after_sketch(record, flags, rest)
  if url_begin > #record + 1 then return nil end
  return {number = number, content = content, own = own, run = run, delivered = delivered, flags = flags, stamp = stamp, rank = rank,
    joined = joined, sketch = record:sub(rest, url_begin - 1), url = record:sub(url_begin)}
end

-- Keep a page under its key. Its sketch is followed by its own part.
local function write_page(key, page)
  local flags, ranks = page.flags, ''
  if page.rank + page.joined > 0 then
    flags, ranks = flags + HAS_RANKS, struct.pack(RANKS, page.rank, page.joined)
  end
  redis.call('HSET', PAGES, key, struct.pack(PAGE, page.number, page.content, page.own, page.run,
    page.delivered, flags, page.stamp)
    .. ranks .. page.sketch .. page.url)
end

-- Return the content of a record, nil if there is none, or it is damaged.
local function read_content(record)
  if not record or #record < CONTENT_HEAD then return nil end
  local page, before, flags, stamp, key_length, scope_length = struct.unpack(CONTENT, record)
  local key_end = CONTENT_HEAD + key_length
  local scope_end = key_end + scope_length
  if after_sketch(record, flags, scope_end + 1) ~= #record + 1 then return nil end
  local sketch_end = scope_end + (has(flags, HAS_SKETCH) and sketch_length(record, scope_end + 1) or 0)
  return {page = page, before = before, flags = flags, stamp = stamp, key = record:sub(CONTENT_HEAD + 1, key_end),
    scope = record:sub(key_end + 1, scope_end), sketch = record:sub(scope_end + 1, sketch_end),
    own_part = record:sub(sketch_end + 1)}
end

local function write_content(number, content)
  redis.call('HSET', CONTENTS, field(number), struct.pack(CONTENT, content.page, content.before, content.flags,
    content.stamp, #content.key, #content.scope) .. content.key .. content.scope .. content.sketch .. content.own_part)
end

-- Return the text of a stamp by which pages of a scope are found, nil if it is not known, or short.
local function text_of(flags, stamp, scope, is_short)
  return has(flags, HAS_TEXT_HASH) and not is_short and stamp:sub(TEXT_HASH_BEGIN) .. scope or nil
end

-- Return the content of the pages that have a text now, and how many these are.
local function read_text(text)
  local record = text and redis.call('HGET', TEXTS, text)
  if record and #record == TEXT_LENGTH then return struct.unpack(TEXT, record) end
end

local function take_text(text, content)
  local known, pages = read_text(text)
  redis.call('HSET', TEXTS, text, struct.pack(TEXT, content, known == content and pages + 1 or 1))
end

-- Of an original that was removed pages may be left whose text is another content's by now.
local function leave_text(text, content)
  local known, pages = read_text(text)
  if known ~= content then return end
  if pages > 1 then
    redis.call('HSET', TEXTS, text, struct.pack(TEXT, content, pages - 1))
  else
    redis.call('HDEL', TEXTS, text)
  end
end

-- Return the record of a run, nil if there is none, or it is damaged, or begun by somebody with another token.
local function run_of(number, token)
  local record = redis.call('HGET', RUNS, number)
  local is_whole = record and #record >= RUN_HEAD
  return is_whole and (not token or record:sub(1, #token) == token) and record or nil
end

-- Return the mark that an event ends with, as who got it after its length has it: a damaged one may be too short.
local function mark_of(event)
  return (struct.pack('>I4', #event) .. event):sub(-MARK)
end

-- Return the value of an own part, NO_VALUE if it has none.
local function own_value(own)
  return #own >= PART_LENGTH and own:sub(PART_VALUE_BEGIN, PART_VALUE_END) or NO_VALUE
end

-- Return the value of a subject, NO_VALUE if there is none: the first half of the last bytes' SHA-1.
local function subject_value(sketch)
  local words = sketch:sub(MINHASH + 1, FACTS_AT)
  if words == ('\0'):rep(#words) then return NO_VALUE end
  local hex = redis.sha1hex(words)
  return struct.pack('>I4I4', tonumber(hex:sub(1, 8), 16), tonumber(hex:sub(9, 16), 16))
end

-- Return the events after the first `known`, at most `most`, and the mark of the one before them.
-- Nothing at all if this is not the store `id`, or if its log is not the one whose first `known` events end with
-- `mark`: the server has lost something.
local function news(id, known, mark, most)
  if (redis.call('HGET', HEADER, 'id') or ('\0'):rep(8)) ~= id then return end
  local events = redis.call('LRANGE', EVENTS, math.max(known - 1, 0), known + most - 1)
  if known == 0 then return events, id end
  local last = table.remove(events, 1)
  if last and mark_of(last) == mark then return events, mark end
end

-- Return events, or keys, as one string, each after its length.
local function packed(events)
  local parts = {}
  for i, event in ipairs(events) do parts[i] = struct.pack('>I4', #event) .. event end
  return table.concat(parts)
end

-- Add an event to the log and to `events`, which has what came after the event marked `mark`. What else is to be told
-- by its mark, if not by itself, is in `about`: a replica keeps more of a content than its value.
local function log(events, mark, kind, content, values, scope, about)
  local event = struct.pack(EVENT, kind, content, values) .. scope
  local before = #events > 0 and mark_of(events[#events]) or mark
  event = event .. struct.pack('>I4', tonumber(redis.sha1hex(before .. event .. about):sub(1, 8), 16))
  events[#events + 1] = event
  redis.call('RPUSH', EVENTS, event)
end

-- Let the contents that came from a page no longer be found. They stay as records, for the pages that repeat them.
local function remove_contents(page, events, last)
  local own = page.own
  while own > 0 do
    local number = own - 1
    local content = read_content(redis.call('HGET', CONTENTS, field(number)))
    if not content or content.page ~= page.number then break end
    if not has(content.flags, IS_REMOVED) then content.flags = content.flags + IS_REMOVED end
    write_content(number, content)
    local value = content.stamp:sub(1, VALUE_END)
    if has(content.flags, IS_SHORT) then
      redis.call('HDEL', SHORT, value .. content.scope)
    else
      local part, subject = own_value(content.own_part), subject_value(content.sketch)
      local ways = BY_TEXT + (part ~= NO_VALUE and BY_OWN_PART or 0) + (subject ~= NO_VALUE and BY_SUBJECT or 0)
      log(events, last, '-', number, string.char(ways) .. value .. part .. subject, content.scope, '')
    end
    -- Contents that came before have lower numbers: a chain that is damaged ends here, too.
    own = content.before < own and content.before or 0
  end
end

-- Let everything be forgotten after so many seconds, 0 for never: all keys at the same moment.
local function expire(seconds)
  local moment = redis.call('TIME')[1] + seconds
  for _, key in ipairs(KEYS) do
    if seconds > 0 then redis.call('EXPIREAT', key, field(moment)) else redis.call('PERSIST', key) end
  end
end
