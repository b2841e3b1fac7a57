-- elsewhere: return the URL that came first with a text, whatever its scope; keep this one if there is none.
local url, seconds = unpack(ARGV)
local kept = redis.call('GET', HEADER)
if kept or seconds == '0' then return kept end
redis.call('SET', HEADER, url, 'EX', seconds)
return false
