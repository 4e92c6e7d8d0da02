-- For avante.nvim. It gives an agent nothing but PATH and what `env` says: without HOME and the model's key, none would be found.
local environment = vim.fn.environ()
environment.PATH = nil

require("avante").setup({
  provider = "hermes",
  acp_providers = {
    hermes = { command = "hermes-acp", args = {}, env = environment },
  },
  -- Its own default says yes to every question in your place.
  behaviour = { auto_approve_tool_permissions = false },
})
