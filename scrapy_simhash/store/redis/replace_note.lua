-- replace_note: replace the version of a note that the caller has read. If there are too many notes about hosts, the
-- least recently written one is deleted. The fields `#1`, `#2` and so on contain the names in the order of writing.
local id, most, is_any = struct.unpack('>c8I4B', ARGV[1])
local name, former, version, data = unpack(ARGV, 2)
local ORDER_END = VERSION_END + 8

if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
local kept = redis.call('HGET', NOTES, name)
local its_version = kept and kept:sub(1, VERSION_END) or ('\0'):rep(VERSION_END)
if is_any == 0 and its_version ~= former then return 'C' end
local order = 0
if most > 0 then
  local oldest, latest, count = unpack(redis.call('HMGET', NOTES, '#oldest', '#latest', '#count'))
  oldest, order, count = tonumber(oldest or 1), tonumber(latest or 0) + 1, tonumber(count or 0) + (kept and 0 or 1)
  if kept then redis.call('HDEL', NOTES, '#' .. decimal(struct.unpack('>I8', kept, VERSION_END + 1))) end
  redis.call('HSET', NOTES, '#' .. decimal(order), name)
  while count > most do
    local its_name = redis.call('HGET', NOTES, '#' .. decimal(oldest))
    if its_name then
      redis.call('HDEL', NOTES, its_name, '#' .. decimal(oldest))
      count = count - 1
    end
    oldest = oldest + 1
  end
  redis.call('HSET', NOTES, '#oldest', decimal(oldest), '#latest', decimal(order), '#count', decimal(count))
end
redis.call('HSET', NOTES, name, version .. struct.pack('>I8', order) .. data)
return 'S'
