-- open: begin a run, or continue it, in a store of the header that the caller accepts; else nothing is written.
local accepted, version, new_id, run, token, started, mode, is_reset, expiry, numbers = unpack(ARGV)

-- Fail if the server cannot be written to, or the user may not run a command that a claim runs after others.
local function try()
  if mode == 'read' then return end
  redis.call('HSET', HEADER, 'try', 0)
  redis.call('HINCRBY', HEADER, 'try', 1)
  -- It changes nothing: the header is no list.
  local refusal = redis.pcall('RPUSH', HEADER, '').err
  redis.call('HDEL', HEADER, 'try')
  if not refusal:find('WRONGTYPE') then return redis.error_reply('NOPERM the user may not run RPUSH, which stores need') end
end

local kinds = {[EVENTS] = 'list', [LATEST] = 'zset'}
local found
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' then
    found = found or key
    if kind ~= (kinds[key] or 'hash') then return {'foreign', key, kind} end
  end
end
if is_reset == '1' then
  redis.call('UNLINK', unpack(KEYS))
  found = nil
end

local its_version, header, id = unpack(redis.call('HMGET', HEADER, 'version', 'header', 'id'))
if not id then
  if found then return {'foreign', found, 'a key without a header'} end
  local refusal = try()
  if refusal then return refusal end
  if mode ~= 'write' then return {'none'} end
  id = new_id
  redis.call('HSET', HEADER, 'version', version, 'header', accepted, 'id', id,
    'pages', numbers, 'contents', 0, 'runs', 0)
elseif its_version ~= version or header ~= accepted then
  -- The caller compares, and asks again if it can work with that.
  return {'other', its_version or '', header or ''}
end

local refusal = try()
if refusal then return refusal end
local next_page = tonumber(redis.call('HGET', HEADER, 'pages') or '')
local is_behind = 0
if mode == 'write' then
  if next_page and next_page < tonumber(numbers) then
    -- No number is given twice.
    redis.call('HSET', HEADER, 'pages', numbers)
    next_page, is_behind = tonumber(numbers), 1
  end
  local record = run_of(run, token)
  if not record then
    run = field(redis.call('HINCRBY', HEADER, 'runs', 1))
    record = struct.pack(RUN, token, tonumber(started), NEVER)
  end
  -- Also when it is there: a server that cannot write says so here.
  redis.call('HSET', RUNS, run, record)
  expire(tonumber(expiry))
end
return {'open', id, run, redis.call('HLEN', PAGES), is_behind, next_page or 0}
