-- deliver: record that items of pages were delivered in this run. Arguments: pairs of a key and the hash of the page.
-- A page with another hash is skipped.
local id, run, token = struct.unpack('>c8I4c8', ARGV[1])
if redis.call('HGET', HEADER, 'id') ~= id or not run_of(run, token) then return 'L' end
for i = 2, #ARGV, 2 do
  local row = read_row(redis.call('HGET', PAGES, ARGV[i]))
  local its_hash = row and string.char(has(row.flags, HAS_HASH) and 1 or 0) .. row.hash
  if row and row.delivered ~= run and its_hash == ARGV[i + 1] then
    row.delivered = run
    write_row(ARGV[i], row)
  end
end
return 'S'
