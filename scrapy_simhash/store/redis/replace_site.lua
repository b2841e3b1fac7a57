-- replace_site: put the profile of a host in the place of the version that the caller has joined with it. When there
-- are too many hosts, the one goes that was written least recently.
local id, expiry, most = struct.unpack('>c8I4I4', ARGV[1])
local host, former, version, profile = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

-- In a store that is not there any more it would be a key without a header.
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
local kept = redis.call('HGET', SITES, host) or ''
if kept:sub(1, VERSION_END) ~= former then return 'C' end
local time = redis.call('TIME')
redis.call('ZADD', HOSTS, time[1] .. string.format('.%06d', time[2]), host)
redis.call('HSET', SITES, host, version .. profile)
while redis.call('ZCARD', HOSTS) > most do
  redis.call('HDEL', SITES, redis.call('ZPOPMIN', HOSTS)[1])
end
if expiry > 0 and redis.call('TTL', SITES) < 0 then expire(expiry) end
return 'S'
