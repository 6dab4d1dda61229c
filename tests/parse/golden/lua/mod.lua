local M = {}
local util = require("util")
LIMIT = 3

-- Adds.
-- Twice.
function M.sub.add(a, b)
  local function inner() return a end
  return inner()
end

function M:method() end
local function helper() end
local bound = function() end
M.assigned = function(x) return x end
local t = { key = function() return 1 end, other = 2 }
local handlers = { user = { created = function(event) return event end } }

return M
