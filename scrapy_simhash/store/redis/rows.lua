-- rows: return key and record of the originals with the given numbers, empty for missing ones.
local found = {}
for _, number in ipairs(ARGV) do
  local key, record = original_of(tonumber(number))
  found[#found + 1] = key or ''
  found[#found + 1] = record or ''
end
return found
