-- For CodeCompanion.nvim. It extends the preset of another plain ACP agent and replaces the command.
require("codecompanion").setup({
  adapters = {
    acp = {
      hermes = function()
        return require("codecompanion.adapters").extend("goose", {
          name = "hermes",
          formatted_name = "Hermes",
          commands = { default = { "hermes-acp" } },
          defaults = { timeout = 20000 },
        })
      end,
    },
  },
  interactions = { chat = { adapter = "hermes" } },
})
