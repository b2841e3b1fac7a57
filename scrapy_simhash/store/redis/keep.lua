-- keep: scan the next pages, and remove those that were last seen before a given time; return the next cursor, 0 at
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
