-- unsettle: note that this run does not settle some pages. Those that another run has delivered are left alone.
local id, run, token = struct.unpack('>c8I4c8', ARGV[1])

if redis.call('HGET', HEADER, 'id') ~= id or not run_of(field(run), token) then return 'L' end
for i = 2, #ARGV do
  local record = redis.call('HGET', PAGES, ARGV[i])
  -- A damaged one is never settled: no claim reads it.
  local page = record and read_page(record)
  if page and page.run == run then
    page.run = 0
    write_page(ARGV[i], page)
  end
end
return 'S'
