-- deliver: store that items of some pages were delivered in this run.
local id, run, token = struct.unpack('>c8I4c8', ARGV[1])

if redis.call('HGET', HEADER, 'id') ~= id or not run_of(field(run), token) then return 'L' end
for i = 2, #ARGV do
  local record = redis.call('HGET', PAGES, ARGV[i])
  local page = record and read_page(record)
  if page and page.delivered ~= run then
    page.delivered = run
    write_page(ARGV[i], page)
  end
end
return 'S'
