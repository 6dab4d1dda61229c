--- Outline, symbols, search, diagnostics and a statusline part, read from the file that ckvd keeps true.
local reader = require("ckvd.reader")

local M = {}
local options = { ckvd = "ckvd", sqlite3 = "sqlite3", db = nil, poll_ms = 2000 }
local namespace = vim.api.nvim_create_namespace("ckvd")
local indexes = {} -- by database: root, revision, epoch, stamp, daemon (whether one answers), problem (its kind)
local timer

local OUTLINE = [[
SELECT name, kind, json_array_length(parents) AS depth, name_line AS line, name_column AS column
FROM symbols WHERE path = (SELECT path FROM files WHERE path_bytes = CAST(:path AS BLOB))
ORDER BY start_byte, end_byte DESC]]
local KNOWN = "SELECT 1 FROM files WHERE path_bytes = CAST(:path AS BLOB)"
local NAMED = [[
SELECT s.path, s.symbol, s.kind, s.name_line AS line, s.name_column AS column
FROM names_fts CROSS JOIN symbols AS s ON s.name = names_fts.name
WHERE names_fts MATCH :match ORDER BY length(s.name), s.path, s.start_byte LIMIT 200]]
local PREFIXED = [[
SELECT path, symbol, kind, name_line AS line, name_column AS column FROM symbols
WHERE name >= :text COLLATE NOCASE AND name < :text || char(0x10FFFF) COLLATE NOCASE
ORDER BY name COLLATE NOCASE LIMIT 200]]
-- Names are compared by their bytes: `path` is text, and shows what is not UTF-8 as \xNN.
local BYTES = "SELECT hex(path_bytes) AS hex FROM files WHERE path = :path"
-- Of the open files, those that changed after the revision that is known; all, where that cannot be told.
local CHANGED = [[
SELECT b.key + 1 AS at, f.path IS NULL AS absent, f.blob_oid AS oid, x.error_line AS line, x.reason, x.detail
FROM json_each(:paths) AS b LEFT JOIN files AS f ON f.path_bytes = CAST(b.value AS BLOB)
LEFT JOIN failures AS x ON x.path = f.path
WHERE (SELECT value FROM meta WHERE key = 'epoch') IS NOT :epoch
  OR (SELECT value FROM meta WHERE key = 'changes_since') > :revision
  OR f.path IS NULL OR f.path IN (SELECT path FROM changes WHERE revision > :revision)]]

local function say(message, level) vim.notify("ckvd: " .. message, level or vim.log.levels.WARN) end

