-- For avante.nvim.
require("avante").setup({
  provider = "hermes",
  acp_providers = {
    hermes = { command = "hermes-acp", args = {}, env = {} },
  },
})
