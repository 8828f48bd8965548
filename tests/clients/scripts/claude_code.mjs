// Claude Code, which needs no model to connect: over HTTP, and to a server that it starts itself.
import { execFileSync } from "node:child_process";

const claude = (...words) =>
  execFileSync("node_modules/.bin/claude", ["mcp", ...words], { encoding: "utf8", env: { ...process.env, HOME: process.cwd() } });
claude("add", "--transport", "http", "leased", process.env.MCP_URL, "--header", `Authorization: Bearer ${process.env.TOKEN}`);
claude("add", "own", "--", process.env.FARM, "serve", "library_loans");
console.log(claude("list"));
