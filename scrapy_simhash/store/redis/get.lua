-- get: what is known about a page: its record, that of its content, and the record of the page that it repeats if that
-- is there.
local record = redis.call('HGET', PAGES, ARGV[1])
if not record then return {} end
-- Who asks says what of it is damaged.
local page = read_page(record)
if not page then return {record, '', ''} end
local its_record = redis.call('HGET', CONTENTS, field(page.content)) or ''
local content = read_content(its_record)
if not content then return {record, its_record, ''} end
local first = not has(content.flags, IS_REMOVED) and redis.call('HGET', PAGES, content.key) or ''
return {record, its_record, first}
