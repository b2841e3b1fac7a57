-- log: return the next part of the log, for a replica that is being filled or is behind.
local id, known, last, mark, changes, most = struct.unpack('>c8I8I8c4I4I4', ARGV[1])
local now, refusal = state(id, known, last, mark, changes, most)
if not now then return refusal end
local limit = math.min(now.next, known + most)
local events = add_changes(entries_from(known, limit), changes, now)
-- The position after these events.
local size_now = size()
return struct.pack('>c1I8I8I4I8', 'S', size_now, limit, now.changes, now.next) .. table.concat(events)
