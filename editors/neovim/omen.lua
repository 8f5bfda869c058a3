-- Configuration of OMEN's language server for Neovim 0.11 and later: copy this file to `lsp/omen.lua` in a folder of 'runtimepath',
-- such as ~/.config/nvim, and call `vim.lsp.enable('omen')` in init.lua.
return {
  cmd = { 'omen', 'lsp' },
  filetypes = { 'jsonl', 'json', 'toml', 'omen-log' },
  -- Of TOML files, only the two configurations. The server ignores JSON files that are not logs of packets.
  root_dir = function(buffer, on_dir)
    local path = vim.api.nvim_buf_get_name(buffer)
    local name = vim.fs.basename(path)
    if vim.bo[buffer].filetype ~= 'toml' or name == 'omen.toml' or name == 'gate.toml' then
      on_dir(vim.fs.root(buffer, { 'omen.toml', 'gate.toml', '.git' }) or vim.fs.dirname(path))
    end
  end,
}
