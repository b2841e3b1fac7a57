-- end: store end and reason of a run, unless another crawler has its number now.
local run, token, ended, reason = unpack(ARGV)
local record = run_of(run, token)
if not record then return 'L' end
local _, started = struct.unpack(RUN, record)
redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
return 'S'
