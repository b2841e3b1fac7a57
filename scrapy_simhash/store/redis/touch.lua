-- touch: store the times of pages that were not read. Arguments: the kind of Touch, then pairs of key and seconds.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
local touch = ARGV[2]
for i = 3, #ARGV, 2 do
  local row, seconds = read_row(redis.call('HGET', PAGES, ARGV[i])), tonumber(ARGV[i + 1])
  if row then
    if touch == 'gone' then
      row[LAST_VISIT] = math.max(seconds, row[LAST_SEEN] + 1)
    else
      row[LAST_SEEN] = seconds
    end
    if touch == 'visited' then
      row[LAST_VISIT], row[VISITS] = seconds, row[VISITS] + 1
    end
    update_row(ARGV[i], row)
  end
end
return 'S'
