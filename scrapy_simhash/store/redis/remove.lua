-- remove: forget a page. The contents that came from it stay as records, for the pages that repeat them, but are not
-- found any more.
local id, known, mark, most = struct.unpack('>c8I8c4I4', ARGV[1])
local key = ARGV[2]

local events, last = news(id, known, mark, most + 1)
if not events then return 'L' end
if #events > most then return 'B' end
local record = redis.call('HGET', PAGES, key)
if record then
  local page = read_page(record)
  if not page then return 'D' end
  local its_content = read_content(redis.call('HGET', CONTENTS, field(page.content)))
  local text = its_content and text_of(page.flags, page.stamp, its_content.scope, has(its_content.flags, IS_SHORT))
  if text then leave_text(text, page.content) end
  remove_contents(page, events, last)
  redis.call('HDEL', PAGES, key)
  redis.call('HDEL', ANSWERS, key)
end
return struct.pack('>c1I8B', 'S', redis.call('HLEN', PAGES), record and 1 or 0) .. packed(events)
