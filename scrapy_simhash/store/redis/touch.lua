-- touch: keep the time of later visits, at which pages that are there had not changed.
local id = ARGV[1]
-- The time of a page: the bytes of its record up to it, and with it.
local BEFORE_TIME, TIME_END = 37, 45

if redis.call('HGET', HEADER, 'id') ~= id then return 0 end
for i = 2, #ARGV, 2 do
  local page = redis.call('HGET', PAGES, ARGV[i])
  if page and url_begin(page) then
    redis.call('HSET', PAGES, ARGV[i], page:sub(1, BEFORE_TIME) .. ARGV[i + 1] .. page:sub(TIME_END + 1))
  end
end
return 1
