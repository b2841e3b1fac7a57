-- get: return the records of pages, each with the URL of its original if that is another page and exists.
local found = {}
for _, key in ipairs(ARGV) do
  local record = redis.call('HGET', PAGES, key) or ''
  local row = read_row(record)
  local original = row and row.original ~= row.number and original_row(row.original)
  found[#found + 1] = record
  found[#found + 1] = original and original.url or ''
end
return found
