-- end: store the end and the reason of a run, unless another crawler now has the number of the run.
local run, token, ended, reason = unpack(ARGV)
local record = run_of(run, token)
if not record then return 'L' end
local _, started = struct.unpack(RUN, record)
redis.call('HSET', RUNS, run, struct.pack(RUN, token, started, tonumber(ended)) .. reason)
return 'S'
