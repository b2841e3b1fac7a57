-- remove: forget a page. The contents that came from it stay as records, for the pages that repeat them, but are not
-- found any more.
local id, known, mark, most = struct.unpack('>c8I8c4I4', ARGV[1])
local key = ARGV[2]

local events, last = news(id, known, mark, most + 1)
if not events then return 'L' end
if #events > most then return 'B' end
local page = redis.call('HGET', PAGES, key)
if page then
  if not url_begin(page) then return 'D' end
  local number, _, own = struct.unpack(PAGE, page)
  while own > 0 do
    local content = own - 1
    local record = redis.call('HGET', CONTENTS, field(content))
    if not is_content(record) then break end
    local owner, before, flags, stamp, key_length, scope_length = struct.unpack(CONTENT, record)
    if owner ~= number then break end
    local scope = record:sub(CONTENT_HEAD + key_length + 1, CONTENT_HEAD + key_length + scope_length)
    local value = stamp:sub(1, VALUE_END)
    local after_scope = CONTENT_HEAD + key_length + scope_length + 1
    local own_begin = after_scope + (has(flags, HAS_SKETCH) and SKETCH or 0)
    local own_part = own_value(has(flags, HAS_OWN_PART) and record:sub(own_begin) or '')
    local subject = subject_value(has(flags, HAS_SKETCH) and record:sub(after_scope, own_begin - 1) or '')
    local values = string.char(BY_TEXT + (own_part ~= NO_VALUE and BY_OWN_PART or 0)
      + (subject ~= NO_VALUE and BY_SUBJECT or 0)) .. value .. own_part .. subject
    local its_flags = has(flags, IS_REMOVED) and flags or flags + IS_REMOVED
    local removed = struct.pack(CONTENT, owner, before, its_flags, stamp, key_length, scope_length)
    redis.call('HSET', CONTENTS, field(content), removed .. record:sub(CONTENT_HEAD + 1))
    if has(flags, IS_SHORT) then
      redis.call('HDEL', SHORT, value .. scope)
    else
      log(events, last, '-', content, values, scope, '')
    end
    -- Contents that came before have lower numbers: a chain that is damaged ends here, too.
    own = before < own and before or 0
  end
  redis.call('HDEL', PAGES, key)
  redis.call('HDEL', ANSWERS, key)
end
return struct.pack('>c1I8B', 'S', redis.call('HLEN', PAGES), page and 1 or 0) .. packed(events)
