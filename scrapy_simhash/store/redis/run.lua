-- run: store when and why a run has ended, unless another crawler has its number by now.
local run, token, ended, reason, expiry = unpack(ARGV)
local record = run_of(run, token)
if not record then return 0 end
local _, started = struct.unpack(RUN, record)
redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
if tonumber(expiry) > 0 then expire(tonumber(expiry)) end
return 1
