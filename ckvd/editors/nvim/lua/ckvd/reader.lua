--- Reads an index of ckvd through the `sqlite3` shell: read-only, one process a question, nothing blocks.
local M = { sqlite3 = "sqlite3", contract = 1 }

local APPLICATION = 0x636B7664
local GUARD = [[BEGIN;
SELECT (SELECT application_id FROM pragma_application_id) AS application,
  (SELECT user_version FROM pragma_user_version) AS version;
SELECT json_group_object(key, value) AS meta FROM meta WHERE key IN ('revision', 'epoch', 'last_sync');
]]

local function literal(value)
  if value == nil then return "NULL" end
  if type(value) == "number" then return ("%d"):format(value) end
  return "'" .. value:gsub("%z", ""):gsub("'", "''") .. "'"
end

--- JSON's null as nil; nothing printed is no rows.
local function decode(json)
  return vim.trim(json) == "" and {} or vim.json.decode(json, { luanil = { object = true } })
end

--- What went wrong: a kind, and one sentence with the remedy; nil if nothing did.
local function problem(db, code, said, guard)
  if guard and guard.application ~= APPLICATION then
    return "foreign", db .. " is not an index of ckvd: name the right one in setup { db = … }"
  elseif guard and guard.version > M.contract then
    local versions = ("contract %d, this plugin knows %d"):format(guard.version, M.contract)
    return "newer", ("%s was written by a newer ckvd (%s): update the plugin"):format(db, versions)
  elseif code == 0 then
    return nil
  elseif said:find("not a database") or said:find("malformed") or said:find("disk I/O") or said:find("%(11%)") then
    -- SQLITE_CORRUPT, 11, has other words where a full-text index cannot be opened.
    return "damaged", db .. " is damaged: run ckvd index, and it is mended or built anew"
  elseif said:find("unknown option") then
    return "sqlite3", M.sqlite3 .. " is too old: install the sqlite3 shell, 3.38 or later"
  end
  return "unreadable", ("%s cannot be read: %s"):format(db, vim.trim(said))
end

--- Runs `command` (a list: no shell takes part) and calls `done(code, stdout, stderr)` in the main loop.
function M.run(command, cwd, done)
  local out = { stdout = "", stderr = "" }
  local function keep(_, lines, stream) out[stream] = table.concat(lines, "\n") end
  local function ended(_, code)
    if vim.v.exiting == vim.NIL then done(code, out.stdout, out.stderr) end
  end
  local job = { cwd = cwd, stdout_buffered = true, stderr_buffered = true }
  vim.fn.jobstart(command, vim.tbl_extend("error", job, { on_stdout = keep, on_stderr = keep, on_exit = ended }))
end

--- Asks one SELECT with `:name` parameters and calls `done(err, rows, meta)`: `err` is nil or
--- `{ kind, message }`, `rows` are tables by column; all of it, `meta` too, is of one moment.
function M.query(db, sql, values, done)
  local function fail(kind, message) done({ kind = kind, message = message }) end
  local stat = vim.loop.fs_stat(db)
  if stat and stat.type ~= "file" then
    return fail("unreadable", db .. " is not a regular file: move it away, or name another in setup { db = … }")
  elseif not stat or stat.size == 0 then
    return fail("missing", ("there is no index at %s: make one with ckvd index, or ckvd run"):format(db))
  elseif vim.fn.executable(M.sqlite3) == 0 then
    return fail("sqlite3", M.sqlite3 .. " is not there: install the sqlite3 shell, 3.38 or later")
  end
  local quoted = db:gsub("[^%w/._~-]", function(c) return ("%%%02X"):format(c:byte()) end)
  local bound = sql:gsub(":(%a+)", function(name) return literal(values[name]) end)
  -- Neither the user's ~/.sqliterc nor what a foreign database brings may do anything here.
  local command = { M.sqlite3, "-batch", "-bail", "-readonly", "-safe", "-json", "-init", "/dev/null" }
  vim.list_extend(command, { "-cmd", ".timeout 5000", ("file:%s?mode=ro"):format(quoted), GUARD .. bound })
  M.run(command, nil, function(code, out, said)
    local guard, meta, rows = out:match("^([^\n]*)\n?([^\n]*)\n?(.*)$")
    local kind, message = problem(db, code, said, decode(guard)[1])
    if kind then return fail(kind, message) end
    done(nil, decode(rows), decode(decode(meta)[1].meta))
  end)
end

return M
