-- Prepended to every script, see client.py. notes/redis-layout.rst describes the keys and records.
local HEADER, PAGES, LOG, TEXTS, RUNS, NOTES = unpack(KEYS)

-- The head of a row: the numbers below, and the lengths of the keys of the first two copies. These keys follow, then
-- the rest: the length of the scope, the kind of the text, its hash, the scope, and data that only callers read.
local ROW, ROW_HEAD, TEXT_HEAD = '>I4I8I8I4I4I4I4I4I4I4I4BB', 54, 10
local VERSION, NUMBER, ORIGINAL, RANK, JOINED, DELIVERED, FIRST_SEEN, LAST_SEEN, LAST_VISIT, VISITS, CHANGES =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
-- The kind of a text whose hash is unknown.
local NO_TEXT = 'n'

-- An event of the log: a sign, a mark that identifies it, flags of the values by which an original is found, the
-- length of its scope; then the values, the scope, and its key. '+' adds an original; in the stream it has the id
-- `number + 1`-0. '-' removes an original; it has the next id, and the number instead of the key.
local EVENT_HEAD, FOUND_BY, SCOPE = 7, 6, 7
-- Bytes of the values, by found_by plus 1.
local VALUE_BYTES = {0, 8, 8, 16, 8, 16, 16, 24}
-- The position of an event and its length, as in a reply.
local EVENT_IN_REPLY = '>I8I4I2'
-- A caller that is more events behind than this reads the log in steps.
local MAX_NEWS = 512
local NO_ID = ('\0'):rep(8)
-- A text: the original of the pages with this text, and the number of these pages.
local TEXT, TEXT_LENGTH = '>I8I4', 12
-- A run: the token of its crawler, its start, its end or NEVER, and the reason why it ended.
local RUN, NEVER = '>c8i8i8', -1

-- Lua prints large numbers as 1e+15.
local function decimal(number)
  return string.format('%.0f', number)
end

-- Return the row in a record, nil if there is no row or it cannot be read.
local function read_row(record)
  if not record or #record < ROW_HEAD + TEXT_HEAD then return nil end
  local row = {struct.unpack(ROW, record)}
  local first = ROW_HEAD + row[CHANGES + 1]
  row.copies = {record:sub(ROW_HEAD + 1, first), record:sub(first + 1, first + row[CHANGES + 2])}
  row.rest = record:sub(first + row[CHANGES + 2] + 1)
  if #row.rest < TEXT_HEAD then return nil end
  return row
end

local function write_row(key, row)
  row[CHANGES + 1], row[CHANGES + 2] = #row.copies[1], #row.copies[2]
  redis.call('HSET', PAGES, key, struct.pack(ROW, unpack(row, 1, CHANGES + 2)) .. row.copies[1] .. row.copies[2] .. row.rest)
end

-- Write a row that has changed without a claim. A claim that read the old row is decided again.
local function update_row(key, row)
  row[VERSION] = row[VERSION] % (2 ^ 32 - 1) + 1
  write_row(key, row)
end

local function event_id(first, second)
  return decimal(first) .. '-' .. decimal(second)
end

-- Return the event that added the original with a number, and the length of its part before the key; nil if there is
-- no such event, or if it cannot be read.
local function event_of(number)
  local id = event_id(number + 1, 0)
  local found = redis.call('XRANGE', LOG, id, id)[1]
  local event = found and found[2][2] or ''
  local found_by, scope = event:byte(FOUND_BY, SCOPE)
  local values = scope and VALUE_BYTES[found_by + 1]
  if values then return event, EVENT_HEAD + values + scope end
end

-- Return key, record and row of the original with a number, nil if there is no such original.
local function original_of(number)
  local event, key_at = event_of(number)
  if not event then return nil end
  local key = event:sub(key_at + 1)
  local record = redis.call('HGET', PAGES, key)
  local row = read_row(record)
  if row and row[NUMBER] == number and row[ORIGINAL] == number then return key, record, row end
end

