-- Adds hermes-acp to CodeCompanion.nvim, avante.nvim and agentic.nvim, whichever are installed, after your own settings.
-- `hermes-acp setup --editor neovim` writes this file as after/plugin/hermes-acp.lua. It sets up no plugin itself.
local command = "hermes-acp"

local function configured(name)
  local found, config = pcall(require, name)
  return found and type(config) == "table" and config or nil
end

-- avante.nvim and agentic.nvim pass only PATH and the variables in `env` to an agent.
local function environment()
  local variables = vim.fn.environ()
  variables.PATH = nil
  return variables
end

vim.api.nvim_create_autocmd("VimEnter", {
  once = true,
  callback = function()
    local codecompanion = configured("codecompanion.config")
    local adapters = codecompanion and codecompanion.adapters and codecompanion.adapters.acp
    if adapters and not adapters.hermes then
      adapters.hermes = function()
        return require("codecompanion.adapters").extend("goose", {
          name = "hermes",
          formatted_name = "Hermes",
          commands = { default = { command } },
          defaults = { timeout = 20000 },
        })
      end
    end
    for _, name in ipairs({ "avante.config", "agentic.config" }) do
      local config = configured(name)
      local providers = config and config.acp_providers
      if providers and not providers.hermes then
        providers.hermes = { command = command, args = {}, env = environment() }
      end
    end
  end,
})
