-- replace_note: put a note in the place of the version that the caller has joined with it. Of notes about hosts the one
-- goes that was written least recently when there are too many.
local id, expiry, most, is_any = struct.unpack('>c8I4I4B', ARGV[1])
local notes, name, former, version, data = unpack(ARGV, 2)

-- In a store that is not there any more it would be a key without a header.
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
local kept = redis.call('HGET', notes, name)
if is_any == 0 and (kept and kept:sub(1, VERSION_END) or NO_VALUE) ~= former then return 'C' end
if most > 0 then
  local time = redis.call('TIME')
  redis.call('ZADD', LATEST, time[1] .. string.format('.%06d', time[2]), name)
end
redis.call('HSET', notes, name, version .. data)
while most > 0 and redis.call('ZCARD', LATEST) > most do
  redis.call('HDEL', notes, redis.call('ZPOPMIN', LATEST)[1])
end
if expiry > 0 and redis.call('TTL', notes) < 0 then expire(expiry) end
return 'S'
