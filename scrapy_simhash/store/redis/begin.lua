-- Prepended to every script, see client.py. notes/redis-layout.rst describes the keys and records.
local HEADER, PAGES, LOG, TEXTS, RUNS, NOTES = unpack(KEYS)

-- A row: the fields in NAMES, the lengths of scope and fingerprint, then scope, fingerprint and URL.
local ROW, ROW_HEAD = '>BBI8I8I4I4I4I4I4I4I4I4I4c8c8c8I2I2', 82
local NAMES = {'flags', 'found_by', 'number', 'original', 'rank', 'joined', 'delivered', 'first_seen', 'last_seen',
  'last_visit', 'visits', 'changes', 'claim', 'value', 'hash', 'text_hash'}
local HAS_HASH, IS_SHORT = 1, 4

-- An entry of the log: last digit of the number in base BLOCK, found_by, mark, lengths of key, scope and the keys of
-- two copies; then the values by which the page is found, key, scope, copies. The mark depends on all entries before.
-- A removed original has an entry without a key.
local ENTRY, ENTRY_HEAD, BLOCK = '>BBc4BBBB', 10, 16
-- Bytes of the values, by found_by plus 1.
local VALUE_BYTES = {0, 8, 8, 16, 8, 16, 16, 24}
-- An event: a sign, the number of an original, and its entry. '+': a new page became an original; the numbers are in
-- order. The other events are changes. They are numbered fields of the log, and only the latest are kept. '*': a
-- known page became an original. '-': an original was removed.
local EVENT, MOST_CHANGES = '>c1I8', 10000
-- A caller that is more numbers or changes behind than this reads the log in steps.
local MOST_NEWS = 512
-- Replaces the count of changes for a replica that is being filled; its entries include all changes so far.
local ALL_CHANGES = 2 ^ 32 - 1
local NO_ID = ('\0'):rep(8)
-- A text: the original of the pages with this text, and the number of these pages.
local TEXT, TEXT_LENGTH = '>I8I4', 12
-- A run: the token of its crawler, its start, its end or NEVER, and the reason why it ended.
local RUN, NEVER = '>c8i8i8', -1
-- Number of bytes of the version of a note.
local VERSION_END = 8

-- Lua prints large numbers as 1e+15.
local function decimal(number)
  return string.format('%.0f', number)
end

local function has(flags, flag)
  return flags % (2 * flag) >= flag
end

