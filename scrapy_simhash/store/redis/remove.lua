-- remove: remove a page, so that no other page becomes a near-duplicate of it.
local id, known, last, mark, changes = struct.unpack('>c8I8I8c4I4', ARGV[1])
local now, refusal = state(id, known, last, mark, changes)
if not now then return refusal end
if now.next - known > MOST_NEWS then return 'B' end
local events = add_changes(entries_from(known, now.next), changes, now)
local record = redis.call('HGET', PAGES, ARGV[2])
if record then
  local row = read_row(record)
  if not row then return 'D' end
  remove_page(events, now, ARGV[2], row)
end
return head('S', now) .. (record and 'y' or 'n') .. table.concat(events)
