-- heartbeat: note that a run goes on, by the server's own clock, unless it has ended or is another's by now.
local run, token = unpack(ARGV)
local record = redis.call('HGET', RUNS, run)
if not is_run(record) or record:sub(1, #token) ~= token or has_ended(record) then return 0 end
redis.call('HSET', RUNS, run, with_heartbeat(record))
return 1
