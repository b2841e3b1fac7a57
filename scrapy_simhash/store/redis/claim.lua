-- claim: look up a page and store it, atomically. Everything is read before anything is written.
--
-- The caller has searched its replica of the log, which has all numbers below `known`, and sends the originals that
-- the page is a near-duplicate of, in order. If another original within reach was added meanwhile, nothing is stored;
-- the caller applies the new events and searches again. A claim that is sent again because its reply was lost gets
-- the same reply and is stored once: the row keeps the random number of its latest claim.
local id, known, last, mark, changes, run, token, reach, is_look, found_by, values =
  struct.unpack('>c8I8I8c4I4I4c8BBBc24', ARGV[1])
local page = {}
page.flags, page.claim, page.first_seen, page.last_seen, page.last_visit, page.visits, page.changes, page.delivered,
  page.value, page.hash, page.text_hash = struct.unpack('>BI4I4I4I4I4I4I4c8c8c8', ARGV[2])
local key, matches, others = ARGV[3], ARGV[7], ARGV[8]
page.scope, page.fingerprint, page.url = ARGV[4], ARGV[5], ARGV[6]

-- The first copies of a cluster are compared with pages that are not near its original.
local FIRST_COPIES = 2
local BY_TEXT, BY_OWN_PART, BY_SUBJECT = 1, 2, 4
local MINUS = 45
local band, shift = bit.band, bit.rshift
local is_short = has(page.flags, IS_SHORT)

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
    -- One half alone excludes most values.
    local left = reach - bits(bit.bxor(high, halves[1]))
    if left >= 0 and bits(bit.bxor(low, halves[2])) <= left then return true end
  end
  return false
end

local function is_near(event)
  local sign, found_by, key, its_scope = event:byte(1), event:byte(11), event:byte(16, 17)
  local values_end = 9 + ENTRY_HEAD + VALUE_BYTES[found_by + 1]
  for at = 10 + ENTRY_HEAD, sign ~= MINUS and values_end or 0, 8 do
    if is_within_reach(struct.unpack('>I4I4', event, at)) then
      return event:sub(values_end + key + 1, values_end + key + its_scope) == page.scope
    end
  end
  return false
end