--- The index of a buffer's tree, and the buffer's path in that tree (nil where it is no file of it).
local function locate(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  local file = name ~= "" and vim.bo[buf].buftype == "" and (vim.loop.fs_realpath(name) or name) or nil
  local folder = file and vim.fn.fnamemodify(file, ":h") or vim.loop.cwd()
  local root = folder
  repeat
    if vim.loop.fs_stat(folder .. "/.git") or vim.loop.fs_stat(folder .. "/.ckvd/index.db") then
      root = folder
      break
    end
    local below = folder
    folder = vim.fn.fnamemodify(folder, ":h")
  until folder == below
  local db = options.db or root .. "/.ckvd/index.db"
  indexes[db] = indexes[db] or { db = db, root = root, revision = -1 }
  return indexes[db], file and vim.startswith(file, root .. "/") and file:sub(#root + 2) or nil
end

--- Hands on the rows; what is wrong instead is kept for the statusline, and said where `loud`.
local function ask(index, sql, values, loud, done)
  reader.query(index.db, sql, values, function(err, rows, meta)
    index.problem = err and err.kind
    if not err then return done(rows, meta) end
    if loud then say(err.message) end
    vim.cmd("redrawstatus")
  end)
end

--- Opens a file by its exact name, which `:edit` cannot take where it holds a line's end.
local function open(file, row)
  local buf = vim.fn.bufadd(file)
  vim.bo[buf].buflisted = true
  vim.cmd("buffer " .. buf)
  local line = math.max(1, math.min(row.line, vim.api.nvim_buf_line_count(0)))
  vim.api.nvim_win_set_cursor(0, { line, row.column or 0 })
end

local function choose(index, rows, prompt)
  if #rows == 0 then return say("nothing was found", vim.log.levels.INFO) end
  local function shown(row)
    local path = row.path:gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end)
    return ("%s  %s  %s:%d"):format(row.symbol or "", row.kind, path, row.line)
  end
  vim.ui.select(rows, { prompt = prompt, kind = "ckvd", format_item = shown }, function(row)
    if not row then return end
    if not row.path:find("\\x", 1, true) then return open(index.root .. "/" .. row.path, row) end
    ask(index, BYTES, { path = row.path }, true, function(found)
      if #found == 0 then return say(row.path .. " is no longer in the index") end
      local exact = found[1].hex:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
      open(index.root .. "/" .. exact, row)
    end)
  end)
end

--- Calls `with` with `given`, or with what is typed when asked.
local function typed(given, prompt, with)
  local function some(text) if text and text ~= "" then with(text) end end
  if given and given ~= "" then return some(given) end
  vim.ui.input({ prompt = prompt }, some)
end

--- The symbols of this file, in the window's location list.
function M.outline()
  local buf, win = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local index, path = locate(buf)
  if not path then return say("this buffer is no file of the tree") end
  ask(index, OUTLINE, { path = path }, true, function(rows, meta)
    if #rows == 0 then
      return ask(index, KNOWN, { path = path }, true, function(found)
        say(path .. (#found == 0 and " is not in the index" or " has no symbols"))
      end)
    end
    local items = vim.tbl_map(function(row)
      local text = ("  "):rep(row.depth) .. row.name .. "  " .. row.kind
      return { bufnr = buf, lnum = row.line, col = row.column + 1, text = text }
    end, rows)
    local old = (vim.bo[buf].modified or vim.b[buf].ckvd_stale) and ", changed since" or ""
    local title = ("ckvd: %s at revision %d%s"):format(path, meta.revision, old)
    vim.fn.setloclist(win, {}, " ", { title = title, items = items })
    vim.api.nvim_win_call(win, function() vim.cmd("lopen") end)
  end)
end

--- Jumps to a symbol: words of three letters and more are sought anywhere in a name, less at its beginning.
function M.symbols(given)
  local index = locate(0)
  typed(given, "Symbol: ", function(text)
    local words = vim.tbl_filter(function(word) return vim.fn.strchars(word) >= 3 end, vim.split(text, "%s+"))
    local match = vim.tbl_map(function(word) return '"' .. word:gsub('"', '""') .. '"' end, words)
    local values = { match = table.concat(match, " "), text = text }
    ask(index, #match > 0 and NAMED or PREFIXED, values, true, function(rows)
      choose(index, rows, "Symbols like " .. text)
    end)
  end)
end

--- Jumps to a chunk that `ckvd search` finds.
function M.search(given)
  local index = locate(0)
  typed(given, "Search: ", function(text)
    if vim.fn.executable(options.ckvd) == 0 then
      return say(options.ckvd .. ' is not on PATH: require("ckvd").setup { ckvd = "/path/to/ckvd" }')
    end
    local command = { options.ckvd, "search", "--json", "--root", index.root, "--db", index.db, "--", text }
    reader.run(command, nil, function(code, out, said)
      if code ~= 0 then return say((vim.trim(said):gsub("^ckvd: ", ""))) end
      local rows = vim.json.decode(out, { luanil = { object = true } }).results
      for _, row in ipairs(rows) do row.line = row.start_line end
      choose(index, rows, "Found for " .. text)
    end)
  end)
end

--- Shows a file's failure, and whether the file on disk is still the one that was indexed (git's blob id).
local function show(index, buf, path, row)
  local line = math.max(0, math.min((row.line or 1), vim.api.nvim_buf_line_count(buf)) - 1)
  -- Where a place is known, `detail` begins with it; its column is in bytes, from 1.
  local column = (row.detail or ""):match("^line " .. (row.line or 0) .. ", column (%d+): ")
  local failure = { lnum = line, col = (column or 1) - 1, message = row.detail, source = "ckvd", severity = vim.diagnostic.severity.WARN }
  vim.diagnostic.set(namespace, buf, row.detail and { failure } or {})
  vim.b[buf].ckvd_stale, vim.b[buf].ckvd_absent = false, row.absent == 1
  if not row.oid or vim.fn.executable("git") == 0 then return end
  reader.run({ "git", "hash-object", "--no-filters", "--", path }, index.root, function(code, out)
    if not vim.api.nvim_buf_is_loaded(buf) then return end
    vim.b[buf].ckvd_stale = code == 0 and vim.trim(out) ~= row.oid
    vim.cmd("redrawstatus")
  end)
end

--- Asks for what changed in the open files of an index; with `all`, for all of them.
local function look(index, all)
  local bufs, paths = {}, {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local other, path = locate(buf)
    if vim.api.nvim_buf_is_loaded(buf) and other == index and path then
      table.insert(bufs, buf)
      table.insert(paths, path)
    end
  end
  local values = { paths = #paths > 0 and vim.json.encode(paths) or "[]", revision = index.revision }
  values.epoch = not all and index.epoch or nil
  ask(index, CHANGED, values, false, function(rows, meta)
    index.revision, index.epoch = meta.revision, meta.epoch
    for _, row in ipairs(rows) do
      if vim.api.nvim_buf_is_loaded(bufs[row.at]) then show(index, bufs[row.at], paths[row.at], row) end
    end
    vim.cmd("redrawstatus")
  end)
end

--- Tries the daemon's socket, by a descriptor of its folder: the path of a socket must be short.
local function hear(index)
  local folder = vim.loop.fs_open(vim.fn.fnamemodify(index.db, ":h"), "r", 0)
  if not folder then return end
  local pipe = vim.loop.new_pipe(false)
  local near = ("/proc/self/fd/%d/%s.sock"):format(folder, vim.fn.fnamemodify(index.db, ":t"))
  pipe:connect(near, function(err)
    index.daemon = err == nil
    pipe:close()
    vim.loop.fs_close(folder)
  end)
end

--- Looks whether the index of a buffer has changed since the last time; with `all`, in any case.
function M.refresh(buf, all)
  local index = locate(buf)
  vim.b[buf].ckvd_db = index.db
  hear(index)
  local stamp = vim.tbl_map(function(file)
    local s = vim.loop.fs_stat(file)
    return s and { s.ino, s.size, s.mtime.sec, s.mtime.nsec } or {}
  end, { index.db, index.db .. "-wal" })
  if all or not vim.deep_equal(stamp, index.stamp) then
    index.stamp = stamp
    look(index, all)
  end
  if timer then return end
  timer = vim.loop.new_timer()
  local function again() M.refresh(vim.api.nvim_get_current_buf()) end
  timer:start(options.poll_ms, options.poll_ms, vim.schedule_wrap(again))
end

--- `%{v:lua.require'ckvd'.statusline()}`: the revision, then what is not as it should be.
function M.statusline()
  local index = indexes[vim.b.ckvd_db]
  if not index or index.problem then return index and "ckvd " .. index.problem or "" end
  local file = vim.b.ckvd_absent and " not indexed" or vim.b.ckvd_stale and " stale" or ""
  return ("ckvd r%d%s%s"):format(index.revision, index.daemon and "" or " stopped", file)
end

function M.setup(given)
  options = vim.tbl_extend("force", options, given or {})
  reader.sqlite3 = options.sqlite3
end

return M
