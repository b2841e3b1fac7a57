-- get: return the records of pages, each with the record of its original if that is a different page and exists.
local found = {}
for _, key in ipairs(ARGV) do
  local record, original = redis.call('HGET', PAGES, key) or '', nil
  local row = read_row(record)
  if row and row[ORIGINAL] ~= row[NUMBER] then _, original = original_of(row[ORIGINAL]) end
  found[#found + 1] = record
  found[#found + 1] = original or ''
end
return found
