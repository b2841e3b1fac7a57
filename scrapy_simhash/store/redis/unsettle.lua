-- unsettle: note that this run does not settle some pages. Those that another run has delivered are left alone.
local id, run, token = struct.unpack('>c8I4c8', ARGV[1])
-- The run of a page: the bytes of its record up to it, and with it.
local BEFORE_RUN, RUN_END = 24, 28

local own_run = redis.call('HGET', RUNS, field(run))
if redis.call('HGET', HEADER, 'id') ~= id or not is_run(own_run) or own_run:sub(1, #token) ~= token then return 'L' end
for i = 2, #ARGV do
  local page = redis.call('HGET', PAGES, ARGV[i])
  -- A damaged one is never settled: no claim reads it.
  if page and url_begin(page) then
    local _, _, _, its_run = struct.unpack(PAGE, page)
    if its_run == run then
      redis.call('HSET', PAGES, ARGV[i], page:sub(1, BEFORE_RUN) .. ('\0'):rep(4) .. page:sub(RUN_END + 1))
    end
  end
end
return 'S'
