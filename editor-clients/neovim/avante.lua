-- For avante.nvim. It passes only PATH and the variables in `env` to an agent, so HOME and the model's key must be listed.
local environment = vim.fn.environ()
environment.PATH = nil

require("avante").setup({
  provider = "hermes",
  acp_providers = {
    hermes = { command = "hermes-acp", args = {}, env = environment },
  },
  -- Its default approves every question for you.
  behaviour = { auto_approve_tool_permissions = false },
})
