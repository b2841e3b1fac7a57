-- run: note that a run has ended in order, or goes on, by the server's own clock; unless it is another's by now.
local run, token, ended, reason, expiry = unpack(ARGV)
local record = redis.call('HGET', RUNS, run)
if not is_run(record) or record:sub(1, #token) ~= token then return 0 end
if ended then
  local _, started = struct.unpack(RUN, record)
  redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
  if tonumber(expiry) > 0 then expire(tonumber(expiry)) end
elseif not has_ended(record) then
  redis.call('HSET', RUNS, run, with_heartbeat(record))
end
return 1
