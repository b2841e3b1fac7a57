-- keep_answers: keep what crawls make of the latest answers of pages that are there, and the time of these visits.
local id, expiry = struct.unpack('>c8I4', ARGV[1])
-- The time of a page: the bytes of its record up to it, and with it.
local BEFORE_TIME, TIME_END = 37, 45

-- In a store that is not there any more it would be a key without a header.
if redis.call('HGET', HEADER, 'id') ~= id then return 0 end
for i = 2, #ARGV, 3 do
  local key, time, answer = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local page = redis.call('HGET', PAGES, key)
  if page and url_begin(page) then
    redis.call('HSET', PAGES, key, page:sub(1, BEFORE_TIME) .. time .. page:sub(TIME_END + 1))
    redis.call('HSET', ANSWERS, key, answer)
  end
end
if expiry > 0 and redis.call('TTL', ANSWERS) < 0 then expire(expiry) end
return 1
