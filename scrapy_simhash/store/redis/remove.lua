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
  local own = page.own
  while own > 0 do
    local number = own - 1
    local content = read_content(redis.call('HGET', CONTENTS, field(number)))
    if not content or content.page ~= page.number then break end
    if not has(content.flags, IS_REMOVED) then content.flags = content.flags + IS_REMOVED end
    write_content(number, content)
    local value = content.stamp:sub(1, VALUE_END)
    if has(content.flags, IS_SHORT) then
      redis.call('HDEL', SHORT, value .. content.scope)
    else
      local part, subject = own_value(content.own_part), subject_value(content.sketch)
      local ways = BY_TEXT + (part ~= NO_VALUE and BY_OWN_PART or 0) + (subject ~= NO_VALUE and BY_SUBJECT or 0)
      log(events, last, '-', number, string.char(ways) .. value .. part .. subject, content.scope, '')
    end
    -- Contents that came before have lower numbers: a chain that is damaged ends here, too.
    own = content.before < own and content.before or 0
  end
  redis.call('HDEL', PAGES, key)
  redis.call('HDEL', ANSWERS, key)
end
return struct.pack('>c1I8B', 'S', redis.call('HLEN', PAGES), record and 1 or 0) .. packed(events)
