import json

PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
TOOL = {"name": "save_file", "description": "Saves a text file", "parameters": PARAMETERS}
tools = [{"type": "function", "function": TOOL}]
messages = [{"role": "user", "content": os.environ["PROMPT"]}]
if "settings" in globals():
    import litellm

    complete = lambda: litellm.completion(messages=messages, tools=tools, **settings)
else:
    complete = lambda: client.chat.completions.create(model=model, messages=messages, tools=tools)
for _ in range(9):
    message = complete().choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        print(message.content)
        break
    for call in message.tool_calls:
        values = json.loads(call.function.arguments)
        open(values["path"], "w").write(values["content"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "saved"})