-- Return the fields of the header if this is the store `id` and contains everything that the caller has seen: the
-- numbers below `known`, and the event at its position with `mark`. Otherwise return nil and the reply: 'L' if the
-- server has lost data, 'O' if the log was shortened, so that the caller must read it again.
local function state(id, known, first, second, mark, trims)
  local stored_id, next_number, stored_trims = unpack(redis.call('HMGET', HEADER, 'id', 'next', 'trims'))
  if (stored_id or NO_ID) ~= id then return nil, 'L' end
  local now = {next = tonumber(next_number or 0), trims = tonumber(stored_trims or 0)}
  if not now.next or now.next < known then return nil, 'L' end
  if first + second > 0 then
    if now.trims ~= trims then return nil, 'O' end
    local position = event_id(first, second)
    local event = redis.call('XRANGE', LOG, position, position)[1]
    if not event or event[2][2]:sub(2, 5) ~= mark then return nil, 'L' end
  end
  return now
end

local function events_after(first, second, most)
  return redis.call('XRANGE', LOG, event_id(first, second + 1), '+', 'COUNT', most)
end

local function packed(events)
  local parts = {}
  for i, event in ipairs(events) do
    local first, second = event[1]:match('(%d+)-(%d+)')
    parts[i] = struct.pack(EVENT_IN_REPLY, tonumber(first), tonumber(second), #event[2][2]) .. event[2][2]
  end
  return table.concat(parts)
end

-- Add the event that removes an original; it follows the events of the latest number.
local function remove_original(now, number, mark)
  local event, key_at = event_of(number)
  if not event then return end
  local latest = redis.call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
  local last_first, last_second = latest[1]:match('(%d+)-(%d+)')
  local second = tonumber(last_first) == now.next and tonumber(last_second) + 1 or 1
  redis.call('XADD', LOG, event_id(now.next, second), 'e',
    '-' .. mark .. event:sub(FOUND_BY, key_at) .. struct.pack('>I8', number))
end

-- Return the field of the text of a page, nil if its hash is unknown. Short pages can only be equal to short pages.
local function text_of(row)
  local scope, kind = row.rest:byte(1), row.rest:sub(2, 2)
  return kind ~= NO_TEXT and row.rest:sub(2, TEXT_HEAD + scope) or nil
end

-- Return the original of the pages with a text, and the number of these pages.
local function read_text(text)
  local record = text and redis.call('HGET', TEXTS, text)
  if record and #record == TEXT_LENGTH then return struct.unpack(TEXT, record) end
end

-- Return the data that a claim depends on: the row of the page; number, key and record of the original of its text.
local function claim_data(record, text)
  local number = read_text(text ~= '' and text)
  local key, text_record
  if number then key, text_record = original_of(number) end
  return {record or '', key and decimal(number) or '', key or '', text_record or ''}
end

local function take_text(text, original)
  local known, pages = read_text(text)
  redis.call('HSET', TEXTS, text, struct.pack(TEXT, original, known == original and pages + 1 or 1))
end

-- A removed original may have left pages whose text belongs to another original now.
local function leave_text(text, original)
  local known, pages = read_text(text)
  if known ~= original then return end
  if pages > 1 then
    redis.call('HSET', TEXTS, text, struct.pack(TEXT, original, pages - 1))
  else
    redis.call('HDEL', TEXTS, text)
  end
end

-- Remove a page and its notes.
local function remove_page(now, key, row)
  local text = text_of(row)
  if text then leave_text(text, row[ORIGINAL]) end
  if row[ORIGINAL] == row[NUMBER] then remove_original(now, row[NUMBER], struct.pack('>I4', row[VERSION])) end
  redis.call('HDEL', PAGES, key)
  redis.call('HDEL', NOTES, 'page ' .. key:sub(2))
end

-- Return the record of a run, nil if there is no such run or if a crawler with a different token started it.
local function run_of(number, token)
  local record = redis.call('HGET', RUNS, number)
  return record and record:sub(1, #token) == token and record or nil
end

-- Every hash has a field with an empty name, so that the key exists even without other fields.
local function size()
  return math.max(redis.call('HLEN', PAGES) - 1, 0)
end

-- Return the head of a reply.
local function head(sign, now)
  return struct.pack('>c1I8I8I4', sign, size(), now.next, now.trims)
end
