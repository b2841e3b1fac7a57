-- touch: store the times of pages that were not read. Arguments: the kind of Touch, then pairs of key and seconds.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
local touch = ARGV[2]
for i = 3, #ARGV, 2 do
  local row, seconds = read_row(redis.call('HGET', PAGES, ARGV[i])), tonumber(ARGV[i + 1])
  if row then
    if touch == 'gone' then
      row.last_visit = math.max(seconds, row.last_seen + 1)
    else
      row.last_seen = seconds
    end
    if touch == 'visited' then
      row.last_visit, row.visits = seconds, row.visits + 1
    end
    write_row(ARGV[i], row)
  end
end
return 'S'
