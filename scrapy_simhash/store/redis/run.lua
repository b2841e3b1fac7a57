-- run: note that a run has ended in order, or goes on, by the server's own clock; unless it is another's by now.
local run, token, ended, reason, expiry = unpack(ARGV)
local record = run_of(run, token)
if not record then return 0 end
local _, started, former_end = struct.unpack(RUN, record)
if ended then
  redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
  if tonumber(expiry) > 0 then expire(tonumber(expiry)) end
elseif former_end < 0 then
  redis.call('HSET', RUNS, run, with_heartbeat(record))
end
return 1
