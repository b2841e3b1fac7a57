-- deliver: record that items of pages were delivered in this run. Arguments: pairs of a key and the hash of the page.
-- A page with a different hash is skipped.
local id, run = struct.unpack('>c8I4', ARGV[1])
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
for i = 2, #ARGV, 2 do
  local row = read_row(redis.call('HGET', PAGES, ARGV[i]))
  if row and row[DELIVERED] ~= run and (text_of(row) or ''):sub(2, 9) == ARGV[i + 1] then
    row[DELIVERED] = run
    update_row(ARGV[i], row)
  end
end
return 'S'
