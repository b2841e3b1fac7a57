-- remove: remove a page, so that no other page becomes a near-duplicate of it.
local now, refusal = state(ARGV[1], 0, 0, 0, '', 0)
if not now then return refusal end
local record = redis.call('HGET', PAGES, ARGV[2])
local row = read_row(record)
if record and not row then return 'D' end
if row then remove_page(now, ARGV[2], row) end
return row and 'y' or 'n'
