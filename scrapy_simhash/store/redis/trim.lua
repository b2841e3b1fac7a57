-- trim: delete events of originals that were removed, so that the log does not grow forever. Callers that have read a
-- part of the log read it again. Arguments: the store, and ids of events.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 'L' end
redis.call('XDEL', LOG, unpack(ARGV, 2))
redis.call('HSET', HEADER, 'trims', decimal(tonumber(redis.call('HGET', HEADER, 'trims') or 0) + 1))
return 'S'
