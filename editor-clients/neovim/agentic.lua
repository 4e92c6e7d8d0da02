-- For agentic.nvim. It gives an agent nothing but PATH and what `env` says: without HOME and the model's key, none would be found.
local environment = vim.fn.environ()
environment.PATH = nil

require("agentic").setup({
  provider = "hermes",
  acp_providers = {
    hermes = { command = "hermes-acp", env = environment },
  },
})
