-- touch: keep the time of later visits, at which pages that are there had not changed.
if redis.call('HGET', HEADER, 'id') ~= ARGV[1] then return 0 end
for i = 2, #ARGV, 2 do
  local record = redis.call('HGET', PAGES, ARGV[i])
  local page = record and read_page(record)
  if page then
    page.stamp = page.stamp:sub(1, VALUE_END) .. ARGV[i + 1] .. page.stamp:sub(TEXT_HASH_BEGIN)
    write_page(ARGV[i], page)
  end
end
return 1
