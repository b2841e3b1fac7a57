-- open: begin or continue a run in a store whose header the caller accepts; otherwise nothing is written.
local accepted, version, new_id, run, token, started, mode, is_reset, numbers = unpack(ARGV)
-- Max runs that are kept.
local MAX_RUNS = 1000

local stored_version, header, id = unpack(redis.call('HMGET', HEADER, 'version', 'header', 'id'))
if is_reset == '1' and id then
  redis.call('UNLINK', unpack(KEYS))
  id = nil
end
-- Fail now if the server is read-only, or if the user lacks the permission for a command that only some claims run.
local function try()
  redis.call('HDEL', HEADER, 'try')
  redis.call('HSET', HEADER, 'try', 0)
  redis.call('HDEL', HEADER, 'try')
  -- Also create the key: while a shard moves to another node, the server accepts commands only for existing keys.
  if mode == 'write' and redis.call('TYPE', LOG).ok == 'none' then
    redis.call('XADD', LOG, '0-1', 'e', '')
    redis.call('XDEL', LOG, '0-1')
  end
end

if not id then
  for _, key in ipairs(KEYS) do
    if redis.call('TYPE', key).ok ~= 'none' then return {'foreign', key} end
  end
  if mode ~= 'read' then try() end
  if mode ~= 'write' then return {'none'} end
  id = new_id
  redis.call('HSET', HEADER, 'version', version, 'header', accepted, 'id', id, 'next', numbers, 'runs', 0)
elseif stored_version ~= version or header ~= accepted then
  -- The caller compares the header, and calls again if it accepts it.
  return {'other', stored_version or '', header or ''}
end

if mode ~= 'read' then try() end
local next_number = tonumber(redis.call('HGET', HEADER, 'next') or '')
local is_behind = 0
if mode == 'write' then
  if next_number and next_number < tonumber(numbers) then
    -- Numbers are not reused.
    redis.call('HSET', HEADER, 'next', numbers)
    next_number, is_behind = tonumber(numbers), 1
  end
  for _, key in ipairs(KEYS) do
    if key ~= LOG then redis.call('HSET', key, '', '') end
  end
  if token ~= '' and not run_of(run, token) then
    run = decimal(tonumber(redis.call('HGET', HEADER, 'runs') or 0) + 1)
    redis.call('HSET', HEADER, 'runs', run)
    redis.call('HSET', RUNS, run, struct.pack(RUN, token, tonumber(started), NEVER))
    redis.call('HDEL', RUNS, decimal(tonumber(run) - MAX_RUNS))
  end
end
return {'open', id, run, size(), is_behind, next_number or 0}
