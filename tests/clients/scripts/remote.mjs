// mcp-remote: a client of standard input and output, led to HTTP.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const server = [process.env.MCP_URL, "--header", `Authorization: Bearer ${process.env.TOKEN}`, "--allow-http"];
const transport = new StdioClientTransport({ command: "node_modules/.bin/mcp-remote", args: server });
const client = new Client({ name: "remote", version: "1" });
await client.connect(transport);
console.log((await client.listTools()).tools.length);
const found = await client.callTool({ name: "find_members", arguments: { name: "Ada" } });
console.log(found.content[0].text);
await client.close();
