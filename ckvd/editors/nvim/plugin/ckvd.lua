if vim.g.loaded_ckvd or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_ckvd = true

local function command(name, method, options)
  vim.api.nvim_create_user_command(name, function(given)
    require("ckvd")[method](given.args)
  end, options)
end

command("CkvdOutline", "outline", { desc = "The symbols of this file, in the location list" })
command("CkvdSymbols", "symbols", { nargs = "*", desc = "Jump to a symbol by a part of its name" })
command("CkvdSearch", "search", { nargs = "*", desc = "Search by words and meaning" })

local group = vim.api.nvim_create_augroup("ckvd", {})
vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FocusGained" }, {
  group = group,
  callback = function(event)
    require("ckvd").refresh(event.buf, true)
  end,
})