-- Return the row in a record, nil if there is none or it cannot be read.
local function read_row(record)
  if not record or #record < ROW_HEAD then return nil end
  local fields, row = {struct.unpack(ROW, record)}, {}
  for i, name in ipairs(NAMES) do row[name] = fields[i] end
  local scope_end = ROW_HEAD + fields[#NAMES + 1]
  local fingerprint_end = scope_end + fields[#NAMES + 2]
  if fingerprint_end > #record then return nil end
  row.scope, row.fingerprint = record:sub(ROW_HEAD + 1, scope_end), record:sub(scope_end + 1, fingerprint_end)
  row.url = record:sub(fingerprint_end + 1)
  return row
end

local function write_row(key, row)
  local fields = {}
  for i, name in ipairs(NAMES) do fields[i] = row[name] end
  fields[#NAMES + 1], fields[#NAMES + 2] = #row.scope, #row.fingerprint
  redis.call('HSET', PAGES, key, struct.pack(ROW, unpack(fields)) .. row.scope .. row.fingerprint .. row.url)
end

local function block_of(number)
  return decimal(math.floor(number / BLOCK))
end

local function entry_end(block, at)
  local _, found_by, _, _, _, _, key, scope, first, second = block:byte(at, at + ENTRY_HEAD - 1)
  return at + ENTRY_HEAD - 1 + VALUE_BYTES[found_by + 1] + key + scope + first + second
end

-- Return start and end of the entry of a digit in a block, nil if there is none.
local function find_entry(block, digit)
  local at = 1
  while at <= #block do
    local last = entry_end(block, at)
    if block:byte(at) == digit then return at, last end
    at = last + 1
  end
end

-- Blocks that this script has read, by name.
local blocks = {}

-- Return the block of a number, empty if there is none.
local function read_block(number)
  local name = block_of(number)
  if not blocks[name] then blocks[name] = redis.call('HGET', LOG, name) or '' end
  return blocks[name]
end

local function read_entry(block, at)
  local digit, found_by, mark, key, scope, first, second = struct.unpack(ENTRY, block, at)
  local values_end = at + ENTRY_HEAD - 1 + VALUE_BYTES[found_by + 1]
  local key_end, scope_end = values_end + key, values_end + key + scope
  return {digit = digit, found_by = found_by, mark = mark, values = block:sub(at + ENTRY_HEAD, values_end),
    key = block:sub(values_end + 1, key_end), scope = block:sub(key_end + 1, scope_end),
    copies = {block:sub(scope_end + 1, scope_end + first), block:sub(scope_end + first + 1, scope_end + first + second)}}
end

local function packed_entry(entry)
  local copies = entry.copies
  return struct.pack(ENTRY, entry.digit, entry.found_by, entry.mark, #entry.key, #entry.scope, #copies[1], #copies[2])
    .. entry.values .. entry.key .. entry.scope .. copies[1] .. copies[2]
end

-- Return the entry of a number, nil if it has none.
local function entry_of(number)
  local block = read_block(number)
  local at = find_entry(block, number % BLOCK)
  return at and read_entry(block, at)
end

-- Write the entry of a number in its place, or at the end of its block.
local function write_entry(number, packed)
  local block, name = read_block(number), block_of(number)
  local at, last = find_entry(block, number % BLOCK)
  blocks[name] = at and block:sub(1, at - 1) .. packed .. block:sub(last + 1) or block .. packed
  redis.call('HSET', LOG, name, blocks[name])
end

-- Return the row of an existing original, and its key with the prefix used in PAGES.
local function original_row(number)
  local entry = entry_of(number)
  if not entry or entry.key == '' then return nil end
  local row = read_row(redis.call('HGET', PAGES, entry.key))
  if row and row.number == number then return row, entry.key end
end

-- Return the fields of the header if this is the store `id` and contains everything that the caller has seen: the
-- numbers below `known`, the entry before `last` with `mark`, and that many changes. Otherwise return nil and the
-- reply: 'L' if the server has lost data, 'O' if the caller must read the log again, 'B' if the caller is too far
-- behind for one reply.
local function state(id, known, last, mark, changes, most)
  local its_id, next_number, its_changes, its_mark =
    unpack(redis.call('HMGET', HEADER, 'id', 'next', 'changes', 'mark'))
  if (its_id or NO_ID) ~= id then return nil, 'L' end
  local now = {next = tonumber(next_number or 0), changes = tonumber(its_changes or 0), mark = its_mark or ''}
  if not now.next or not now.changes or now.next < known then return nil, 'L' end
  if last > 0 then
    local block = read_block(last - 1)
    if block == '' then return nil, 'O' end
    local at = find_entry(block, (last - 1) % BLOCK)
    if not at or block:sub(at + 2, at + 5) ~= mark then return nil, 'L' end
  end
  if changes ~= ALL_CHANGES then
    if now.changes < changes then return nil, 'L' end
    if now.changes - changes > MOST_CHANGES then return nil, 'O' end
    if now.changes - changes > (most or MOST_NEWS) then return nil, 'B' end
  end
  return now
end

-- Return the entries of the numbers from `first` to `limit` - 1 as events: a sign, the number, the entry.
local function entries_from(first, limit)
  local events = {}
  for start = first - first % BLOCK, limit - 1, BLOCK do
    local block, at = read_block(start), 1
    while at <= #block do
      local number, last = start + block:byte(at), entry_end(block, at)
      if number >= first and number < limit then
        events[#events + 1] = struct.pack(EVENT, '+', number) .. block:sub(at, last)
      end
      at = last + 1
    end
  end
  return events
end

-- Add the changes after the first `known` ones to events.
local function add_changes(events, known, now)
  for change = known, known == ALL_CHANGES and 0 or now.changes - 1 do
    events[#events + 1] = redis.call('HGET', LOG, 'change ' .. decimal(change))
  end
  return events
end

-- Record that an entry below the latest number was added or removed.
local function log_change(events, now, event)
  redis.call('HSET', LOG, 'change ' .. decimal(now.changes), event)
  redis.call('HDEL', LOG, 'change ' .. decimal(now.changes - MOST_CHANGES))
  now.changes = now.changes + 1
  redis.call('HSET', HEADER, 'changes', decimal(now.changes))
  events[#events + 1] = event
end

-- Add the entry of a new original.
local function add_entry(events, now, number, entry)
  local hex = redis.sha1hex(now.mark .. decimal(number) .. entry.key .. entry.values)
  now.mark = struct.pack('>I4', tonumber(hex:sub(1, 8), 16))
  redis.call('HSET', HEADER, 'mark', now.mark)
  entry.digit, entry.mark, entry.copies = number % BLOCK, now.mark, {'', ''}
  local packed = packed_entry(entry)
  write_entry(number, packed)
  if number == now.next then
    events[#events + 1] = struct.pack(EVENT, '+', number) .. packed
  else
    log_change(events, now, struct.pack(EVENT, '*', number) .. packed)
  end
end

-- Remove the entry of an original. A block without originals is deleted, unless it is the latest one.
local function remove_entry(events, now, number)
  local entry = entry_of(number)
  if not entry or entry.key == '' then return end
  log_change(events, now, struct.pack(EVENT, '-', number) .. packed_entry(entry))
  entry.found_by, entry.values, entry.key, entry.scope, entry.copies = 0, '', '', '', {'', ''}
  write_entry(number, packed_entry(entry))
  local block, at = read_block(number), 1
  while at <= #block do
    if block:byte(at + 6) > 0 then return end
    at = entry_end(block, at) + 1
  end
  if block_of(number) ~= block_of(now.next) then
    blocks[block_of(number)] = nil
    redis.call('HDEL', LOG, block_of(number))
  end
end

-- Return the field of the text of a page, nil if its hash is not known. Short pages are equal to short pages only.
local function text_of(row)
  return has(row.flags, HAS_HASH) and row.hash .. (has(row.flags, IS_SHORT) and 's' or 't') .. row.scope or nil
end

-- Return the original of the pages with a text, and the number of these pages.
local function read_text(text)
  local record = text and redis.call('HGET', TEXTS, text)
  if record and #record == TEXT_LENGTH then return struct.unpack(TEXT, record) end
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
local function remove_page(events, now, key, row)
  local text = text_of(row)
  if text then leave_text(text, row.original) end
  if row.original == row.number then remove_entry(events, now, row.number) end
  redis.call('HDEL', PAGES, key)
  redis.call('HDEL', NOTES, 'page ' .. key:sub(2))
end

-- Return the record of a run, nil if there is none or if a crawler with another token started it.
local function run_of(number, token)
  local record = redis.call('HGET', RUNS, decimal(number))
  return record and record:sub(1, #token) == token and record or nil
end

-- Every hash has a field with an empty name, so that the key exists without other fields.
local function size()
  return math.max(redis.call('HLEN', PAGES) - 1, 0)
end

-- Return the head of a reply.
local function head(sign, now)
  return struct.pack('>c1I8I8I4', sign, size(), now.next, now.changes)
end
