-- load_site: the profile of a host after its version; nothing at all if there is none, an empty string if the caller
-- knows that version.
local host, known = unpack(ARGV)
local kept = redis.call('HGET', SITES, host)
if kept and kept:sub(1, VERSION_END) == known then return '' end
return kept
