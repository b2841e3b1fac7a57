-- events: the next part of the log, for a replica that is being made or has fallen behind.
local id, known, mark, most = struct.unpack('>c8I8c4I4', ARGV[1])
local events = news(id, known, mark, most)
if not events then return 'L' end
return struct.pack('>c1I8I8', 'S', redis.call('HLEN', PAGES), redis.call('LLEN', EVENTS)) .. packed(events)
