// The TypeScript SDK 2.x.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const transport = new StreamableHTTPClientTransport(new URL(process.env.MCP_URL), {
  requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
});
const client = new Client({ name: "typescript-2", version: "1" });
await client.connect(transport);
console.log((await client.listTools()).tools.length);
const found = await client.callTool({ name: "find_members", arguments: { name: "Ada" } });
console.log(found.content[0].text);
await client.close();
