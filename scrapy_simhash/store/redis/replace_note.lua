-- replace_note: replace the version of a note that the caller has read, or any version if `former` is empty.
local id, name, former, version, data = unpack(ARGV)
if redis.call('HGET', HEADER, 'id') ~= id then return 'L' end
local kept = redis.call('HGET', NOTES, name)
local stored_version = kept and kept:sub(1, #version) or ('\0'):rep(#version)
if former ~= '' and stored_version ~= former then return 'C' end
redis.call('HSET', NOTES, name, version .. data)
return 'S'
