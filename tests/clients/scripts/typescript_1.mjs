// The TypeScript SDK 1.x: the handshake era.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const transport = new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
});
const client = new Client({ name: "typescript-1", version: "1" });
await client.connect(transport);
console.log((await client.listTools()).tools.length);
const found = await client.callTool({ name: "find_members", arguments: { name: "Ada" } });
console.log(found.content[0].text);
await client.close();
