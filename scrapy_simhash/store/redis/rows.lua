-- rows: return key and record of the originals with the given numbers, empty for missing ones.
local found = {}
for _, number in ipairs(ARGV) do
  local entry = entry_of(tonumber(number))
  local key = entry and entry.key or ''
  found[#found + 1] = key
  found[#found + 1] = key ~= '' and redis.call('HGET', PAGES, key) or ''
end
return found
