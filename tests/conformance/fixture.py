"""The server that the suite's tool, resource and prompt scenarios ask for, with the texts that they prescribe."""

import json
from typing import Any, TypeAlias

import mcp_types as mcp
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

Context: TypeAlias = ServerRequestContext[Any, Any]
Page: TypeAlias = mcp.PaginatedRequestParams | None

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="


def _text(text: str) -> mcp.TextContent:
    return mcp.TextContent(text=text)


def _embedded(uri: str, mime_type: str, text: str) -> mcp.EmbeddedResource:
    return mcp.EmbeddedResource(resource=mcp.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


IMAGE = mcp.ImageContent(data=PIXEL, mime_type="image/png")
ANSWERS: dict[str, list[mcp.ContentBlock]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [mcp.AudioContent(data=SILENCE, mime_type="audio/wav")],
    "test_embedded_resource": [
        _embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        _text("Multiple content types test:"),
        IMAGE,
        _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_streaming_elicitation": [_text("Nothing was asked.")],
    "test_logging_tool": [_text("Nothing was logged.")],
    "json_schema_2020_12_tool": [_text("The arguments were taken.")],
    "test_custom_header": [_text("The header was taken.")],
}
FAILING = "test_error_handling"
WITH_SAMPLING = "test_missing_capability"
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_custom_header": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
}
TOOLS = [
    mcp.Tool(name=name, description=f"The suite's {name}.", input_schema=SCHEMAS.get(name, NO_ARGUMENTS))
    for name in (*ANSWERS, FAILING, WITH_SAMPLING)
]

RESOURCES: dict[str, mcp.TextResourceContents | mcp.BlobResourceContents] = {
    "test://static-text": mcp.TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": mcp.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PIXEL),
}
TEMPLATE = mcp.ResourceTemplate(
    name="template", uri_template="test://template/{id}/data", description="One piece of data."
)

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
}


def fixture_server() -> Server[Any]:
    """A low-level server, for an `AgentDoor`."""
    return Server(
        "conformance-fixture",
        version="1.0.0",
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
        on_completion=_complete,
        get_tool_input_schema=SCHEMAS.get,
    )


async def _list_tools(_context: Context, _page: Page) -> mcp.ListToolsResult:
    return mcp.ListToolsResult(tools=TOOLS)


async def _call_tool(context: Context, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
    if params.name == FAILING:
        return mcp.CallToolResult(
            content=[_text("This tool intentionally returns an error for testing")], is_error=True
        )
    if params.name == WITH_SAMPLING:
        _require_sampling(context)
        return mcp.CallToolResult(content=[_text("The client can sample.")])
    if params.name not in ANSWERS:
        raise MCPError(mcp.INVALID_PARAMS, f"no tool named {params.name}")
    return mcp.CallToolResult(content=ANSWERS[params.name])


def _require_sampling(context: Context) -> None:
    wanted = mcp.ClientCapabilities(sampling=mcp.SamplingCapability())
    if not context.session.check_client_capability(wanted):
        missing = mcp.MissingRequiredClientCapabilityErrorData(required_capabilities=wanted)
        data = missing.model_dump(by_alias=True, mode="json", exclude_none=True)
        raise MCPError(mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs a client that can sample", data)


async def _list_resources(_context: Context, _page: Page) -> mcp.ListResourcesResult:
    resources = [
        mcp.Resource(name=uri.removeprefix("test://"), uri=uri, mime_type=contents.mime_type)
        for uri, contents in RESOURCES.items()
    ]
    return mcp.ListResourcesResult(resources=resources)


async def _list_templates(_context: Context, _page: Page) -> mcp.ListResourceTemplatesResult:
    return mcp.ListResourceTemplatesResult(resource_templates=[TEMPLATE])


async def _read_resource(_context: Context, params: mcp.ReadResourceRequestParams) -> mcp.ReadResourceResult:
    contents = RESOURCES.get(params.uri)
    match params.uri.split("/"):
        case ["test:", "", "template", which, "data"]:
            text = json.dumps({"id": which, "templateTest": True, "data": f"Data for ID: {which}"})
            contents = mcp.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
        case _:
            pass
    if contents is None:
        raise MCPError(mcp.INVALID_PARAMS, "Resource not found", {"uri": params.uri})
    return mcp.ReadResourceResult(contents=[contents])


async def _list_prompts(_context: Context, _page: Page) -> mcp.ListPromptsResult:
    prompts = [
        mcp.Prompt(
            name=name,
            description=f"The suite's {name}.",
            arguments=[mcp.PromptArgument(name=argument, required=True) for argument in arguments],
        )
        for name, arguments in PROMPTS.items()
    ]
    return mcp.ListPromptsResult(prompts=prompts)


async def _get_prompt(_context: Context, params: mcp.GetPromptRequestParams) -> mcp.GetPromptResult:
    given = params.arguments or {}
    if params.name not in PROMPTS or any(argument not in given for argument in PROMPTS[params.name]):
        raise MCPError(mcp.INVALID_PARAMS, f"no prompt named {params.name}, or an argument is missing")
    said = [mcp.PromptMessage(role="user", content=content) for content in _prompt(params.name, given)]
    return mcp.GetPromptResult(messages=said)


def _prompt(name: str, given: dict[str, str]) -> list[mcp.ContentBlock]:
    match name:
        case "test_prompt_with_arguments":
            return [_text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = _embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            return [resource, _text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            return [IMAGE, _text("Please analyze the image above.")]
        case _:
            return [_text("This is a simple prompt for testing.")]


async def _complete(_context: Context, _params: mcp.CompleteRequestParams) -> mcp.CompleteResult:
    return mcp.CompleteResult(completion=mcp.Completion(values=[], total=0, has_more=False))
