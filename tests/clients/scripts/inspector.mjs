// The Inspector's command line.
import { spawnSync } from "node:child_process";

const call = ["--method", "tools/call", "--tool-name", "find_members", "--tool-arg", "name=Ada"];
const server = [process.env.MCP_URL, "--transport", "http", "--header", `Authorization: Bearer ${process.env.TOKEN}`];
const program = ["node_modules/.bin/mcp-inspector", "--cli", ...server, ...call];
const done = spawnSync(process.execPath, program, { encoding: "utf8", timeout: 60_000 });
console.log(done.stdout, done.stderr);
process.exitCode = done.status;
