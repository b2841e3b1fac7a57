-- The scripts other than claim.lua. A line of three hyphens and a name begins each script, see client.py.

--- open
-- Begin or continue a run in a store whose header the caller accepts; otherwise nothing is written.
local accepted, version, new_id, run, token, started, mode, is_reset, numbers = unpack(ARGV)
-- Max runs that are kept.
local MAX_RUNS = 1000

local stored_version, header, id = unpack(redis.call('HMGET', HEADER, 'version', 'header', 'id'))
if is_reset == '1' and id then
  redis.call('UNLINK', unpack(KEYS))
  id = nil
end
-- Fail now if the server is read-only, or if the user lacks the permission for a command that only some claims run.
local function try()
  redis.call('HDEL', HEADER, 'try')
  redis.call('HSET', HEADER, 'try', 0)
  redis.call('HDEL', HEADER, 'try')
  -- Also create the key: while a shard moves to another node, the server accepts commands only for existing keys.
  if mode == 'write' and redis.call('TYPE', LOG).ok == 'none' then
    redis.call('XADD', LOG, '0-1', 'e', '')
    redis.call('XDEL', LOG, '0-1')
  end
end

if not id then
  for _, key in ipairs(KEYS) do
    if redis.call('TYPE', key).ok ~= 'none' then return {'foreign', key} end
  end
  if mode ~= 'read' then try() end
  if mode ~= 'write' then return {'none'} end
  id = new_id
  redis.call('HSET', HEADER, 'version', version, 'header', accepted, 'id', id, 'next', numbers, 'runs', 0)
elseif stored_version ~= version or header ~= accepted then
  -- The caller compares the header, and calls again if it accepts it.
  return {'other', stored_version or '', header or ''}
end

if mode ~= 'read' then try() end
local next_number = tonumber(redis.call('HGET', HEADER, 'next') or '')
local is_behind = 0
if mode == 'write' then
  if next_number and next_number < tonumber(numbers) then
    -- Numbers are not reused.
    redis.call('HSET', HEADER, 'next', numbers)
    next_number, is_behind = tonumber(numbers), 1
  end
  for _, key in ipairs(KEYS) do
    if key ~= LOG then redis.call('HSET', key, '', '') end
  end
  if token ~= '' and not run_of(run, token) then
    run = decimal(tonumber(redis.call('HGET', HEADER, 'runs') or 0) + 1)
    redis.call('HSET', HEADER, 'runs', run)
    redis.call('HSET', RUNS, run, struct.pack(RUN, token, tonumber(started), NEVER))
    redis.call('HDEL', RUNS, decimal(tonumber(run) - MAX_RUNS))
  end
end
return {'open', id, run, size(), is_behind, next_number or 0}

--- read
-- Return the data that a claim depends on: the row of a page, the original of its text, and the originals with
-- the given numbers. Each original is returned as its key and its record, both empty if it is missing.
local found = claim_data(redis.call('HGET', PAGES, ARGV[1]), ARGV[2])
for i = 3, #ARGV do
  local key, record = original_of(tonumber(ARGV[i]))
  found[#found + 1] = key or ''
  found[#found + 1] = record or ''
end
return found

--- get
-- Return the records of pages, each with the record of its original if that is a different page and exists.
local found = {}
for _, key in ipairs(ARGV) do
  local record, original = redis.call('HGET', PAGES, key) or '', nil
  local row = read_row(record)
  if row and row[ORIGINAL] ~= row[NUMBER] then _, original = original_of(row[ORIGINAL]) end
  found[#found + 1] = record
  found[#found + 1] = original or ''
end
return found

--- log
-- Return the next part of the log, for a replica that is being filled or is behind.
local id, known, first, second, mark, trims, most = struct.unpack('>c8I8I8I4c4I4I4', ARGV[1])
local now, refusal = state(id, known, first, second, mark, trims)
if not now then return refusal end
local events = events_after(first, second, most)
return head(#events < most and 'S' or 'B', now) .. packed(events)

--- deliver
-- Record that items of pages were delivered in this run. Arguments: pairs of a key and the hash of the page.
-- A page with a different hash is skipped.
local id, run = struct.unpack('>c8I4', ARGV[1])
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
for i = 2, #ARGV, 2 do
  local row = read_row(redis.call('HGET', PAGES, ARGV[i]))
  if row and row[DELIVERED] ~= run and (text_of(row) or ''):sub(2, 9) == ARGV[i + 1] then
    row[DELIVERED] = run
    update_row(ARGV[i], row)
  end
end
return 'S'

--- touch
-- Store the times of pages that were not read. Arguments: the kind of Touch, then pairs of key and seconds.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
local touch = ARGV[2]
for i = 3, #ARGV, 2 do
  local row, seconds = read_row(redis.call('HGET', PAGES, ARGV[i])), tonumber(ARGV[i + 1])
  if row then
    if touch == 'gone' then
      row[LAST_VISIT] = math.max(seconds, row[LAST_SEEN] + 1)
    else
      row[LAST_SEEN] = seconds
    end
    if touch == 'visited' then
      row[LAST_VISIT], row[VISITS] = seconds, row[VISITS] + 1
    end
    update_row(ARGV[i], row)
  end
end
return 'S'

--- replace_note
-- Replace the version of a note that the caller has read, or any version if `former` is empty.
local id, name, former, version, data = unpack(ARGV)
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
local kept = redis.call('HGET', NOTES, name)
local stored_version = kept and kept:sub(1, #version) or ('\0'):rep(#version)
if former ~= '' and stored_version ~= former then return 'C' end
redis.call('HSET', NOTES, name, version .. data)
return 'S'

--- remove
-- Remove a page, so that no other page becomes a near-duplicate of it.
local now, refusal = state(ARGV[1], 0, 0, 0, '', 0)
if not now then return refusal end
local record = redis.call('HGET', PAGES, ARGV[2])
local row = read_row(record)
if record and not row then return 'D' end
if row then remove_page(now, ARGV[2], row) end
return row and 'y' or 'n'

--- keep
-- Scan the next pages, and remove those that were last seen before a given time; return the next cursor, 0 at
-- the end, and the number of removed pages.
local cursor, moment, most = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local now = state(redis.call('HGET', HEADER, 'id'), 0, 0, 0, '', 0)
local scanned, removed = redis.call('HSCAN', PAGES, cursor, 'COUNT', most), 0
for i = 1, #scanned[2], 2 do
  local row = read_row(scanned[2][i + 1])
  if row and row[LAST_SEEN] < moment then
    remove_page(now, scanned[2][i], row)
    removed = removed + 1
  end
end
return {scanned[1], removed}

--- trim
-- Delete events of originals that were removed, so that the log does not grow forever. Callers that have read a
-- part of the log read it again. Arguments: the store, and ids of events.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
redis.call('XDEL', LOG, unpack(ARGV, 2))
redis.call('HSET', HEADER, 'trims', decimal(tonumber(redis.call('HGET', HEADER, 'trims') or 0) + 1))
return 'S'

--- end
-- Store the end and the reason of a run, unless another crawler now has the number of the run.
local run, token, ended, reason = unpack(ARGV)
local record = run_of(run, token)
if not record then return 'L' end
local _, started = struct.unpack(RUN, record)
redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
return 'S'