-- Return the numbers in a string, 8 bytes each. The highest bit marks an original that the page contradicts.
local function numbers_in(packed)
  local numbers = {}
  for at = 1, #packed, 8 do
    local first = packed:byte(at)
    local number = struct.unpack('>I8', string.char(first % 128) .. packed:sub(at + 1, at + 7))
    numbers[#numbers + 1] = {number = number, contradicts = first >= 128}
  end
  return numbers
end

-- Return the original of the page: its own row, else an original that the page does not contradict, preferably that
-- of its cluster, else the first.
local function choose(found, own, cluster)
  local chosen, order = nil, 5
  for _, one in ipairs(found) do
    local its = one.number == own and 1 or one.contradicts and 4 or one.number == cluster and 2 or 3
    if its < order then chosen, order = one, its end
  end
  return chosen
end

-- Return the compared bytes of the first copies of `clusters`, each after its cluster and its length.
local function copies_of(clusters, own)
  local parts = {}
  for _, cluster in ipairs(clusters) do
    local entry = cluster.number ~= own and entry_of(cluster.number)
    for _, its_key in ipairs(entry and entry.copies or {}) do
      local copy = its_key ~= '' and its_key ~= key and read_row(redis.call('HGET', PAGES, its_key))
      -- The copy may have left the cluster, or returned later.
      if copy and copy.original == cluster.number and copy.rank > 0 and copy.rank <= FIRST_COPIES then
        parts[#parts + 1] = struct.pack('>I8I2', cluster.number, 8 + #copy.fingerprint) .. copy.value
          .. copy.fingerprint
      end
    end
  end
  return table.concat(parts)
end

-- --- Read.

local now, refusal = state(id, known, last, mark, changes)
if not now then return refusal end
if is_look == 0 and not run_of(run, token) then return 'L' end
if now.next - known > MOST_NEWS then return 'B' end
local record = redis.call('HGET', PAGES, key)
local row = read_row(record)
if record and not row then return 'D' end
local events = add_changes(entries_from(known, now.next), changes, now)
local is_stored = is_look == 0 and row and row.claim == page.claim and row.last_seen == page.last_seen
if not (is_short or is_stored) then
  for _, event in ipairs(events) do
    if is_near(event) then return head('R', now) .. table.concat(events) end
  end
end
local candidates = numbers_in(matches)
for _, one in ipairs(candidates) do
  local entry = not is_stored and entry_of(one.number)
  -- The original was removed meanwhile, as the events show.
  if entry and entry.key == '' then
    return #events > 0 and head('R', now) .. table.concat(events) or 'G' .. struct.pack('>I8', one.number)
  end
end

local own, cluster = row and row.number, row and row.original
local text = text_of(page)
local with_text, pages_with_text = read_text(text)
local original, original_key, chosen
if with_text and not (is_stored and (with_text ~= cluster or cluster == own or pages_with_text < 2)) then
  original, original_key = original_row(with_text)
  if original and original.scope == page.scope and has(original.flags, IS_SHORT) == is_short then
    chosen = {number = with_text, contradicts = false}
  end
end
local is_by_text = chosen ~= nil
if not chosen and is_stored then
  -- The decision of the first attempt: contradictions are not stored in rows.
  chosen = cluster ~= own and {number = cluster, contradicts = false} or choose(candidates, nil, nil)
  if chosen and cluster == own and not chosen.contradicts then chosen = nil end
elseif not chosen then
  chosen = choose(candidates, own, cluster)
end
if chosen and chosen.number ~= own then
  original, original_key = original_row(chosen.number)
  -- The row cannot be read, so no page is a near-duplicate of it.
  if not (original or is_stored) then return 'G' .. struct.pack('>I8', chosen.number) end
else
  original = nil
end
local keeps_row = chosen ~= nil and chosen.number == own
local joins = original and not chosen.contradicts
local number, rank = own or now.next, 0
if row and own == cluster and not (keeps_row or is_stored) then number = now.next end
local its_cluster = joins and chosen.number or number
if joins then rank = cluster == chosen.number and row.rank or original.joined + 1 end
local is_same_text = original and (is_short or has(page.flags, HAS_HASH) and has(original.flags, HAS_HASH)
  and original.hash == page.hash)
local copies = is_by_text and '' or copies_of(numbers_in(others), own)
local former = row and not (is_stored and row.visits == page.visits) and record:sub(1, ROW_HEAD) or ''

-- --- Write.

if is_look == 0 and not is_stored then
  local text_before = row and text_of(row)
  if page.delivered > 0 then page.delivered = run end
  if row and own == cluster and not keeps_row then remove_entry(events, now, own) end
  page.found_by, page.joined = 0, 0
  if not (keeps_row or joins) then
    page.found_by = is_short and 0 or found_by
    local its_values = ''
    for place, way in ipairs({BY_TEXT, BY_OWN_PART, BY_SUBJECT}) do
      if has(page.found_by, way) then its_values = its_values .. values:sub(8 * place - 7, 8 * place) end
    end
    add_entry(events, now, number, {found_by = page.found_by, values = its_values, key = key, scope = page.scope})
  end
  if number == now.next then
    now.next = now.next + 1
    redis.call('HSET', HEADER, 'next', decimal(now.next))
  end
  if joins and cluster ~= chosen.number then
    original.joined = rank
    write_row(original_key, original)
    if rank <= FIRST_COPIES then
      local entry = entry_of(chosen.number)
      entry.copies[rank] = key
      write_entry(chosen.number, packed_entry(entry))
    end
  end
  if row then
    local is_unchanged = has(row.flags, HAS_HASH) == has(page.flags, HAS_HASH) and row.hash == page.hash
      and (has(page.flags, HAS_HASH) or row.value == page.value)
    page.first_seen = math.min(page.first_seen, row.first_seen)
    page.last_visit = math.max(page.last_visit, row.last_visit)
    page.visits, page.changes = row.visits + page.visits, row.changes + page.changes + (is_unchanged and 0 or 1)
    -- A new text has not been delivered yet.
    if is_unchanged and page.delivered == 0 then page.delivered = row.delivered end
    if keeps_row then
      for _, name in ipairs({'found_by', 'value', 'fingerprint', 'joined', 'scope'}) do page[name] = row[name] end
    end
  end
  page.number, page.original, page.rank = number, its_cluster, rank
  write_row(key, page)
  local text_now = text_of(page)
  if text_now ~= text_before or cluster ~= its_cluster then
    if text_now then take_text(text_now, its_cluster) end
    if text_before then leave_text(text_before, cluster) end
  end
end

local flags = (original and 1 or 0) + (joins and 0 or 2) + (is_same_text and 4 or 0) + (is_by_text and 8 or 0)
original_key = original and original_key or ''
local url = original and original.url or ''
return head('S', now) .. struct.pack('>I8I8BI4BBI4I4', number, chosen and chosen.number or number, flags, rank, #former,
  #original_key, #url, #copies) .. former .. original_key .. url .. copies .. table.concat(events)
