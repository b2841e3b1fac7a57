-- get: what is known about a page: its record, that of its content, the record of the page that it repeats if that is
-- there, and that of the run in which its text came.
local page = redis.call('HGET', PAGES, ARGV[1])
if not page then return {} end
-- Who asks says what of it is damaged.
if not url_begin(page) then return {page, '', '', ''} end
local _, number, _, run = struct.unpack(PAGE, page)
local content = redis.call('HGET', CONTENTS, field(number)) or ''
if not is_content(content) then return {page, content, '', ''} end
local _, _, flags, _, length = struct.unpack(CONTENT, content)
local first = ''
if not has(flags, IS_REMOVED) then
  first = redis.call('HGET', PAGES, content:sub(CONTENT_HEAD + 1, CONTENT_HEAD + length)) or ''
end
return {page, content, first, redis.call('HGET', RUNS, field(run)) or ''}
