-- hermes-acp as a language server in Neovim 0.11 or newer: code actions, edits to approve, and the command :Hermes.
-- Put this file on the 'runtimepath' as lua/hermes_lsp.lua and call require("hermes_lsp").setup() in init.lua.
local M = {}

local ACTIONS = { "continue_writing", "explain", "fix", "refactor", "write_tests" }

-- Returns the location for a command: the lines of the range or, without a range, the cursor.
local function target(args, bufnr)
  local place
  if args.range > 0 then
    place = { start = { line = args.line1 - 1, character = 0 }, ["end"] = { line = args.line2, character = 0 } }
  else
    local at = vim.lsp.util.make_position_params(0, args.encoding).position
    place = { start = at, ["end"] = at }
  end
  local first, last = place.start.line, math.max(place["end"].line - 1, place.start.line)
  local found = vim.tbl_filter(function(each)
    return each.lnum <= last and (each.end_lnum or each.lnum) >= first
  end, vim.diagnostic.get(bufnr))
  return {
    uri = vim.uri_from_bufnr(bufnr),
    range = place,
    diagnostics = vim.tbl_map(function(each)
      local at = function(line, column)
        return { line = line, character = column }
      end
      return {
        range = { start = at(each.lnum, each.col), ["end"] = at(each.end_lnum or each.lnum, each.end_col or each.col) },
        severity = each.severity,
        source = each.source,
        message = each.message,
      }
    end, found),
    instruction = args.instruction,
  }
end

-- Runs an action: `:'<,'>Hermes refactor use a generator` changes the selected lines as the words after it say.
local function run(args)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = vim.lsp.get_clients({ bufnr = bufnr, name = "hermes" })[1]
  if not client then
    vim.notify("hermes-acp is not attached to this buffer.", vim.log.levels.ERROR)
    return
  end
  args.instruction = table.concat(vim.list_slice(args.fargs, 2), " ")
  args.encoding = client.offset_encoding
  local command = { title = "Hermes", command = "hermes." .. args.fargs[1], arguments = { target(args, bufnr) } }
  client:exec_cmd(command, { bufnr = bufnr }, function(err)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
    end
  end)
end

-- Starts the server for every file; `options` are `cmd` and the `settings` that docs/lsp.md lists.
function M.setup(options)
  options = options or {}
  vim.lsp.config("hermes", {
    cmd = options.cmd or { "hermes-acp", "lsp" },
    root_markers = options.root_markers or { ".git" },
    init_options = options.settings,
  })
  vim.lsp.enable("hermes")
  vim.api.nvim_create_user_command("Hermes", run, {
    nargs = "+",
    range = true,
    desc = "Have hermes-acp explain, fix, refactor, test or continue what is here",
    complete = function(typed)
      return vim.tbl_filter(function(name)
        return vim.startswith(name, typed)
      end, ACTIONS)
    end,
  })
end

return M
