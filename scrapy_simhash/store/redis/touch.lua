-- touch: store the times of later visits at which pages had not changed: a key, then seconds, again and again.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
for i = 2, #ARGV, 2 do
  local row = read_row(redis.call('HGET', PAGES, ARGV[i]))
  if row then
    row.last_seen, row.visits = tonumber(ARGV[i + 1]), row.visits + 1
    write_row(ARGV[i], row)
  end
end
return 'S'
