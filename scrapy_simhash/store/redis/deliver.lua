-- deliver: store that items of some pages were delivered in this run.
local id, run, token = struct.unpack('>c8I4c8', ARGV[1])

if redis.call('HGET', HEADER, 'id') ~= id or not run_of(field(run), token) then return 'L' end
-- Return whether a page has the text with this hash now; that of a short page is its value.
local function has_text(page, its_hash)
  local is_known = has(page.flags, HAS_TEXT_HASH)
  if its_hash:byte() == 0 then return not is_known end
  return its_hash:sub(2) == (is_known and page.stamp:sub(TEXT_HASH_BEGIN) or page.stamp:sub(1, VALUE_END))
end

for i = 2, #ARGV, 2 do
  local record = redis.call('HGET', PAGES, ARGV[i])
  local page = record and read_page(record)
  if page and page.delivered ~= run and has_text(page, ARGV[i + 1]) then
    page.delivered = run
    write_page(ARGV[i], page)
  end
end
return 'S'
