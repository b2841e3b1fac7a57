-- read: return the data that a claim depends on: the row of a page, the original of its text, and the originals with
-- the given numbers. Each original is returned as its key and its record, both empty if it is missing.
local found = claim_data(redis.call('HGET', PAGES, ARGV[1]), ARGV[2])
for i = 3, #ARGV do
  local key, record = original_of(tonumber(ARGV[i]))
  found[#found + 1] = key or ''
  found[#found + 1] = record or ''
end
return found
