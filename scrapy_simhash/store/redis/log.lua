-- log: return the next part of the log, for a replica that is being filled or is behind.
local id, known, first, second, mark, trims, most = struct.unpack('>c8I8I8I4c4I4I4', ARGV[1])
local now, refusal = state(id, known, first, second, mark, trims)
if not now then return refusal end
local events = events_after(first, second, most)
return head(#events < most and 'S' or 'B', now) .. packed(events)
