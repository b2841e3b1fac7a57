--- claim
-- Store a page as the caller has decided, atomically. Everything is read before anything is written.
--
-- The caller has searched its replica of the log up to a position, and has read the row of the page, the original of
-- its text and the original that it joins. If one of them has changed, or another original within reach was added or
-- removed in between, nothing is stored: the reply has the current data, and the caller decides again. A claim that
-- is sent again because its reply was lost gets the same reply and is stored once, since rows keep the version of
-- their claim.
local id, known, first, second, mark, trims, is_look, reach, keeps_row, joins, takes_number, found_by, values, version,
  former_version, with_text, chosen, chosen_version = struct.unpack('>c8I8I8I4c4I4BBBBBBc24I4I4I8I8I4', ARGV[1])
local key, scope, text, visit, rest, others = unpack(ARGV, 2)

local band, shift = bit.band, bit.rshift

-- Return the number of set bits of a 32-bit number: sums of 2, 4 and 8 bits, then the sum of the four bytes.
local function bits(number)
  number = number - band(shift(number, 1), 0x55555555)
  number = band(number, 0x33333333) + band(shift(number, 2), 0x33333333)
  return band(number + shift(number, 4), 0x0F0F0F0F) % 255
end

-- The 32-bit halves of the values to search for.
local wanted = {}
for at = 1, 17, 8 do
  local high, low = struct.unpack('>I4I4', values, at)
  if at == 1 or high + low > 0 then wanted[#wanted + 1] = {high, low} end
end

local function is_within_reach(high, low)
  for _, halves in ipairs(wanted) do
    -- The first half alone excludes most values.
    local left = reach - bits(bit.bxor(high, halves[1]))
    if left >= 0 and bits(bit.bxor(low, halves[2])) <= left then return true end
  end
  return false
end

local function is_near(event)
  local values_end = EVENT_HEAD + VALUE_BYTES[event:byte(FOUND_BY) + 1]
  if event:sub(values_end + 1, values_end + event:byte(SCOPE)) ~= scope then return false end
  for at = EVENT_HEAD + 1, values_end, 8 do
    if is_within_reach(struct.unpack('>I4I4', event, at)) then return true end
  end
  return false
end

-- Return the values by which the page is indexed.
local function indexed_values()
  local parts = {}
  for place, way in ipairs({1, 2, 4}) do
    if found_by % (2 * way) >= way then parts[#parts + 1] = values:sub(8 * place - 7, 8 * place) end
  end
  return table.concat(parts)
end

-- Return the records of the first copies of clusters, each after its cluster and its length.
local function copies_of(clusters)
  local parts = {}
  for at = 1, #clusters, 8 do
    local cluster = struct.unpack('>I8', clusters, at)
    local _, _, original = original_of(cluster)
    for _, copy_key in ipairs(original and original.copies or {}) do
      local record = copy_key ~= '' and copy_key ~= key and redis.call('HGET', PAGES, copy_key)
      local copy = read_row(record)
      -- The copy may have left the cluster, or returned later.
      if copy and copy[ORIGINAL] == cluster and copy[RANK] > 0 and copy[RANK] <= #original.copies then
        parts[#parts + 1] = struct.pack('>I8I4', cluster, #record) .. record
      end
    end
  end
  return table.concat(parts)
end

-- --- Read.

local now, refusal = state(id, known, first, second, mark, trims)
if not now then return refusal end
local events = events_after(first, second, MAX_NEWS + 1)
if #events > MAX_NEWS then return 'B' end
local record = redis.call('HGET', PAGES, key)
local row = read_row(record)
if record and not row then return 'D' end
local is_stored = row ~= nil and row[VERSION] == version
local number, rank = row and row[NUMBER], row and row[RANK]
local is_original = row ~= nil and row[ORIGINAL] == number
local copies = copies_of(others)
if not is_stored then
  local is_outdated = (row and row[VERSION] or 0) ~= former_version
  for _, event in ipairs(events) do
    -- No original is within reach of a short page.
    is_outdated = is_outdated or reach < 255 and is_near(event[2][2])
  end
  local data = claim_data(record, text)
  -- Numbers in arguments are incremented by 1, so that 0 means none.
  local original_key, original_record, original
  if chosen > 0 then original_key, original_record, original = original_of(chosen - 1) end
  if is_outdated or (tonumber(data[2]) or -1) + 1 ~= with_text
    or chosen > 0 and (not original or original[VERSION] ~= chosen_version) then
    return {head('R', now) .. packed(events), data[1], data[2], data[3], data[4], original_key or '',
      original_record or ''}
  end
  if takes_number == 1 then number = now.next end
  local is_there = joins == 1 and row and row[ORIGINAL] == chosen - 1
  if joins == 0 then rank = 0 elseif not is_there then rank = original[JOINED] + 1 end

  -- --- Write.

  if is_look == 0 then
    local new_original = joins == 1 and chosen - 1 or number
    local text_before = row and text_of(row)
    local new = {version, number, new_original, rank, 0, struct.unpack('>I4I4I4I4I4I4', visit)}
    new.copies, new.rest = {'', ''}, rest
    if keeps_row == 1 then new[JOINED], new.copies = row[JOINED], row.copies end
    if is_original and keeps_row == 0 then remove_original(now, row[NUMBER], struct.pack('>I4', version)) end
    if number == now.next then
      now.next = now.next + 1
      redis.call('HSET', HEADER, 'next', decimal(now.next))
    end
    if joins == 0 and keeps_row == 0 then
      redis.call('XADD', LOG, event_id(number + 1, 0), 'e',
        '+' .. struct.pack('>I4BB', version, found_by, #scope) .. indexed_values() .. scope .. key)
    end
    if joins == 1 and not is_there then
      original[JOINED] = rank
      if rank <= #original.copies then original.copies[rank] = key end
      write_row(original_key, original)
    end
    write_row(key, new)
    if (text ~= '' and text or nil) ~= text_before or new_original ~= (row and row[ORIGINAL]) then
      if text ~= '' then take_text(text, new_original) end
      if text_before then leave_text(text_before, row[ORIGINAL]) end
    end
    events = events_after(first, second, MAX_NEWS + 3)
  end
end
return head('S', now) .. struct.pack('>I8I4I4', number, rank, #copies) .. copies .. packed(events)
