-- For agentic.nvim. It passes only PATH and the variables in `env` to an agent, so HOME and the model's key must be listed.
local environment = vim.fn.environ()
environment.PATH = nil

require("agentic").setup({
  provider = "hermes",
  acp_providers = {
    hermes = { command = "hermes-acp", env = environment },
  },
})
