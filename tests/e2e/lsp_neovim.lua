-- Drives a real Neovim: an unsaved change, choosing an action from its menu, answering the question, writing the file.
-- Environment: HERMES_ACP (the command), CLIENTS (folder of hermes_lsp.lua), REPORT (file for the results).
local seen = { questions = {}, progress = {} }

local function finish(failure)
  seen.failure = failure
  seen.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local report = assert(io.open(vim.env.REPORT, "w"))
  report:write(vim.json.encode(seen))
  report:close()
  vim.cmd("qall!")
end

local function wait_for(what, test)
  if not vim.wait(30000, test, 10) then
    finish("waited in vain for " .. what)
  end
end

package.path = vim.env.CLIENTS .. "/?.lua;" .. package.path
require("hermes_lsp").setup({ cmd = { vim.env.HERMES_ACP, "lsp" } })

vim.ui.select = function(items, options, on_choice)
  local titles = vim.tbl_map(options.format_item or tostring, items)
  table.insert(seen.questions, { prompt = options.prompt, titles = titles })
  for _, wanted in ipairs({ "Apply", "Hermes: Refactor" }) do
    for number, title in ipairs(titles) do
      if vim.startswith(title, wanted) then
        return on_choice(items[number], number)
      end
    end
  end
  on_choice(nil)
end
vim.api.nvim_create_autocmd("LspProgress", {
  callback = function(event)
    table.insert(seen.progress, event.data.params.value.kind)
  end,
})

vim.cmd("filetype on")
vim.cmd.edit("shape.py")
wait_for("the server", function()
  return #vim.lsp.get_clients({ bufnr = 0, name = "hermes" }) == 1
end)
local client = vim.lsp.get_clients({ bufnr = 0, name = "hermes" })[1]
wait_for("its greeting", function()
  return client.initialized
end)
vim.api.nvim_buf_set_lines(0, 0, 0, false, { "# not saved" })
local function is_changed()
  return vim.tbl_contains(vim.api.nvim_buf_get_lines(0, 0, -1, false), "    return w * h")
end
if vim.env.WAY == "menu" then
  vim.lsp.buf.code_action({ range = { start = { 2, 0 }, ["end"] = { 3, 16 } } })
else
  vim.cmd("2,3Hermes refactor multiply instead")
end
wait_for("the edit", is_changed)
wait_for("the end of progress", function()
  return seen.progress[#seen.progress] == "end"
end)
finish()
